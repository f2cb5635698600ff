// .npy, NumPy's file for one array (NEP 1; versions 1 to 3), read and written. Both byte orders and both memory orders
// are read; what is returned is row-major in the machine's order. Files of Python objects are refused: they hold code
// (a pickle). Callers: data/, users.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "weft/core/array.h"

namespace weft::io {

/// FileError names the path and what is wrong.
Array load_npy(const std::filesystem::path& path);
Array parse_npy(std::string_view bytes, std::string_view name);
/// Little-endian, row-major. DTypeError for bfloat16, which NumPy does not have.
void save_npy(const std::filesystem::path& path, const Array& array);
std::string npy_header(const Array& array);

}  // namespace weft::io
