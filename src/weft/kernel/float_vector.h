// A vector of N floats with the few operations that kernel/elementary.h needs, each the same bits for every N and every
// instruction set. Tag is a type of the including file: it keeps the vectors of different instruction sets apart in one program.
// Everything is inlined by force. Callers: kernel/function.cpp (N = 1), backend/cpu/isa/ (as wide as the registers).
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/kernel/element.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace weft {

/// The compiler's vector types (an attribute that depends on a template's parameter is lost on g++ 12).
template <int N>
struct NativeVector;
#define WEFT_NATIVE(N)                                                 \
    template <>                                                        \
    struct NativeVector<N> {                                           \
        typedef float Floats __attribute__((vector_size(4 * N)));      \
        typedef std::int32_t Ints __attribute__((vector_size(4 * N))); \
    };
WEFT_NATIVE(1)
WEFT_NATIVE(4)
WEFT_NATIVE(8)
WEFT_NATIVE(16)
// clang-format off
#undef WEFT_NATIVE

    template <int N, class Tag>
// clang-format on
struct IntVector {
    using Native = typename NativeVector<N>::Ints;
    typedef std::uint32_t Wrapping __attribute__((vector_size(4 * N)));   // sums wrap, as the hardware's do
    Native v;

    WEFT_ELEMENT static IntVector all(std::int32_t value) { return {Native{} + value}; }
    WEFT_ELEMENT friend IntVector operator+(IntVector a, IntVector b) { return {Native(Wrapping(a.v) + Wrapping(b.v))}; }
    WEFT_ELEMENT friend IntVector operator-(IntVector a, IntVector b) { return {Native(Wrapping(a.v) - Wrapping(b.v))}; }
    WEFT_ELEMENT friend IntVector operator&(IntVector a, IntVector b) { return {a.v & b.v}; }
    WEFT_ELEMENT friend IntVector operator|(IntVector a, IntVector b) { return {a.v | b.v}; }
    WEFT_ELEMENT friend IntVector operator^(IntVector a, IntVector b) { return {a.v ^ b.v}; }
    WEFT_ELEMENT friend IntVector operator<<(IntVector a, int bits) { return {a.v << bits}; }
    WEFT_ELEMENT friend IntVector operator>>(IntVector a, int bits) { return {a.v >> bits}; }  // keeps the sign
};

/// True or false a lane.
template <int N, class Tag>
struct MaskVector {
#if defined(__AVX512F__)
    using Native = std::conditional_t<N == 16, __mmask16, typename IntVector<N, Tag>::Native>;
#else
    using Native = typename IntVector<N, Tag>::Native;
#endif
    Native v;

    WEFT_ELEMENT friend bool any(MaskVector mask) {
#if defined(__AVX512F__)
        if constexpr (N == 16)
            return mask.v != 0;
        else
#endif
        {
            std::int32_t found = 0;
            for (int i = 0; i < N; ++i) found |= mask.v[i];
            return found != 0;
        }
    }
    WEFT_ELEMENT friend MaskVector operator&(MaskVector a, MaskVector b) { return {static_cast<Native>(a.v & b.v)}; }
    WEFT_ELEMENT friend MaskVector operator~(MaskVector a) { return {static_cast<Native>(~a.v)}; }
};

template <int N, class Tag>
struct FloatVector {
    using Native = typename NativeVector<N>::Floats;
    using Int = IntVector<N, Tag>;
    using Mask = MaskVector<N, Tag>;
    static constexpr int lanes = N;
    Native v;

    WEFT_ELEMENT static FloatVector all(float value) { return {Native{} + value}; }
    WEFT_ELEMENT static FloatVector load(const float* from) {
        FloatVector result;
        __builtin_memcpy(&result.v, from, sizeof result.v);
        return result;
    }
    WEFT_ELEMENT void store(float* to) const { __builtin_memcpy(to, &v, sizeof v); }

    WEFT_ELEMENT friend FloatVector operator+(FloatVector a, FloatVector b) { return {a.v + b.v}; }
    WEFT_ELEMENT friend FloatVector operator-(FloatVector a, FloatVector b) { return {a.v - b.v}; }
    WEFT_ELEMENT friend FloatVector operator*(FloatVector a, FloatVector b) { return {a.v * b.v}; }
    WEFT_ELEMENT friend FloatVector operator/(FloatVector a, FloatVector b) { return {a.v / b.v}; }
    WEFT_ELEMENT friend FloatVector operator-(FloatVector a) { return {-a.v}; }
    WEFT_ELEMENT friend FloatVector operator+(FloatVector a, float b) { return a + all(b); }
    WEFT_ELEMENT friend FloatVector operator-(FloatVector a, float b) { return a - all(b); }
    WEFT_ELEMENT friend FloatVector operator*(FloatVector a, float b) { return a * all(b); }

    WEFT_ELEMENT friend FloatVector fma(FloatVector a, FloatVector b, FloatVector c) {
#if defined(__AVX512F__)
        if constexpr (N == 16) return {(Native)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v)};
#endif
#if defined(__AVX2__) && defined(__FMA__)
        if constexpr (N == 8) return {(Native)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v)};
#endif
        for (int i = 0; i < N; ++i) c.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
        return c;
    }
    WEFT_ELEMENT friend FloatVector fma(FloatVector a, float b, FloatVector c) { return fma(a, all(b), c); }
    WEFT_ELEMENT friend FloatVector fma(FloatVector a, FloatVector b, float c) { return fma(a, b, all(c)); }

    WEFT_ELEMENT friend FloatVector sqrt(FloatVector a) {
#if defined(__AVX512F__)
        if constexpr (N == 16) return {(Native)_mm512_maskz_sqrt_ps(0xffff, (__m512)a.v)};
#endif
#if defined(__AVX2__) && defined(__FMA__)
        if constexpr (N == 8) return {(Native)_mm256_sqrt_ps((__m256)a.v)};
#endif
        for (int i = 0; i < N; ++i) a.v[i] = __builtin_sqrtf(a.v[i]);
        return a;
    }

