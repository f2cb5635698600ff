// N numbers of type float or double side by side, with the few operations that kernel/elementary/ needs, each the same bits for
// every N and every instruction set. Tag is a type of the including file: it keeps the lanes of different instruction sets apart
// in one program. Everything is inlined by force. Callers: kernel/function.cpp (N = 1), backend/cpu/isa/ (as wide as the
// registers). kernel/recorded.h has the same operations.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/base/unsigned_of.h"
#include "weft/kernel/element.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace weft {

/// Of numbers below 16, times 2 to less than this nothing is left of the format.
template <class T>
inline constexpr T least_exponent = sizeof(T) == 4 ? -154 : -1079;

/// The compiler's vector types (an attribute that depends on a template's parameter is lost on g++ 12). Comparisons give Signed.
template <class T, int N>
struct NativeLanes;
#define WEFT_NATIVE(T, bits, N)                                                       \
    template <>                                                                       \
    struct NativeLanes<T, N> {                                                        \
        typedef T Floats __attribute__((vector_size(bits / 8 * N)));                  \
        typedef std::uint##bits##_t Ints __attribute__((vector_size(bits / 8 * N)));  \
        typedef std::int##bits##_t Signed __attribute__((vector_size(bits / 8 * N))); \
    };
WEFT_NATIVE(float, 32, 1)
WEFT_NATIVE(float, 32, 4)
WEFT_NATIVE(float, 32, 8)
WEFT_NATIVE(float, 32, 16)
WEFT_NATIVE(double, 64, 1)
WEFT_NATIVE(double, 64, 2)
WEFT_NATIVE(double, 64, 4)
WEFT_NATIVE(double, 64, 8)
#undef WEFT_NATIVE

/// Whether the lanes fill a register of AVX-512, whose comparisons give a mask of bits, or one of AVX2.
#if defined(__AVX512F__)
template <class T, int N>
inline constexpr bool fills_512 = sizeof(T) * N == 64;
#else
template <class T, int N>
inline constexpr bool fills_512 = false;
#endif
#if defined(__AVX2__) && defined(__FMA__)
template <class T, int N>
inline constexpr bool fills_256 = sizeof(T) * N == 32;
#endif

/// True or false a lane.
template <class T, int N, class Tag>
struct MaskLanes {
    template <bool bits, class = void>
    struct Kind {
        using Type = typename NativeLanes<T, N>::Signed;
    };
    template <class Void>
    struct Kind<true, Void> {
        using Type = std::conditional_t<N == 16, std::uint16_t, std::uint8_t>;
    };
    using Native = typename Kind<fills_512<T, N>>::Type;
    Native v;

    WEFT_ELEMENT friend bool any(MaskLanes mask) {
        if constexpr (fills_512<T, N>) {
            return mask.v != 0;
        } else {
            std::int64_t found = 0;
            for (int i = 0; i < N; ++i) found |= mask.v[i];
            return found != 0;
        }
    }
    WEFT_ELEMENT friend MaskLanes operator&(MaskLanes a, MaskLanes b) { return {static_cast<Native>(a.v & b.v)}; }
    WEFT_ELEMENT friend MaskLanes operator|(MaskLanes a, MaskLanes b) { return {static_cast<Native>(a.v | b.v)}; }
    WEFT_ELEMENT friend MaskLanes operator^(MaskLanes a, MaskLanes b) { return {static_cast<Native>(a.v ^ b.v)}; }
    WEFT_ELEMENT friend MaskLanes operator~(MaskLanes a) { return {static_cast<Native>(~a.v)}; }
};

/// Unsigned integers as wide as T: they wrap, and shifts to the right bring in zeros.
template <class T, int N, class Tag>
struct IntLanes {
    using Element = UnsignedOf<sizeof(T)>;
    using Native = typename NativeLanes<T, N>::Ints;
    using Mask = MaskLanes<T, N, Tag>;
    Native v;

    WEFT_ELEMENT static IntLanes all(Element value) { return {Native{} + value}; }
    WEFT_ELEMENT friend IntLanes operator+(IntLanes a, IntLanes b) { return {a.v + b.v}; }
    WEFT_ELEMENT friend IntLanes operator-(IntLanes a, IntLanes b) { return {a.v - b.v}; }
    WEFT_ELEMENT friend IntLanes operator*(IntLanes a, IntLanes b) { return {a.v * b.v}; }
    WEFT_ELEMENT friend IntLanes operator&(IntLanes a, IntLanes b) { return {a.v & b.v}; }
    WEFT_ELEMENT friend IntLanes operator|(IntLanes a, IntLanes b) { return {a.v | b.v}; }
    WEFT_ELEMENT friend IntLanes operator^(IntLanes a, IntLanes b) { return {a.v ^ b.v}; }
    WEFT_ELEMENT friend IntLanes operator<<(IntLanes a, IntLanes bits) { return {a.v << bits.v}; }
    WEFT_ELEMENT friend IntLanes operator<<(IntLanes a, int bits) { return {a.v << bits}; }
    WEFT_ELEMENT friend IntLanes operator>>(IntLanes a, int bits) { return {a.v >> bits}; }

