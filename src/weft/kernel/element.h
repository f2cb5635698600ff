// What each opcode means for one element: shared by the interpreter and the vectorised loops, so that both give the same bits.
// Everything here is inlined by force and calls nothing of the standard library (element_types.h says why).
// Callers: kernel/interpreter.cpp, kernel/builder.cpp, backend/cpu/isa/.
#pragma once

#include "weft/kernel/element_types.h"
#include "weft/kernel/program.h"

namespace weft::element {

// The C library's functions for both floating types, by one name.
#define WEFT_BOTH(name, builtin)                                           \
    WEFT_ELEMENT float name(float x) { return __builtin_##builtin##f(x); } \
    WEFT_ELEMENT double name(double x) { return __builtin_##builtin(x); }
WEFT_BOTH(square_root, sqrt)
WEFT_BOTH(floor_of, floor)
WEFT_BOTH(ceil_of, ceil)
WEFT_BOTH(truncated, trunc)
WEFT_BOTH(rounded, rint)
WEFT_BOTH(magnitude, fabs)
#undef WEFT_BOTH
WEFT_ELEMENT float fmod_of(float a, float b) { return __builtin_fmodf(a, b); }
WEFT_ELEMENT double fmod_of(double a, double b) { return __builtin_fmod(a, b); }
WEFT_ELEMENT float with_sign(float a, float b) { return __builtin_copysignf(a, b); }
WEFT_ELEMENT double with_sign(double a, double b) { return __builtin_copysign(a, b); }
WEFT_ELEMENT float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WEFT_ELEMENT double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// NumPy's: fmod, moved to the sign of the divisor.
template <class T>
WEFT_ELEMENT T float_remainder(T a, T b) {
    T rest = fmod_of(a, b);
    if (b == 0) return rest;
    if (rest == 0) return with_sign(T{0}, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

/// NumPy's: consistent with the remainder, snapped to the nearest whole number. By and of infinities the array API's: floor(a / b).
template <class T>
WEFT_ELEMENT T float_floor_divide(T a, T b) {
    if (b == 0 || a - a != 0 || b - b != 0) return floor_of(a / b);
    T rest = fmod_of(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return with_sign(T{0}, a / b);
    T whole = floor_of(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
}

template <class T>
WEFT_ELEMENT T wrapping_negative(T a) {
    return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
}

template <class T>
WEFT_ELEMENT T integer_floor_divide(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return wrapping_negative(a);
        T quotient = static_cast<T>(a / b);
        return static_cast<T>(a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient);
    }
    return static_cast<T>(a / b);
}

template <class T>
WEFT_ELEMENT T integer_remainder(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
        T rest = static_cast<T>(a % b);
        return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    return static_cast<T>(a % b);
}

/// A product that stays one: g++ 12 contracts alternating sums of products (vfmaddsub) even with -ffp-contract=off.
template <class T>
WEFT_ELEMENT T product(T a, T b) {
    T result = a * b;
#if defined(__x86_64__)
    asm("" : "+x"(result));
#elif defined(__aarch64__)
    asm("" : "+w"(result));
#endif
    return result;
}

/// R. L. Smith's division (1962): no overflow in between.
template <class T>
WEFT_ELEMENT Complex<T> complex_divide(Complex<T> a, Complex<T> b) {
    if (magnitude(b.re) >= magnitude(b.im)) {
        if (b.re == 0 && b.im == 0) return {a.re / magnitude(b.re), a.im / magnitude(b.re)};
        T ratio = b.im / b.re, scale = T{1} / (b.re + product(b.im, ratio));
        return {(a.re + product(a.im, ratio)) * scale, (a.im - product(a.re, ratio)) * scale};
    }
    T ratio = b.re / b.im, scale = T{1} / (b.im + product(b.re, ratio));
    return {(product(a.re, ratio) + a.im) * scale, (product(a.im, ratio) - a.re) * scale};
}

/// The opcodes of one operand whose result has its type.
template <Opcode op, class T>
WEFT_ELEMENT T apply1(T a) {
    if constexpr (is_complex<T>) {
        static_assert(op == Opcode::negative);
        return {-a.re, -a.im};
    } else if constexpr (is_bool<T>) {
        static_assert(op == Opcode::bit_not);
        return {static_cast<std::uint8_t>(a.byte ^ 1)};
    } else if constexpr (op == Opcode::negative) {
        if constexpr (std::is_integral_v<T>)
            return wrapping_negative(a);
        else
            return -a;
    } else if constexpr (op == Opcode::absolute) {
        if constexpr (std::is_floating_point_v<T>)
            return magnitude(a);
        else if constexpr (std::is_signed_v<T>)
            return a < 0 ? wrapping_negative(a) : a;
        else
            return a;
    } else if constexpr (op == Opcode::square_root) {
        return square_root(a);
    } else if constexpr (op == Opcode::floor) {
        return floor_of(a);
    } else if constexpr (op == Opcode::ceil) {
        return ceil_of(a);
    } else if constexpr (op == Opcode::truncate) {
        return truncated(a);
    } else if constexpr (op == Opcode::round_even) {
        return rounded(a);
    } else {
        static_assert(op == Opcode::bit_not);
        return static_cast<T>(~a);
    }
}

template <Opcode op, class T>
WEFT_ELEMENT Complex<T> complex_apply2(Complex<T> a, Complex<T> b) {
    if constexpr (op == Opcode::add)
        return {a.re + b.re, a.im + b.im};
    else if constexpr (op == Opcode::subtract)
        return {a.re - b.re, a.im - b.im};
    else if constexpr (op == Opcode::multiply)
        return {product(a.re, b.re) - product(a.im, b.im), product(a.re, b.im) + product(a.im, b.re)};
    else
        return complex_divide(a, b);
}

template <Opcode op, class T>
WEFT_ELEMENT T integer_apply2(T a, T b) {
    using W = Wrapping<T>;
    if constexpr (op == Opcode::add)
        return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    else if constexpr (op == Opcode::subtract)
        return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
    else if constexpr (op == Opcode::multiply)
        return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    else if constexpr (op == Opcode::floor_divide)
        return integer_floor_divide(a, b);
    else if constexpr (op == Opcode::remainder)
        return integer_remainder(a, b);
    else if constexpr (op == Opcode::bit_and)
        return static_cast<T>(a & b);
    else if constexpr (op == Opcode::bit_or)
        return static_cast<T>(a | b);
    else if constexpr (op == Opcode::bit_xor)
        return static_cast<T>(a ^ b);
    else {
        constexpr unsigned width = 8 * sizeof(T);
        bool within = static_cast<std::make_unsigned_t<T>>(b) < width;  // a negative count is a huge one
        if constexpr (op == Opcode::shift_left)
            return within ? static_cast<T>(static_cast<W>(a) << b) : T{0};
        else
            return within ? static_cast<T>(a >> b) : static_cast<T>(a < 0 ? -1 : 0);
    }
}

/// The opcodes of two operands whose result has their type.
template <Opcode op, class T>
WEFT_ELEMENT T apply2(T a, T b) {
    if constexpr (is_complex<T>) {
        return complex_apply2<op>(a, b);
    } else if constexpr (is_bool<T>) {
        if constexpr (op == Opcode::bit_xor)
            return {static_cast<std::uint8_t>(a.byte ^ b.byte)};
        else if constexpr (op == Opcode::bit_and || op == Opcode::minimum)
            return {static_cast<std::uint8_t>(a.byte & b.byte)};
        else
            return {static_cast<std::uint8_t>(a.byte | b.byte)};
    } else if constexpr (op == Opcode::minimum) {
        return a < b || a != a ? a : b;
    } else if constexpr (op == Opcode::maximum) {
        return a > b || a != a ? a : b;
    } else if constexpr (std::is_integral_v<T>) {
        return integer_apply2<op>(a, b);
    } else if constexpr (op == Opcode::add) {
        return a + b;
    } else if constexpr (op == Opcode::subtract) {
        return a - b;
    } else if constexpr (op == Opcode::multiply) {
        return a * b;
    } else if constexpr (op == Opcode::divide) {
        return a / b;
    } else if constexpr (op == Opcode::floor_divide) {
        return float_floor_divide(a, b);
    } else {
        static_assert(op == Opcode::remainder);
        return float_remainder(a, b);
    }
}

template <Opcode op, class T>
WEFT_ELEMENT Bool compare(T a, T b) {
    if constexpr (is_complex<T>) {
        bool same = (a.re == b.re) & (a.im == b.im);
        return {static_cast<std::uint8_t>(op == Opcode::equal ? same : !same)};
    } else if constexpr (is_bool<T>) {
        return compare<op>(a.byte, b.byte);
    } else if constexpr (op == Opcode::equal) {
        return {static_cast<std::uint8_t>(a == b)};
    } else if constexpr (op == Opcode::not_equal) {
        return {static_cast<std::uint8_t>(a != b)};
    } else if constexpr (op == Opcode::less) {
        return {static_cast<std::uint8_t>(a < b)};
    } else {
        return {static_cast<std::uint8_t>(a <= b)};
    }
}

/// Whether apply1, apply2 or compare is defined for the opcode and the type: takes() as a constant.
template <Opcode op, class T>
inline constexpr bool defined = [] {
    constexpr bool floating = std::is_floating_point_v<T>, integer = std::is_integral_v<T>;
    switch (op) {
        case Opcode::negative:
        case Opcode::add:
        case Opcode::subtract:
        case Opcode::multiply:
            return floating || integer || is_complex<T>;
        case Opcode::absolute:
            return floating || integer;
        case Opcode::square_root:
        case Opcode::floor:
        case Opcode::ceil:
        case Opcode::truncate:
        case Opcode::round_even:
            return floating;
        case Opcode::bit_not:
        case Opcode::bit_and:
        case Opcode::bit_or:
        case Opcode::bit_xor:
            return integer || is_bool<T>;
        case Opcode::divide:
            return floating || is_complex<T>;
        case Opcode::floor_divide:
        case Opcode::remainder:
            return floating || integer;
        case Opcode::shift_left:
        case Opcode::shift_right:
            return integer;
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::less:
        case Opcode::less_equal:
            return floating || integer || is_bool<T>;
        case Opcode::equal:
        case Opcode::not_equal:
            return floating || integer || is_bool<T> || is_complex<T>;
        default:
            return false;
    }
}();

}  // namespace weft::element
