// Data sets from a user's own files: .npy, .npz and CSV. Callers: data/registry.cpp, users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "weft/data/dataset.h"
#include "weft/io/csv.h"

namespace weft::data {

/// x and y from a file each. Integers in y are labels (int64); bytes in x are float32 in a batch.
/// `stream`: rows of x are read when a batch wants them, and not kept.
Dataset npy(const std::filesystem::path& x, const std::filesystem::path& y, bool stream = false);

/// The same from two arrays of a .npz file. ConfigError names the nearest if it has none of this name.
Dataset npz(const std::filesystem::path& path, const std::string& x = "x", const std::string& y = "y");

struct CsvDataOptions {
    std::vector<std::string> target =
        {};              // columns that are y, by name or number (-1: the last); empty: the last column
    bool labels = true;  // y is one column of class numbers, int64 (n); else float32 (n) or (n, columns)
    io::CsvOptions table = {};
};
/// A row an example. ConfigError names a target that is no column, FileError a label that is no class number.
Dataset csv(const std::filesystem::path& path, const CsvDataOptions& options = {});

/// "0", "1", ... up to the greatest label; empty if there are none or y holds no labels of a moderate number of
/// classes.
std::vector<std::string> classes_of(const Array& labels);

}  // namespace weft::data
