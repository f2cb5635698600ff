// IDX, the format of MNIST: a magic number with element type and rank, the sizes, then the numbers, all big-endian.
// The sizes are checked against the file's length before memory is asked for. Files may be compressed by gzip.
// Callers: data/mnist.cpp, users.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "weft/core/array.h"

namespace weft::io {

/// uint8, int8, int16, int32, float32 or float64, in the machine's order. FileError names the path and what is wrong.
Array load_idx(const std::filesystem::path& path);
/// The same from the bytes of a file; `name` is for messages.
Array parse_idx(std::string_view bytes, std::string_view name);
/// The bytes of an IDX file, unfolded if need be, once its header was checked against its length.
std::string read_idx_bytes(const std::filesystem::path& path);

/// DTypeError for an element type that IDX does not have.
void save_idx(const std::filesystem::path& path, const Array& array);

}  // namespace weft::io