#if defined(__AVX512F__)
#define WEFT_COMPARE(name, operation, predicate)                              \
    WEFT_ELEMENT friend Mask name(FloatVector a, FloatVector b) {             \
        if constexpr (N == 16)                                                \
            return {_mm512_cmp_ps_mask((__m512)a.v, (__m512)b.v, predicate)}; \
        else                                                                  \
            return {a.v operation b.v};                                       \
    }
#else
#define WEFT_COMPARE(name, operation, predicate) \
    WEFT_ELEMENT friend Mask name(FloatVector a, FloatVector b) { return {a.v operation b.v}; }
#endif
    WEFT_COMPARE(less, <, _CMP_LT_OQ)
    WEFT_COMPARE(equal, ==, _CMP_EQ_OQ)
#undef WEFT_COMPARE

    WEFT_ELEMENT friend FloatVector select(Mask mask, FloatVector yes, FloatVector no) {
#if defined(__AVX512F__)
        if constexpr (N == 16)
            return {(Native)_mm512_mask_blend_ps(mask.v, (__m512)no.v, (__m512)yes.v)};
        else
            return {mask.v ? yes.v : no.v};
#else
        return {mask.v ? yes.v : no.v};
#endif
    }
    /// The lesser (the greater) of x and a limit that is not 0; NaN stays.
    WEFT_ELEMENT friend FloatVector at_most(FloatVector x, float limit) {
#if defined(__AVX512F__)
        if constexpr (N == 16) return {(Native)_mm512_maskz_min_ps(0xffff, (__m512)all(limit).v, (__m512)x.v)};
#endif
        return select(less(all(limit), x), all(limit), x);
    }
    WEFT_ELEMENT friend FloatVector at_least(FloatVector x, float limit) {
#if defined(__AVX512F__)
        if constexpr (N == 16) return {(Native)_mm512_maskz_max_ps(0xffff, (__m512)all(limit).v, (__m512)x.v)};
#endif
        return select(less(x, all(limit)), all(limit), x);
    }

    WEFT_ELEMENT friend Int bits(FloatVector a) { return {(typename Int::Native)a.v}; }
    WEFT_ELEMENT static FloatVector from_bits(Int a) { return {(Native)a.v}; }

    /// a * 2^n, rounded once, for whole n in [-252, 252] given as `n`, and as the integer `i`; a in [0.5, 2) or NaN.
    WEFT_ELEMENT friend FloatVector scaled(FloatVector a, [[maybe_unused]] FloatVector n, [[maybe_unused]] Int i) {
#if defined(__AVX512F__)
        if constexpr (N == 16) return {(Native)_mm512_maskz_scalef_ps(0xffff, (__m512)a.v, (__m512)n.v)};
#endif
        Int half = i >> 1, rest = i - half;
        return a * from_bits((half + Int::all(127)) << 23) * from_bits((rest + Int::all(127)) << 23);
    }
};

}  // namespace weft
