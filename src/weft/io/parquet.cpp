#include "weft/io/parquet.h"

#include <dlfcn.h>

#include <mutex>

#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/shared_library.h"
#include "weft/found.h"
#include "weft/io/file.h"
#include "weft/io/parquet_module.h"

namespace weft::io {
namespace {

constexpr const char* module_file = "libweft_parquet.so";

/// $WEFT_PARQUET alone if it is set; else beside this very code (the program, or libweft), in the folder lib there (the extension, for Python takes
/// what lies beside it for its own), where an installed program's libraries are, and where the system looks.
std::vector<std::string> module_places() {
    if (auto given = environment("WEFT_PARQUET")) return {*given};
    std::vector<std::string> places;
    std::error_code error;
    std::filesystem::path here;
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&module_places), &info) && info.dli_fname) here = info.dli_fname;
    // Of a program this is what it was called by, which may lack the folder.
    if (!here.has_parent_path() || !std::filesystem::exists(here, error))
        here = std::filesystem::read_symlink("/proc/self/exe", error);
    here = std::filesystem::absolute(here, error).parent_path();
    for (const char* folder : {".", "lib", WEFT_LIBRARIES_FROM_PROGRAMS})
        places.push_back((here / folder / module_file).lexically_normal().string());
    places.emplace_back(module_file);
    return places;
}

struct OpenedModule {
    OpenedModule() {
        if (!shared.open()) {
            why = shared.why();
        } else if (decltype(&weft_parquet_module) find = nullptr; !shared.find("weft_parquet_module", find)) {
            why = "it is no module of weft's";
        } else if (find()->version != parquet_module_version) {
            why = "it was built with another version of weft";
        } else {
            functions = find();
        }
    }
    const std::vector<std::string> names = module_places();
    SharedLibrary shared{names};
    const ParquetModule* functions = nullptr;
    std::string why;
};

const OpenedModule& opened_module() { return once_opened<OpenedModule>(); }

constexpr std::size_t room = 1000;

[[noreturn]] void damaged_parquet(const std::string& place, const char* why) {
    throw FileError(text(place, " is damaged, or of a kind that ", parquet_library(), " does not read: ", why));
}

}  // namespace

std::string lacks_parquet(const std::filesystem::path& path) {
    if (opened_module().functions) return "";
    std::string name = path.filename().string();
    return text("'", name, "' is a Parquet file, and ", module_file, ", which reads these, is not here (",
                opened_module().why,
                "). A build of weft makes it where it finds Apache Arrow (`pip install pyarrow` brings that), and "
                "$WEFT_PARQUET can name it; or write the table as text: pandas.read_parquet('",
                name, "').to_csv('table.csv', index=False)");
}

std::string parquet_library() {
    if (!opened_module().functions) throw FileError(opened_module().why);
    return opened_module().functions->library;
}

struct ParquetFile::Opened {
    ~Opened() {
        if (handle) opened_module().functions->close(handle);
    }
    std::string path;
    void* handle = nullptr;
    std::vector<ParquetColumn> columns;
    std::vector<std::int64_t> starts{0};
    std::mutex one;
};

ParquetFile::ParquetFile(const std::filesystem::path& path) : opened_(std::make_unique<Opened>()) {
    (void)InputFile(path);  // says what is wrong with a path that is no file
    if (std::string lacks = lacks_parquet(path); !lacks.empty()) throw FileError(lacks);
    const ParquetModule& module = *opened_module().functions;
    opened_->path = path.string();
    ArrowOwned<ArrowSchema> schema;
    std::int64_t groups = 0;
    char why[room] = "";
    opened_->handle = module.open(path.c_str(), &schema, &groups, why, room);
    if (!opened_->handle) damaged_parquet(text("'", path.string(), "'"), why);
    for (std::int64_t i = 0; i < schema.n_children; ++i) {
        const ArrowSchema& column = *schema.children[i];
        opened_->columns.push_back({column.name, kind_of(column)});
    }
    for (std::int64_t group = 0; group < groups; ++group) {
        std::int64_t rows = module.rows(opened_->handle, group), end = 0;
        if (rows < 0 || __builtin_add_overflow(opened_->starts.back(), rows, &end))
            damaged_parquet(text("'", path.string(), "'"), "a group has an impossible number of rows");
        opened_->starts.push_back(end);
    }
}
ParquetFile::~ParquetFile() = default;

const std::vector<ParquetColumn>& ParquetFile::columns() const { return opened_->columns; }
const std::vector<std::int64_t>& ParquetFile::starts() const { return opened_->starts; }

std::string ParquetFile::place(std::size_t column) const {
    return text("'", opened_->path, "', column '", columns()[column].name, "'");
}

const ColumnKind& ParquetFile::kind(std::size_t column) const {
    const ColumnKind& kind = columns()[column].kind;
    if (!kind.unread.empty())
        throw FileError(text(place(column), ": weft reads numbers, truth values, text and lists of these, not ",
                             kind.unread, "; leave it out (x: [...]), or write it as one of them"));
    return kind;
}

ColumnCells ParquetFile::read(std::int64_t group, std::size_t column, std::int64_t length) const {
    (void)kind(column);
    ArrowOwned<ArrowSchema> schema;
    ArrowOwned<ArrowArray> array;
    {
        std::lock_guard lock(opened_->one);
        char why[room] = "";
        if (!opened_module().functions->read(opened_->handle, group, static_cast<std::int64_t>(column), &schema, &array,
                                             why, room))
            damaged_parquet(place(column), why);
    }
    auto first = static_cast<std::size_t>(group);
    if (array.length != starts()[first + 1] - starts()[first] || !kind_of(schema).unread.empty())
        damaged_parquet(place(column), "its cells are not those that the file says");
    return cells_of(schema, array, place(column), starts()[first] + 1, length);
}

}  // namespace weft::io
