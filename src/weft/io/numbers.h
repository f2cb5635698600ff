// Numbers in files: read and written byte by byte in the file's order, whatever the machine's is, and how many bytes a
// shape that a file claims would take. Callers: the binary loaders of io/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/core/array.h"

namespace weft::io {

/// The unsigned integer in the first `count` bytes, which must be there.
inline std::uint64_t read_big(std::string_view bytes, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}
inline std::uint64_t read_little(std::string_view bytes, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}
inline void append_big(std::string& out, std::uint64_t value, std::size_t count) {
    for (std::size_t i = count; i-- > 0;)
        out.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
}
inline void append_little(std::string& out, std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
}

/// The bytes of an array of these sizes; nothing if its strides would not fit 62 bits, so that no later product can
/// overflow.
inline std::optional<std::uint64_t> bytes_of(DType dtype, const Dims& dims) {
    std::uint64_t bytes = size_of(dtype);
    bool empty = false;
    for (std::int64_t size : dims) {
        empty = empty || size == 0;
        auto step = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
        if (size < 0 || __builtin_mul_overflow(bytes, step, &bytes) || bytes > INT64_MAX / 2) return std::nullopt;
    }
    return empty ? 0 : bytes;
}

/// Turns every number of `width` bytes around.
inline void swap_bytes(void* data, std::size_t bytes, std::size_t width) {
    auto* at = static_cast<char*>(data);
    for (std::size_t i = 0; width > 1 && i + width <= bytes; i += width) std::reverse(at + i, at + i + width);
}
/// From the file's order to the machine's, in place. Parts of a complex number are numbers of their own.
inline void to_native(Array& array, std::endian order) {
    if (order == std::endian::native) return;
    swap_bytes(array.address(), array.bytes(), size_of(real_of(array.dtype)));
}
/// Truth values other than 0 and 1 are none to C++; in a file any but 0 means true.
inline void repair_bools(Array& array) {
    if (array.dtype != DType::bool_) return;
    auto* bytes = static_cast<unsigned char*>(array.address());
    for (std::size_t i = 0; i < array.bytes(); ++i) bytes[i] = bytes[i] != 0;
}

}  // namespace weft::io
