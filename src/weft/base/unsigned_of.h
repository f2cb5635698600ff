// The unsigned integer of a width: for whoever works on the bits of a number. Callers: kernel/, backend/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft {

namespace detail {
template <std::size_t bytes>
struct Unsigned {
    static_assert(bytes == 8, "there is no such integer");
    using Type = std::uint64_t;
};
template <>
struct Unsigned<4> {
    using Type = std::uint32_t;
};
template <>
struct Unsigned<2> {
    using Type = std::uint16_t;
};
template <>
struct Unsigned<1> {
    using Type = std::uint8_t;
};
}  // namespace detail

/// std::uint8_t to std::uint64_t, by bytes.
template <std::size_t bytes>
using UnsignedOf = typename detail::Unsigned<bytes>::Type;

}  // namespace weft
