// Quotients rounded down and remainders in vectors, which divide floating numbers alone: what kernel/element.h says of one element, to the
// bit. Callers: isa/element_loops.cpp.
#pragma once

#include <cstdint>

#include "weft/kernel/element.h"

namespace weft::cpu::WEFT_ISA {

/// Whole numbers for which a / b, rounded, lies on the same side of each whole number as a / b: vectors divide floating numbers alone.
template <Opcode op, class T>
inline constexpr bool divides_as_floating = std::is_integral_v<T> && sizeof(T) <= 4 &&
                                            (op == Opcode::floor_divide || op == Opcode::remainder);

/// element::integer_floor_divide and integer_remainder of such numbers, without branches.
template <Opcode op, class T>
WEFT_ELEMENT T divided_as_floating(T a, T b) {
    using Real = std::conditional_t<sizeof(T) <= 2, float, double>;
    using Whole = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::uint32_t, std::int32_t>;
    constexpr bool has_sign = std::is_signed_v<T>;
    Whole minus_one = has_sign && b == static_cast<T>(-1), zero = b == 0;  // by these: -a, which may wrap, and 0
    Whole divisor = minus_one | zero ? Whole{1} : static_cast<Whole>(b), dividend = static_cast<Whole>(a);
    Whole quotient = static_cast<Whole>(static_cast<Real>(dividend) / static_cast<Real>(divisor));
    Whole rest = dividend - quotient * divisor;
    Whole above = has_sign && rest != 0 && (rest < 0) != (divisor < 0);  // the quotient was rounded towards 0
    if constexpr (op == Opcode::remainder) return static_cast<T>(above ? rest + divisor : rest);
    Whole result = minus_one ? static_cast<Whole>(0u - static_cast<std::uint32_t>(dividend)) : quotient - above;
    return static_cast<T>(zero ? Whole{0} : result);
}

#if defined(WEFT_ISA_avx512)  // which converts between these and double in vectors
template <Opcode op, class T>
inline constexpr bool divides_in_steps = std::is_same_v<T, std::int64_t> &&
                                         (op == Opcode::floor_divide || op == Opcode::remainder);
#else
template <Opcode op, class T>
inline constexpr bool divides_in_steps = false;
#endif

/// The same of 8 bytes, of which a double holds 53 bits: by the quotient of the doubles, off by at most 2^12 or so, and then by what is left
/// of a over b, rounded to the nearest, so that an error of the last bit changes nothing. What is left lies within half of b then, on its
/// other side where the quotient was rounded up. Numbers wrap, as b = 1 wants it of a double that is 2^63.
template <Opcode op>
WEFT_ELEMENT std::int64_t divided_in_steps(std::int64_t a, std::int64_t b) {
    using Word = std::uint64_t;
    constexpr double most = 0x1.fffffffffffffp62, to_nearest = 0x1.8p52;
    Word minus_one = b == -1, zero = b == 0;
    std::int64_t divisor = minus_one | zero ? 1 : b;
    double real = static_cast<double>(divisor), first = static_cast<double>(a) / real;
    first = first < most ? first : most;
    Word quotient = static_cast<Word>(static_cast<std::int64_t>(first));
    Word rest = static_cast<Word>(a) - quotient * static_cast<Word>(divisor);
    double second = (static_cast<double>(static_cast<std::int64_t>(rest)) / real + to_nearest) - to_nearest;
    Word more = static_cast<Word>(static_cast<std::int64_t>(second));
    quotient += more, rest -= more * static_cast<Word>(divisor);
    auto left = static_cast<std::int64_t>(rest);
    Word above = left != 0 && (left < 0) != (divisor < 0);  // the quotient is
    if constexpr (op == Opcode::remainder)
        return static_cast<std::int64_t>(zero ? Word{0} : above ? rest + static_cast<Word>(divisor) : rest);
    Word result = minus_one ? Word{0} - static_cast<Word>(a) : quotient - above;
    return static_cast<std::int64_t>(zero ? Word{0} : result);
}

template <Opcode op, class T>
inline constexpr bool divides_by_uniform = std::is_same_v<T, std::int32_t> &&
                                           (op == Opcode::floor_divide || op == Opcode::remainder);

/// By one divisor but 0 and -1. (a + 1/2) / b lies at least 1 / (2 b) from each whole number and on the same side as a / b, which is more
/// than the errors of the inverse and of the product: no division.
template <Opcode op>
WEFT_ELEMENT void divide_by(std::int32_t* to, const std::int32_t* a, std::int32_t divisor, std::int64_t count) {
    // floor(a / b) = floor(-a / -b)
    double size = divisor < 0 ? -static_cast<double>(divisor) : divisor, inverse = 1 / size, half = 0.5 * inverse;
    if (divisor < 0) inverse = -inverse;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        auto quotient = static_cast<std::int32_t>(element::floor_of(a[i] * inverse + half));
        if constexpr (op == Opcode::remainder)
            to[i] =
                static_cast<std::int32_t>(static_cast<std::uint32_t>(a[i]) -
                                          static_cast<std::uint32_t>(quotient) * static_cast<std::uint32_t>(divisor));
        else
            to[i] = quotient;
    }
}

