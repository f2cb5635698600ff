// A table as a data set, whatever file it comes from: which columns are the target, or several, and which are inputs. Private.
// Callers: data/tables.cpp (csv), data/parquet.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "weft/data/files.h"

namespace weft::data {

/// Columns of a table, by their numbers.
using ColumnNumbers = std::vector<std::size_t>;

struct Table {
    std::string kind;  // for messages: csv
    std::filesystem::path path;
    std::vector<std::string> names = {};  // of the columns; empty if they have none
    std::size_t columns = 0;
    /// x of these columns, a row an example, all columns of an example side by side; `classes` of a single one that holds words.
    std::function<Dataset(const ColumnNumbers&)> input;
    /// The same in memory: x (n, numbers).
    std::function<Dataset(const ColumnNumbers&)> target;
};

/// ConfigError names a column that is none, FileError a label that is no class number.
Dataset of_table(const Table& table, const TableOptions& options);

}  // namespace weft::data
