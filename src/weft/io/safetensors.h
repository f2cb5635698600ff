// safetensors, the file of named arrays: eight bytes of header length, a JSON header with type, shape and place of each
// array, then the numbers. It holds data, never code. Every length, type, shape and place is checked against the file
// before memory is asked for, and the arrays must fill the file without gaps or overlaps. Equal contents give equal
// bytes. Callers: train/ (models, checkpoints), users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "weft/core/array.h"

namespace weft::io {

struct NamedArrays {
    std::map<std::string, Array, std::less<>> arrays;
    std::map<std::string, std::string, std::less<>> metadata;
};

struct SafetensorsOptions {
    bool map = false;  // leave the numbers in the file until they are touched; it must then not be overwritten in place
    std::uint64_t header_limit = 100'000'000;
};

/// FileError names the path, the array, and what is wrong.
NamedArrays load_safetensors(const std::filesystem::path& path, const SafetensorsOptions& options = {});
/// What the file holds, by its header alone: dtype and shape of each array. FileError as above.
struct ArrayForm {
    DType dtype = DType::float32;
    Dims dims;
};
std::map<std::string, ArrayForm, std::less<>> list_safetensors(const std::filesystem::path& path,
                                                               const SafetensorsOptions& options = {});
/// Atomic. DTypeError names an array of complex128, which the format does not have.
void save_safetensors(const std::filesystem::path& path, const NamedArrays& contents);

}  // namespace weft::io