    WEFT_ELEMENT friend Mask equal(IntLanes a, IntLanes b) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4)
            return {_mm512_cmpeq_epi32_mask((__m512i)a.v, (__m512i)b.v)};
        else if constexpr (fills_512<T, N>)
            return {_mm512_cmpeq_epi64_mask((__m512i)a.v, (__m512i)b.v)};
        else
#endif
            return {a.v == b.v};
    }
    WEFT_ELEMENT friend IntLanes select(Mask mask, IntLanes yes, IntLanes no) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4)
            return {(Native)_mm512_mask_blend_epi32(mask.v, (__m512i)no.v, (__m512i)yes.v)};
        else if constexpr (fills_512<T, N>)
            return {(Native)_mm512_mask_blend_epi64(mask.v, (__m512i)no.v, (__m512i)yes.v)};
        else
#endif
            return {mask.v ? yes.v : no.v};
    }
};

template <class T, int N, class Tag>
struct Lanes {
    using Element = T;
    using Native = typename NativeLanes<T, N>::Floats;
    using Int = IntLanes<T, N, Tag>;
    using Mask = MaskLanes<T, N, Tag>;
    static constexpr int lanes = N;
    Native v;

    WEFT_ELEMENT static Lanes all(T value) { return {value - Native{}}; }  // 0 + -0.0 would be 0.0
    WEFT_ELEMENT static Lanes load(const T* from) {
        Lanes result;
        __builtin_memcpy(&result.v, from, sizeof result.v);
        return result;
    }
    WEFT_ELEMENT void store(T* to) const { __builtin_memcpy(to, &v, sizeof v); }
    WEFT_ELEMENT friend Int bits(Lanes a) { return {(typename Int::Native)a.v}; }
    WEFT_ELEMENT static Lanes from_bits(Int a) { return {(Native)a.v}; }

    WEFT_ELEMENT friend Lanes operator+(Lanes a, Lanes b) { return {a.v + b.v}; }
    WEFT_ELEMENT friend Lanes operator-(Lanes a, Lanes b) { return {a.v - b.v}; }
    WEFT_ELEMENT friend Lanes operator*(Lanes a, Lanes b) { return {a.v * b.v}; }
    WEFT_ELEMENT friend Lanes operator/(Lanes a, Lanes b) { return {a.v / b.v}; }
    WEFT_ELEMENT friend Lanes operator-(Lanes a) { return {-a.v}; }

    WEFT_ELEMENT friend Lanes fma(Lanes a, Lanes b, Lanes c) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4)
            return {(Native)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v)};
        if constexpr (fills_512<T, N> && sizeof(T) == 8)
            return {(Native)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v)};
#endif
#if defined(__AVX2__) && defined(__FMA__)
        if constexpr (fills_256<T, N> && sizeof(T) == 4)
            return {(Native)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v)};
        if constexpr (fills_256<T, N> && sizeof(T) == 8)
            return {(Native)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v)};
#endif
        for (int i = 0; i < N; ++i) c.v[i] = element::fused(T(a.v[i]), T(b.v[i]), T(c.v[i]));
        return c;
    }

    WEFT_ELEMENT friend Lanes sqrt(Lanes a) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4) return {(Native)_mm512_maskz_sqrt_ps(0xffff, (__m512)a.v)};
        if constexpr (fills_512<T, N> && sizeof(T) == 8) return {(Native)_mm512_maskz_sqrt_pd(0xff, (__m512d)a.v)};
#endif
#if defined(__AVX2__) && defined(__FMA__)
        if constexpr (fills_256<T, N> && sizeof(T) == 4) return {(Native)_mm256_sqrt_ps((__m256)a.v)};
        if constexpr (fills_256<T, N> && sizeof(T) == 8) return {(Native)_mm256_sqrt_pd((__m256d)a.v)};
#endif
        for (int i = 0; i < N; ++i) a.v[i] = element::square_root(T(a.v[i]));
        return a;
    }

