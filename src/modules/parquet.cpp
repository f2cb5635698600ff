// The module that reads Parquet, by Apache Arrow's C++: a shared object of its own, for Arrow takes 30 ms and 20 MB to load, and is opened
// with the first such file. Callers: io/parquet.cpp, through weft_parquet_module().
#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/c/bridge.h>
#include <arrow/chunked_array.h>
#include <arrow/io/file.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "weft/io/parquet_module.h"

namespace {

// They are the same by the interface's definition; here also for the compiler.
static_assert(sizeof(weft::io::ArrowSchema) == sizeof(::ArrowSchema));
static_assert(sizeof(weft::io::ArrowArray) == sizeof(::ArrowArray));

using File = parquet::arrow::FileReader;

/// Whatever happens in `call` is a text at the end.
template <class F>
bool attempt(char* why, std::size_t room, F call) {
    std::string said;
    try {
        arrow::Status status = call();
        if (status.ok()) return true;
        said = status.message();
    } catch (const std::exception& error) {
        said = error.what();
    } catch (...) {
        said = "an unknown error";
    }
    std::size_t length = std::min(said.size(), room - 1);
    std::memcpy(why, said.data(), length);
    why[length] = '\0';
    return false;
}

arrow::Status open(const char* path, weft::io::ArrowSchema* schema, std::unique_ptr<File>& file) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::io::RandomAccessFile> bytes, arrow::io::ReadableFile::Open(path));
    parquet::arrow::FileReaderBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Open(bytes));
    ARROW_RETURN_NOT_OK(builder.Build(&file));
    std::shared_ptr<arrow::Schema> columns;
    ARROW_RETURN_NOT_OK(file->GetSchema(&columns));
    return arrow::ExportSchema(*columns, reinterpret_cast<::ArrowSchema*>(schema));
}

arrow::Result<std::shared_ptr<arrow::Array>> joined(const arrow::ChunkedArray& chunks) {
    if (chunks.num_chunks() == 0) return arrow::MakeEmptyArray(chunks.type());
    if (chunks.num_chunks() == 1) return chunks.chunk(0);
    return arrow::Concatenate(chunks.chunks());
}

arrow::Status read(File& file, int group, int column, weft::io::ArrowSchema* schema, weft::io::ArrowArray* array) {
    std::shared_ptr<arrow::ChunkedArray> chunks;
    ARROW_RETURN_NOT_OK(file.RowGroup(group)->Column(column)->Read(&chunks));
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> whole, joined(*chunks));
    ARROW_RETURN_NOT_OK(whole->ValidateFull());  // what a damaged file says must not lead past its own buffers
    return arrow::ExportArray(*whole, reinterpret_cast<::ArrowArray*>(array), reinterpret_cast<::ArrowSchema*>(schema));
}

constexpr weft::io::ParquetModule functions = {
    .version = weft::io::parquet_module_version,
    .library = "Apache Arrow " ARROW_VERSION_STRING,
    .open = [](const char* path, weft::io::ArrowSchema* schema, std::int64_t* groups, char* why,
               std::size_t room) -> void* {
        std::unique_ptr<File> file;
        if (!attempt(why, room, [&] { return open(path, schema, file); })) return nullptr;
        *groups = file->num_row_groups();
        return file.release();
    },
    .close = [](void* file) { delete static_cast<File*>(file); },
    .rows = [](void* file, std::int64_t group) -> std::int64_t {
        std::int64_t rows = -1;
        char ignored[1];
        attempt(ignored, sizeof ignored, [&] {
            rows =
                static_cast<File*>(file)->parquet_reader()->metadata()->RowGroup(static_cast<int>(group))->num_rows();
            return arrow::Status::OK();
        });
        return rows;
    },
    .read =
        [](void* file, std::int64_t group, std::int64_t column, weft::io::ArrowSchema* schema,
           weft::io::ArrowArray* array, char* why, std::size_t room) {
            return attempt(why, room, [&] {
                return read(*static_cast<File*>(file), static_cast<int>(group), static_cast<int>(column), schema,
                            array);
            });
        },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const weft::io::ParquetModule* weft_parquet_module() {
    return &functions;
}
