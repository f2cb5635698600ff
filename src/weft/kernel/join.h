// How two numbers of a type join in a sum, a product, a multiply-and-add: integers wrap, bool is "or" and "and", half types are computed
// in float32, complex products are the plain four (infinities are not mended).
// Callers: the oracle (runtime/), kernels that walk memory by hand (backend/cpu).
#pragma once

#include <complex>
#include <type_traits>

#include "weft/core/dtype.h"

namespace weft {

template <class T>
inline constexpr bool kind_is_complex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>> ||
    std::is_same_v<T, std::complex<long double>>;

template <class T>
T joined_sum(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
        return a || b;
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
        return static_cast<T>(a + b);
}

template <class T>
T joined_product(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
        return a && b;
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else if constexpr (kind_is_complex<T>)
        return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else
        return static_cast<T>(a * b);
}

}  // namespace weft
