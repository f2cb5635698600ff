// Parquet files: tables whose columns lie in groups of rows, read a column of a group at a time (Apache Arrow's C++, in a module of its
// own). Without the module every call is a FileError that says where it was looked for and a way out. Callers: data/, train/, cli/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/io/arrow_array.h"

namespace weft::io {

struct ParquetColumn {
    std::string name;
    ColumnKind kind;
};

/// Any thread may call it; calls wait for each other.
class ParquetFile {
  public:
    /// FileError if the file is damaged, or nothing that reads it is here.
    explicit ParquetFile(const std::filesystem::path& path);
    ~ParquetFile();
    ParquetFile(const ParquetFile&) = delete;
    ParquetFile& operator=(const ParquetFile&) = delete;

    const std::vector<ParquetColumn>& columns() const;
    /// The first row of each group, and the number of all rows.
    const std::vector<std::int64_t>& starts() const;
    std::int64_t groups() const { return static_cast<std::int64_t>(starts().size()) - 1; }
    std::int64_t rows() const { return starts().back(); }
    /// FileError if it is of a type that weft does not read.
    const ColumnKind& kind(std::size_t column) const;
    /// FileError names row and column: a cell without a value, a list of another length than `length` (-1: than the first).
    ColumnCells read(std::int64_t group, std::size_t column, std::int64_t length = -1) const;
    /// For messages: 'FILE', column 'NAME'.
    std::string place(std::size_t column) const;

  private:
    struct Opened;
    std::unique_ptr<Opened> opened_;
};

/// Why no Parquet file can be read here; "" if they can be.
std::string lacks_parquet(const std::filesystem::path& path);
/// "Apache Arrow 26.0.1". FileError if it is not here.
std::string parquet_library();

}  // namespace weft::io
