// Multiply-and-add of every element type, as the slow general kernels do it: what sums are kept in, and how. Integers
// wrap, bool is "or" of "and", the half types are summed in float32, complex products are the plain four (infinities
// are not mended). Callers: backend/cpu/generic_gemm.cpp, own_convolution.cpp, pooling.cpp.
#pragma once

#include <complex>
#include <type_traits>

#include "weft/core/dtype.h"

namespace weft::cpu {

/// The type that sums of T are kept in: unsigned for integers (so that they wrap), float for the half types.
template <class T>
struct SumOf {
    using Type = T;
};
template <>
struct SumOf<Float16> {
    using Type = float;
};
template <>
struct SumOf<BFloat16> {
    using Type = float;
};
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct SumOf<T> {
    using Type = std::uint64_t;
};
template <class T>
using Sum = typename SumOf<T>::Type;

template <class T>
inline constexpr bool kind_is_complex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
Sum<T> widened(T value) {
    return static_cast<Sum<T>>(value);
}

template <class T>
void multiply_add(Sum<T>& sum, Sum<T> a, Sum<T> b) {
    if constexpr (std::is_same_v<T, bool>)
        sum = sum || (a && b);
    else if constexpr (kind_is_complex<T>)
        sum += Sum<T>(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else
        sum += a * b;
}

}  // namespace weft::cpu