#if defined(__AVX512F__)
#define WEFT_COMPARE(name, operation, predicate)                                \
    WEFT_ELEMENT friend Mask name(Lanes a, Lanes b) {                           \
        if constexpr (fills_512<T, N> && sizeof(T) == 4)                        \
            return {_mm512_cmp_ps_mask((__m512)a.v, (__m512)b.v, predicate)};   \
        else if constexpr (fills_512<T, N>)                                     \
            return {_mm512_cmp_pd_mask((__m512d)a.v, (__m512d)b.v, predicate)}; \
        else                                                                    \
            return {a.v operation b.v};                                         \
    }
#else
#define WEFT_COMPARE(name, operation, predicate) \
    WEFT_ELEMENT friend Mask name(Lanes a, Lanes b) { return {a.v operation b.v}; }
#endif
    WEFT_COMPARE(less, <, _CMP_LT_OQ)
    WEFT_COMPARE(equal, ==, _CMP_EQ_OQ)
#undef WEFT_COMPARE

    WEFT_ELEMENT friend Lanes select(Mask mask, Lanes yes, Lanes no) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4)
            return {(Native)_mm512_mask_blend_ps(mask.v, (__m512)no.v, (__m512)yes.v)};
        else if constexpr (fills_512<T, N>)
            return {(Native)_mm512_mask_blend_pd(mask.v, (__m512d)no.v, (__m512d)yes.v)};
        else
#endif
            return {mask.v ? yes.v : no.v};
    }
    /// The lesser (the greater) of x and a limit that is not 0; NaN stays.
    WEFT_ELEMENT friend Lanes at_most(Lanes x, T limit) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4)
            return {(Native)_mm512_maskz_min_ps(0xffff, (__m512)all(limit).v, (__m512)x.v)};
        if constexpr (fills_512<T, N> && sizeof(T) == 8)
            return {(Native)_mm512_maskz_min_pd(0xff, (__m512d)all(limit).v, (__m512d)x.v)};
#endif
        return select(less(all(limit), x), all(limit), x);
    }
    WEFT_ELEMENT friend Lanes at_least(Lanes x, T limit) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4)
            return {(Native)_mm512_maskz_max_ps(0xffff, (__m512)all(limit).v, (__m512)x.v)};
        if constexpr (fills_512<T, N> && sizeof(T) == 8)
            return {(Native)_mm512_maskz_max_pd(0xff, (__m512d)all(limit).v, (__m512d)x.v)};
#endif
        return select(less(x, all(limit)), all(limit), x);
    }

    /// Whether scaled_by is an instruction.
    static constexpr bool scales_by_instruction() { return fills_512<T, N>; }
    /// at_most(x, limit), at_least(x, limit) of what a power of two will be made of, by scaled_by: where that is an instruction, x itself.
    WEFT_ELEMENT friend Lanes at_most_in_steps(Lanes x, [[maybe_unused]] T limit) {
        if constexpr (fills_512<T, N>)
            return x;
        else
            return at_most(x, limit);
    }
    WEFT_ELEMENT friend Lanes at_least_in_steps(Lanes x, [[maybe_unused]] T limit) {
        if constexpr (fills_512<T, N>)
            return x;
        else
            return at_least(x, limit);
    }

    /// a * 2^n, rounded once: |a| is 0, NaN or in [2^(1 - digits), 16), n a whole number, a * 2^n no more than 2^(bias + 3), and a positive
    /// where that rounds to 0. `steps` does it where there is no instruction; with one, n may be as large as it likes and a any positive
    /// number, or NaN where n is infinite: infinity comes out. Where n is so small that nothing is left, lanes are left out, whatever a is, for over a
    /// result that underflows Intel's processors think for 75 ns (attention whose future is masked took three times as long).
    template <class Steps>
    WEFT_ELEMENT friend Lanes scaled_by(Lanes a, [[maybe_unused]] Lanes n, [[maybe_unused]] Steps steps) {
#if defined(__AVX512F__)
        if constexpr (fills_512<T, N> && sizeof(T) == 4)
            return {(Native)_mm512_maskz_scalef_ps(
                _mm512_cmp_ps_mask((__m512)n.v, (__m512)all(least_exponent<T>).v, _CMP_NLT_UQ), (__m512)a.v,
                (__m512)n.v)};
        else if constexpr (fills_512<T, N>)
            return {(Native)_mm512_maskz_scalef_pd(
                _mm512_cmp_pd_mask((__m512d)n.v, (__m512d)all(least_exponent<T>).v, _CMP_NLT_UQ), (__m512d)a.v,
                (__m512d)n.v)};
        else
#endif
            return steps(a, n);
    }
};

}  // namespace weft
