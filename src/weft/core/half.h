// The 16-bit floating types: stored in 16 bits, computed in float32. Conversion rounds to nearest, ties to even, keeps
// infinities and NaNs (a NaN stays one, its payload cut). Callers: core/dtype.h, kernels.
#pragma once

#include <bit>
#include <cstdint>

namespace weft {

/// IEEE 754 binary16.
struct Float16 {
    std::uint16_t bits = 0;
    Float16() = default;
    Float16(float value) : bits(round(value)) {}
    operator float() const { return widen(bits); }

    static std::uint16_t round(float value) {
        std::uint32_t x = std::bit_cast<std::uint32_t>(value);
        std::uint32_t sign = (x >> 16) & 0x8000u;
        x &= 0x7fffffffu;
        if (x > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((x >> 13) & 0x3ffu));
        if (x >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65536 and above, infinity too
        if (x < 0x38800000u) {  // below 2^-14: a denormal; the float unit rounds it for us at exponent -1 (value + 0.5)
            float shifted = std::bit_cast<float>(x) + 0.5f;
            return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
        }
        x +=
            0xc8000fffu + ((x >> 13) & 1u);  // rebias the exponent by -112, round half to even; may carry into infinity
        return static_cast<std::uint16_t>(sign | (x >> 13));
    }
    static float widen(std::uint16_t half) {
        std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
        std::uint32_t rest = half & 0x7fffu;
        if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
        if (rest < 0x400u) {  // zero or denormal: rest * 2^-24
            float magnitude = static_cast<float>(rest) * 0x1p-24f;
            return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
        }
        return std::bit_cast<float>(sign | ((rest << 13) + 0x38000000u));
    }
};

/// The upper half of a binary32.
struct BFloat16 {
    std::uint16_t bits = 0;
    BFloat16() = default;
    BFloat16(float value) : bits(round(value)) {}
    operator float() const { return widen(bits); }

    static std::uint16_t round(float value) {
        std::uint32_t x = std::bit_cast<std::uint32_t>(value);
        if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((x >> 16) | 0x40u);
        return static_cast<std::uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
    }
    static float widen(std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); }
};

}  // namespace weft
