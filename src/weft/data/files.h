// Data sets from a user's own files: arrays and tables. Callers: data/registry.cpp, users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/data/dataset.h"
#include "weft/io/csv.h"

namespace weft::data {

using NamedArrays = std::vector<std::pair<std::string, Array>>;
/// Arrays by the names of their fields; the first ones are x and y. Integers in targets are labels (int64); bytes in inputs are float32 in a
/// batch. ShapeError, naming `name`, unless all hold as many rows.
Dataset of_arrays(const NamedArrays& inputs, const NamedArrays& targets, const std::string& name);

/// x and y from a file each. Integers in y are labels (int64); bytes in x are float32 in a batch.
/// `stream`: rows of x are read when a batch wants them, and not kept.
Dataset npy(const std::filesystem::path& x, const std::filesystem::path& y, bool stream = false);

/// What a data set calls an array, and what the file calls it.
struct FieldKey {
    std::string name, key;
};
struct ArraysOptions {
    std::vector<FieldKey> inputs = {{"x", "x"}}, targets = {{"y", "y"}};  // the first ones are x and y
    std::string lengths = {};  // the array of how many places of x's axis 1 an example fills; "": all
    std::optional<bool> labels =
        {};               // targets are class numbers (also as floats, or in a column), or not; nothing: integers are
    bool stream = false;  // rows of inputs are read when a batch wants them, and not kept: HDF5 alone
};
/// Arrays of one file, by its ending: .npz, .h5 and .hdf5, .mat. ConfigError names the nearest array if it has none of a name, and says what
/// other endings want. FileError where a file is damaged, or the build lacks its library.
Dataset arrays_of(const std::filesystem::path& path, const ArraysOptions& options = {});
/// Whether arrays_of() knows a file's ending; "" if so, else what is wrong.
std::string unknown_ending(const std::filesystem::path& path);

/// x and y of a .npz file.
Dataset npz(const std::filesystem::path& path, const std::string& x = "x", const std::string& y = "y");

/// Which columns of a table are what, each by its name or number (-1: the last).
struct TableOptions {
    std::vector<std::string> target = {};  // columns that are y; empty: the last column
    /// Several inputs, or targets, each of columns of its own; empty: `target` is y and all else x.
    std::vector<std::pair<std::string, std::vector<std::string>>> inputs = {}, targets = {};
    bool labels = true;  // y is one column of class numbers, int64 (n); else float32 (n) or (n, columns)
};
/// A row an example. ConfigError names a column that is none, FileError a label that is no class number.
Dataset csv(const std::filesystem::path& path, const TableOptions& options = {}, const io::CsvOptions& how = {});

struct ParquetOptions {
    /// Of columns of text, the words that become 0, 1, ...; of others those of the whole file, in order.
    std::vector<std::pair<std::string, std::vector<std::string>>> words = {};
    bool stream =
        false;  // rows of inputs are read when a batch wants them, and not kept but for the groups of rows read last
};
/// As csv(); a list of numbers is as many columns, a word its number, class numbers of text have its words for names. Bytes stay bytes.
/// FileError also names a row without a value, or without one of `words`, and says what to do where nothing that reads Parquet is here.
Dataset parquet(const std::filesystem::path& path, const TableOptions& options = {}, const ParquetOptions& how = {});

/// "0", "1", ... up to the greatest label; empty if there are none or y holds no labels of a moderate number of
/// classes.
std::vector<std::string> classes_of(const Array& labels);

}  // namespace weft::data