#if defined(__FMA__)
template <Opcode op, class T>
inline constexpr bool divides_floating = (std::is_same_v<T, float> ||
                                          std::is_same_v<T, double>)&&(op == Opcode::floor_divide ||
                                                                       op == Opcode::remainder);
#else
template <Opcode op, class T>
inline constexpr bool divides_floating = false;
#endif

/// Where |a / b|, rounded, is below 2^digits, its whole part q is that of a / b or, rounded up, one more. So a - q b is a multiple of b's last
/// bit within |b| of 0: a number, and with b added where it is negative fmod(a, b). All else (quotients beyond, infinities, NaN, divisors
/// of 0) is fmod's own business, and rare.
template <class T>
WEFT_ELEMENT bool divides_at_once(T a, T b) {
    constexpr T most = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52), endless = static_cast<T>(__builtin_huge_val());
    T size = element::magnitude(b);
    return (element::magnitude(a) / size < most) & (size < endless);
}
template <class T>
WEFT_ELEMENT T rest_at_once(T a, T b) {
    T x = element::magnitude(a), y = element::magnitude(b);
    T rest = element::fused(-element::truncated(x / y), y, x);
    rest = rest < 0 ? rest + y : rest;
    return element::with_sign(rest, a);
}

/// element::float_remainder and float_floor_divide of such.
template <Opcode op, class T>
WEFT_ELEMENT T divided_at_once(T a, T b) {
    T rest = rest_at_once(a, b);
    bool apart = (rest != 0) & ((b < 0) != (rest < 0));
    if constexpr (op == Opcode::remainder) {
        T moved = apart ? rest + b : rest;
        return rest == 0 ? element::with_sign(T{0}, b) : moved;
    } else {
        T quotient = (a - rest) / b;
        quotient = apart ? quotient - 1 : quotient;
        T whole = element::floor_of(quotient), above = quotient - whole > T(0.5) ? whole + 1 : whole;
        return quotient == 0 ? element::with_sign(T{0}, a / b) : above;
    }
}

/// Some elements at a time, into a buffer, for results may lie in an operand's place.
template <Opcode op, class T>
WEFT_ELEMENT void divide_floating(T* to, const T* a, const T* b, std::int64_t count, unsigned uniform) {
    constexpr int at_once = 64;
    const std::int64_t step_a = uniform & 1 ? 0 : at_once, step_b = uniform & 2 ? 0 : at_once;
    T all_a[at_once], all_b[at_once], results[at_once];
    auto spread = [](const T*& from, T(&all)[at_once]) __attribute__((always_inline)) {
        for (T& one : all) one = *from;
        from = all;
    };
    if (uniform & 1) spread(a, all_a);
    if (uniform & 2) spread(b, all_b);
    for (; count > 0; count -= at_once, to += at_once, a += step_a, b += step_b) {
        int some = static_cast<int>(count < at_once ? count : at_once), others = 0;
        for (int i = 0; i < some; ++i) {
            others += !divides_at_once(a[i], b[i]);
            results[i] = divided_at_once<op>(a[i], b[i]);
        }
        for (int i = 0; others > 0 && i < some; ++i)
            if (!divides_at_once(a[i], b[i])) results[i] = element::apply2<op>(a[i], b[i]), --others;
        __builtin_memcpy(to, results, static_cast<std::size_t>(some) * sizeof(T));
    }
}

}  // namespace weft::cpu::WEFT_ISA
