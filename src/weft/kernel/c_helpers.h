// The helper functions of printed kernels, as patterns: what C's operators do not say as kernel/element.h says it.
// $N: the function's name, $T: the type, $P: a complex type's real one, $U: the unsigned type of T's width, $F: a helper's qualifiers,
// $f: the suffix of mathematical functions, $1: the number one. Callers: kernel/c_writer.cpp.
#pragma once

#include <string_view>

#include "weft/kernel/program.h"

namespace weft::c_helpers {

enum class Of { floating, signed_integer, unsigned_integer, complex, any };

struct Pattern {
    Opcode opcode;
    Of of;
    std::string_view text;
};

inline constexpr Pattern patterns[] = {
    {Opcode::minimum, Of::floating, R"(
$F$T $N($T a, $T b)
{
    return a < b || a != a ? a : b;
}
)"},
    {Opcode::minimum, Of::any, R"(
$F$T $N($T a, $T b)
{
    return a < b ? a : b;
}
)"},
    {Opcode::maximum, Of::floating, R"(
$F$T $N($T a, $T b)
{
    return a > b || a != a ? a : b;
}
)"},
    {Opcode::maximum, Of::any, R"(
$F$T $N($T a, $T b)
{
    return a > b ? a : b;
}
)"},
    {Opcode::absolute, Of::signed_integer, R"(
$F$T $N($T a)
{
    return a < 0 ? ($T)(0u - ($U)a) : a;
}
)"},
    {Opcode::floor_divide, Of::floating, R"(
$F$T $N($T a, $T b)
{
    if (b == 0 || a - a != 0 || b - b != 0) return floor$f(a / b);
    const $T rest = fmod$f(a, b);
    $T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysign$f(($T)0, a / b);
    const $T whole = floor$f(quotient);
    return quotient - whole > ($T)0.5 ? whole + 1 : whole;
}
)"},
    {Opcode::floor_divide, Of::signed_integer, R"(
$F$T $N($T a, $T b)
{
    if (b == 0) return 0;
    if (b == -1) return ($T)(0u - ($U)a);
    const $T quotient = ($T)(a / b);
    return ($T)(a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient);
}
)"},
    {Opcode::floor_divide, Of::unsigned_integer, R"(
$F$T $N($T a, $T b)
{
    return ($T)(b == 0 ? 0 : a / b);
}
)"},
    {Opcode::remainder, Of::floating, R"(
$F$T $N($T a, $T b)
{
    const $T rest = fmod$f(a, b);
    if (b == 0) return rest;
    if (rest == 0) return copysign$f(($T)0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}
)"},
    {Opcode::remainder, Of::signed_integer, R"(
$F$T $N($T a, $T b)
{
    if (b == 0 || b == -1) return 0;
    const $T rest = ($T)(a % b);
    return ($T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
)"},
    {Opcode::remainder, Of::unsigned_integer, R"(
$F$T $N($T a, $T b)
{
    return ($T)(b == 0 ? 0 : a % b);
}
)"},
    {Opcode::shift_left, Of::any, R"(
$F$T $N($T a, $T bits)
{
    return ($T)(($U)bits < 8 * sizeof($T) ? ($U)a << bits : 0);
}
)"},
    {Opcode::shift_right, Of::any, R"(
$F$T $N($T a, $T bits)
{
    if (($U)bits < 8 * sizeof($T)) return ($T)(a >> bits);
    return ($T)(a < 0 ? -1 : 0);
}
)"},
    {Opcode::negative, Of::complex, R"(
$F$T $N($T a)
{
    return $T_of(-a.re, -a.im);
}
)"},
    {Opcode::add, Of::complex, R"(
$F$T $N($T a, $T b)
{
    return $T_of(a.re + b.re, a.im + b.im);
}
)"},
    {Opcode::subtract, Of::complex, R"(
$F$T $N($T a, $T b)
{
    return $T_of(a.re - b.re, a.im - b.im);
}
)"},
    {Opcode::multiply, Of::complex, R"(
$F$T $N($T a, $T b)
{
    return $T_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
)"},
    // R. L. Smith's division (1962): no overflow in between.
    {Opcode::divide, Of::complex, R"(
$F$T $N($T a, $T b)
{
    if (fabs$f(b.re) >= fabs$f(b.im)) {
        if (b.re == 0 && b.im == 0) return $T_of(a.re / fabs$f(b.re), a.im / fabs$f(b.re));
        const $P ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return $T_of((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    const $P ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return $T_of((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}
)"},
};

inline constexpr std::string_view pair_of = R"(
$F$T $N($P re, $P im)
{
    $T pair;
    pair.re = re;
    pair.im = im;
    return pair;
}
)";

/// Whether b at b_at goes before a at a_at: the better one, NaN before all numbers, the first of equals.
inline constexpr std::string_view better_floating = R"(
$Fint $N($T a, int64_t a_at, $T b, int64_t b_at)
{
    if (a != a || b != b) return b != b && (a == a || b_at < a_at);
    return b $C a || (b == a && b_at < a_at);
}
)";
inline constexpr std::string_view better_integer = R"(
$Fint $N($T a, int64_t a_at, $T b, int64_t b_at)
{
    return b $C a || (b == a && b_at < a_at);
}
)";

/// Towards zero; beyond the range its nearest end; NaN is 0.
inline constexpr std::string_view saturating = R"(
$F$T $N($S x)
{
    if (x >= $H) return $M;
    if (x <= $L) return $m;
    return x == x ? ($T)x : 0;
}
)";

inline constexpr std::string_view bitcast = R"(
$F$T $N($S x)
{
    union { $S from; $T to; } both;
    both.from = x;
    return both.to;
}
)";

inline constexpr std::string_view widen_float16 = R"(
$Ffloat $N(float16_bits stored)
{
    const uint32_t sign = (uint32_t)(stored & 0x8000u) << 16, rest = stored & 0x7fffu;
    if (rest >= 0x7c00u) return uint32_as_float32(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest < 0x400u) return uint32_as_float32(sign | float32_as_uint32((float)rest * 5.9604644775390625e-8f));  // rest / 2^24
    return uint32_as_float32(sign | ((rest << 13) + 0x38000000u));
}
)";
/// To nearest, ties to even. Below 2^-14 adding 0.5 rounds at the right place.
inline constexpr std::string_view round_float16 = R"(
$Ffloat16_bits $N(float value)
{
    const uint32_t bits = float32_as_uint32(value), sign = (bits >> 16) & 0x8000u, x = bits & 0x7fffffffu;
    if (x > 0x7f800000u) return (float16_bits)(sign | 0x7e00u | ((x >> 13) & 0x3ffu));
    if (x >= 0x47800000u) return (float16_bits)(sign | 0x7c00u);
    if (x < 0x38800000u) return (float16_bits)(sign | (float32_as_uint32(uint32_as_float32(x) + 0.5f) - 0x3f000000u));
    return (float16_bits)(sign | (x + 0xc8000fffu + ((x >> 13) & 1u)) >> 13);
}
)";
inline constexpr std::string_view widen_bfloat16 = R"(
$Ffloat $N(bfloat16_bits stored)
{
    return uint32_as_float32((uint32_t)stored << 16);
}
)";
inline constexpr std::string_view round_bfloat16 = R"(
$Fbfloat16_bits $N(float value)
{
    const uint32_t x = float32_as_uint32(value);
    if ((x & 0x7fffffffu) > 0x7f800000u) return (bfloat16_bits)(x >> 16 | 0x40u);
    return (bfloat16_bits)((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}
)";

/// Word `number` of a stream of Philox4x32-10 (core/philox.h).
inline constexpr std::string_view philox_word = R"(
$Fuint32_t $N(uint32_t k0, uint32_t k1, uint32_t stream, int64_t number)
{
    const uint64_t block = (uint64_t)number / 4u;
    const int at = (int)((uint64_t)number % 4u);
    uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = 0u, c3 = stream;
    for (int round = 0; round < 10; ++round) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return at == 0 ? c0 : at == 1 ? c1 : at == 2 ? c2 : c3;
}
)";

}  // namespace weft::c_helpers
