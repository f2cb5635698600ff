// What weft and the module that reads Parquet (libweft_parquet.so, src/modules/parquet.cpp) say to each other: functions of plain C, and
// columns as Arrow lays them out. No exception and nothing of Arrow's C++ crosses. Private. Callers: io/parquet.cpp, the module.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/io/arrow_array.h"

namespace weft::io {

struct ParquetModule {
    std::int64_t version;  // parquet_module_version of the weft that it was built with
    const char* library;   // "Apache Arrow 26.0.1"
    /// Null if it cannot be opened; `why` (of `room` bytes) then holds a text. The schema's children are the columns.
    void* (*open)(const char* path, ArrowSchema* schema, std::int64_t* groups, char* why, std::size_t room);
    void (*close)(void* file);
    /// -1 if the file does not say.
    std::int64_t (*rows)(void* file, std::int64_t group);
    /// A column's cells in a group of rows; false as above. One call at a time for a file.
    bool (*read)(void* file, std::int64_t group, std::int64_t column, ArrowSchema* schema, ArrowArray* array, char* why,
                 std::size_t room);
};
inline constexpr std::int64_t parquet_module_version = 1;

}  // namespace weft::io

/// The one name that the module has.
extern "C" const weft::io::ParquetModule* weft_parquet_module();
