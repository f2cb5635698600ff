// How one element lies in memory, and how one of a type becomes one of another.
// Everything here is inlined by force and calls nothing of the standard library: the block loops include it once an instruction
// set, and no function compiled for a newer processor may leak into code that runs on every one.
// Callers: kernel/element.h.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/core/dtype.h"

// Sanitized builds leave inlining to the compiler, as does a source that says so before it includes this: forced, it takes them minutes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(WEFT_INLINE_AS_COMPILER_LIKES)
#define WEFT_ELEMENT inline
#else
#define WEFT_ELEMENT [[gnu::always_inline]] inline
#endif

namespace weft::element {

/// A bool in memory: a byte that holds 0 or 1.
struct Bool {
    std::uint8_t byte;
};
template <class T>
struct Complex {
    T re, im;
};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Complex<T>> = true;
template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_bool = std::is_same_v<T, Bool>;

/// How an element of a DType lies in memory.
template <class T>
struct RepOf {
    using Type = T;
};
template <>
struct RepOf<bool> {
    using Type = Bool;
};
template <>
struct RepOf<std::complex<float>> {
    using Type = Complex<float>;
};
template <>
struct RepOf<std::complex<double>> {
    using Type = Complex<double>;
};
template <class T>
using Rep = typename RepOf<T>::Type;

/// Two's complement arithmetic that wraps, in a type without surprises of promotion.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

/// Floating to integer: towards zero; beyond the range the nearest end; NaN is 0.
template <class To, class From>
WEFT_ELEMENT To saturate(From x) {
    constexpr From top =
        static_cast<From>(static_cast<From>(std::uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2);
    constexpr From bottom = std::is_signed_v<To> ? -top : From{0};
    if (x >= top) return std::numeric_limits<To>::max();
    if (x <= bottom) return std::numeric_limits<To>::min();
    return x == x ? static_cast<To>(x) : To{0};
}

template <class To, class From>
WEFT_ELEMENT To convert(From x) {
    if constexpr (std::is_same_v<To, From>) {
        return x;
    } else if constexpr (is_half<From>) {
        return convert<To>(From::widen(x.bits));
    } else if constexpr (is_bool<From>) {
        return convert<To>(static_cast<std::uint8_t>(x.byte != 0));
    } else if constexpr (is_bool<To>) {
        if constexpr (is_complex<From>)
            return Bool{static_cast<std::uint8_t>((x.re != 0) | (x.im != 0))};
        else
            return Bool{static_cast<std::uint8_t>(x != 0)};
    } else if constexpr (is_complex<To>) {
        using Part = decltype(To{}.re);
        if constexpr (is_complex<From>)
            return To{convert<Part>(x.re), convert<Part>(x.im)};
        else
            return To{convert<Part>(x), 0};
    } else if constexpr (is_complex<From>) {
        return convert<To>(x.re);
    } else if constexpr (is_half<To>) {
        To result;
        result.bits = To::round(static_cast<float>(x));
        return result;
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        return saturate<To>(x);
    } else {
        return static_cast<To>(x);
    }
}

}  // namespace weft::element
