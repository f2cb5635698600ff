// Multiply-and-add of every element type, as the slow general kernels do it: what sums are kept in, and how. Integers
// wrap, bool is "or" of "and", the half types are summed in float32, complex products are the plain four (infinities
// are not mended). Callers: backend/cpu/generic_gemm.cpp, own_convolution.cpp, pooling.cpp.
#pragma once

#include <type_traits>

#include "weft/kernel/join.h"

namespace weft::cpu {

template <class T>
inline constexpr bool is_half_number = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// What running values of T are kept in: float for the half types.
template <class T>
using Accumulator = std::conditional_t<is_half_number<T>, float, T>;

/// What sums of T are kept in: unsigned for integers, so that they wrap.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::uint64_t, Accumulator<T>>;

template <class T>
Sum<T> widened(T value) {
    return static_cast<Sum<T>>(value);
}

template <class T>
void multiply_add(Sum<T>& sum, Sum<T> a, Sum<T> b) {
    sum = joined_sum(sum, joined_product(a, b));
}

}  // namespace weft::cpu
