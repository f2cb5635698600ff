// Integers of a width: for whoever works on the bits of a number. Callers: kernel/, backend/.
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

template <class T, bool = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct Wrapped {
    using Type = T;
};
template <class T>
struct Wrapped<T, true> {
    using Type = std::make_signed_t<T>;
};
}  // namespace detail

/// std::uint8_t to std::uint64_t, by bytes.
template <std::size_t bytes>
using UnsignedOf = typename detail::Unsigned<bytes>::Type;

/// T; of integers the signed one, whose sums, products and bits are those of the unsigned one: so that loops over them exist once.
template <class T>
using Wrapped = typename detail::Wrapped<T>::Type;

}  // namespace weft
