// MATLAB's .mat files of level 5 (-v6, -v7), packed or not (matio); of level 7.3, which is HDF5, by io/hdf5.h. Arrays come out row-major in MATLAB's
// own order of axes. Without matio every call is a FileError that names the package. Callers: data/, cli/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weft/core/array.h"

namespace weft::io {

/// FileError names the file and what is wrong, or the nearest variable if it has none of this name. Sparse arrays, cells, structures, texts
/// and objects are refused.
Array load_mat(const std::filesystem::path& path, const std::string& name);
/// The names of its variables.
std::vector<std::string> mat_names(const std::filesystem::path& path);

}  // namespace weft::io
