// How two numbers of a type join, as kernels that walk memory by hand need it: integers wrap, half types are computed in float32,
// complex products are the plain four, the extremes carry NaN through. Callers: backend/cpu/scatter.cpp, scan.cpp.
#pragma once

#include <type_traits>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/core/dtype.h"

namespace weft::cpu {

/// What a running sum or product of T is kept in: unsigned for integers, float for the half types.
template <class T>
struct AccumulatorOf {
    using Type = T;
};
template <>
struct AccumulatorOf<Float16> {
    using Type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
    using Type = float;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::Type;

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

/// The larger (smaller); NaN if either is. Not for complex numbers.
template <bool largest, class T>
T joined_extreme(T a, T b) {
    if (a != a) return a;
    if constexpr (largest)
        return b > a || b != b ? b : a;
    else
        return b < a || b != b ? b : a;
}

}  // namespace weft::cpu
