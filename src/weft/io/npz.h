// .npz, NumPy's file for several arrays: a zip archive of .npy files, packed or not. Callers: data/, users.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "weft/core/array.h"

namespace weft::io {

/// By name, without ".npy". FileError names the path and what is wrong: damage, encryption, another kind of compression.
std::map<std::string, Array, std::less<>> load_npz(const std::filesystem::path& path);
std::map<std::string, Array, std::less<>> parse_npz(std::string_view bytes, std::string_view name);

}  // namespace weft::io
