// A vector of float or double of the instruction set that this source is compiled for, and the few operations that
// kernels need. Everything lies in the set's own namespace, so that no two sets share a symbol. Only for sources below
// isa/, which for the same reason use no templates of the standard library.
#pragma once

#include <cstdint>

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
#include <immintrin.h>
#endif

namespace weft::cpu::WEFT_ISA {

template <class T>
struct Vec;

#define WEFT_INLINE static inline __attribute__((always_inline))

#if defined(WEFT_ISA_avx512)

template <>
struct Vec<float> {
    using Type = __m512;
    static constexpr int lanes = 16;
    static __mmask16 mask(int count) { return static_cast<__mmask16>((1u << count) - 1u); }
    WEFT_INLINE Type zero() { return _mm512_setzero_ps(); }
    WEFT_INLINE Type all(float value) { return _mm512_set1_ps(value); }
    WEFT_INLINE Type load(const float* from) { return _mm512_loadu_ps(from); }
    WEFT_INLINE Type load(const float* from, int count) { return _mm512_maskz_loadu_ps(mask(count), from); }
    WEFT_INLINE void store(float* to, Type value) { _mm512_storeu_ps(to, value); }
    // Past the caches, where the set can; `to` is a multiple of the vector's size.
    WEFT_INLINE void store_past(float* to, Type value) { _mm512_stream_ps(to, value); }
    WEFT_INLINE void store(float* to, Type value, int count) { _mm512_mask_storeu_ps(to, mask(count), value); }
    WEFT_INLINE Type load_or(const float* from, int count, Type other) {
        return _mm512_mask_loadu_ps(other, mask(count), from);
    }
    WEFT_INLINE void store_pieces(float* to, Type value, int count) { store(to, value, count); }
    WEFT_INLINE Type fma(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
    WEFT_INLINE void add_product(Type& sum, Type a, Type b) { sum = fma(a, b, sum); }
    WEFT_INLINE Type add(Type a, Type b) { return _mm512_add_ps(a, b); }
    WEFT_INLINE Type divide(Type a, Type b) { return _mm512_div_ps(a, b); }
    // The greater one: `best` where they are equal or it is NaN, and a NaN that comes in its place.
    WEFT_INLINE Type joined_greatest(Type best, Type value) {
        return choose(ordered(all_lanes(), value, value), greater(value, best), value);
    }
    WEFT_INLINE Type subtract(Type a, Type b) { return _mm512_sub_ps(a, b); }
    WEFT_INLINE Type relu(Type a) { return _mm512_maskz_max_ps(0xffff, _mm512_setzero_ps(), a); }
    // The greater or lesser of two; b where one of them is NaN.
    WEFT_INLINE Type greater(Type a, Type b) { return _mm512_maskz_max_ps(0xffff, a, b); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm512_maskz_min_ps(0xffff, a, b); }
    // Lanes in which no NaN was met, as far as `so_far`.
    using Lanes = __mmask16;
    WEFT_INLINE Lanes all_lanes() { return static_cast<Lanes>(-1); }
    WEFT_INLINE Lanes ordered(Lanes so_far, Type a, Type b) {
        return _mm512_mask_cmp_ps_mask(so_far, a, b, _CMP_ORD_Q);
    }
    WEFT_INLINE bool all_of(Lanes some) { return some == all_lanes(); }
    // a in these lanes, b in the others.
    WEFT_INLINE Type choose(Lanes lanes, Type a, Type b) { return _mm512_mask_blend_ps(lanes, b, a); }
    // A bit for each lane in which a equals b.
    WEFT_INLINE std::uint64_t equal(Type a, Type b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
    // Lanes in which a equals b nowhere, as far as `so_far`.
    WEFT_INLINE Lanes differing(Lanes so_far, Type a, Type b) {
        return _mm512_mask_cmp_ps_mask(so_far, a, b, _CMP_NEQ_UQ);
    }
};

template <>
struct Vec<double> {
    using Type = __m512d;
    static constexpr int lanes = 8;
    static __mmask8 mask(int count) { return static_cast<__mmask8>((1u << count) - 1u); }
    WEFT_INLINE Type zero() { return _mm512_setzero_pd(); }
    WEFT_INLINE Type all(double value) { return _mm512_set1_pd(value); }
    WEFT_INLINE Type load(const double* from) { return _mm512_loadu_pd(from); }
    WEFT_INLINE Type load(const double* from, int count) { return _mm512_maskz_loadu_pd(mask(count), from); }
    WEFT_INLINE void store(double* to, Type value) { _mm512_storeu_pd(to, value); }
    WEFT_INLINE void store(double* to, Type value, int count) { _mm512_mask_storeu_pd(to, mask(count), value); }
    WEFT_INLINE Type load_or(const double* from, int count, Type other) {
        return _mm512_mask_loadu_pd(other, mask(count), from);
    }
    WEFT_INLINE void store_pieces(double* to, Type value, int count) { store(to, value, count); }
    WEFT_INLINE Type fma(Type a, Type b, Type c) { return _mm512_fmadd_pd(a, b, c); }
    WEFT_INLINE void add_product(Type& sum, Type a, Type b) { sum = fma(a, b, sum); }
    WEFT_INLINE Type add(Type a, Type b) { return _mm512_add_pd(a, b); }
    WEFT_INLINE Type relu(Type a) { return _mm512_maskz_max_pd(0xff, _mm512_setzero_pd(), a); }
    WEFT_INLINE Type greater(Type a, Type b) { return _mm512_maskz_max_pd(0xff, a, b); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm512_maskz_min_pd(0xff, a, b); }
    using Lanes = __mmask8;
    WEFT_INLINE Lanes all_lanes() { return static_cast<Lanes>(-1); }
    WEFT_INLINE Lanes ordered(Lanes so_far, Type a, Type b) {
        return _mm512_mask_cmp_pd_mask(so_far, a, b, _CMP_ORD_Q);
    }
    WEFT_INLINE bool all_of(Lanes some) { return some == all_lanes(); }
    WEFT_INLINE Type choose(Lanes lanes, Type a, Type b) { return _mm512_mask_blend_pd(lanes, b, a); }
    WEFT_INLINE std::uint64_t equal(Type a, Type b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
    WEFT_INLINE Lanes differing(Lanes so_far, Type a, Type b) {
        return _mm512_mask_cmp_pd_mask(so_far, a, b, _CMP_NEQ_UQ);
    }
};

/// Vectors of half the size, for the last columns of a product.
template <class T>
struct HalfVec;
template <>
struct HalfVec<float> {
    using Type = __m256;
    static constexpr int lanes = 8;
    static __mmask8 mask(int count) { return static_cast<__mmask8>((1u << count) - 1u); }
    WEFT_INLINE Type zero() { return _mm256_setzero_ps(); }
    WEFT_INLINE Type all(float value) { return _mm256_set1_ps(value); }
    WEFT_INLINE Type load(const float* from) { return _mm256_loadu_ps(from); }
    WEFT_INLINE Type load(const float* from, int count) { return _mm256_maskz_loadu_ps(mask(count), from); }
    WEFT_INLINE void store(float* to, Type value) { _mm256_storeu_ps(to, value); }
    WEFT_INLINE void store(float* to, Type value, int count) { _mm256_mask_storeu_ps(to, mask(count), value); }
    WEFT_INLINE Type fma(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
    WEFT_INLINE Type add(Type a, Type b) { return _mm256_add_ps(a, b); }
    WEFT_INLINE Type relu(Type a) { return _mm256_max_ps(_mm256_setzero_ps(), a); }
    WEFT_INLINE Type greater(Type a, Type b) { return _mm256_max_ps(a, b); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm256_min_ps(a, b); }
    using Lanes = __mmask8;
    WEFT_INLINE Lanes all_lanes() { return static_cast<Lanes>(-1); }
    WEFT_INLINE Lanes ordered(Lanes so_far, Type a, Type b) {
        return _mm256_mask_cmp_ps_mask(so_far, a, b, _CMP_ORD_Q);
    }
    WEFT_INLINE Type choose(Lanes lanes, Type a, Type b) { return _mm256_mask_blend_ps(lanes, b, a); }
};
template <>
struct HalfVec<double> {
    using Type = __m256d;
    static constexpr int lanes = 4;
    static __mmask8 mask(int count) { return static_cast<__mmask8>((1u << count) - 1u); }
    WEFT_INLINE Type zero() { return _mm256_setzero_pd(); }
    WEFT_INLINE Type all(double value) { return _mm256_set1_pd(value); }
    WEFT_INLINE Type load(const double* from) { return _mm256_loadu_pd(from); }
    WEFT_INLINE Type load(const double* from, int count) { return _mm256_maskz_loadu_pd(mask(count), from); }
    WEFT_INLINE void store(double* to, Type value) { _mm256_storeu_pd(to, value); }
    WEFT_INLINE void store(double* to, Type value, int count) { _mm256_mask_storeu_pd(to, mask(count), value); }
    WEFT_INLINE Type fma(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
    WEFT_INLINE Type add(Type a, Type b) { return _mm256_add_pd(a, b); }
    WEFT_INLINE Type relu(Type a) { return _mm256_max_pd(_mm256_setzero_pd(), a); }
    WEFT_INLINE Type greater(Type a, Type b) { return _mm256_max_pd(a, b); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm256_min_pd(a, b); }
    using Lanes = __mmask8;
    WEFT_INLINE Lanes all_lanes() { return static_cast<Lanes>(-1); }
    WEFT_INLINE Lanes ordered(Lanes so_far, Type a, Type b) {
        return _mm256_mask_cmp_pd_mask(so_far, a, b, _CMP_ORD_Q);
    }
    WEFT_INLINE Type choose(Lanes lanes, Type a, Type b) { return _mm256_mask_blend_pd(lanes, b, a); }
};

#elif defined(WEFT_ISA_avx2)

// A mask of the first `count` lanes is read from the middle of a row of ones and zeros.
static constexpr std::int32_t mask_row_32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static constexpr std::int64_t mask_row_64[8] = {-1, -1, -1, -1};

template <>
struct Vec<float> {
    using Type = __m256;
    static constexpr int lanes = 8;
    WEFT_INLINE __m256i mask(int count) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask_row_32 + 8 - count));
    }
    WEFT_INLINE Type zero() { return _mm256_setzero_ps(); }
    WEFT_INLINE Type all(float value) { return _mm256_set1_ps(value); }
    WEFT_INLINE Type load(const float* from) { return _mm256_loadu_ps(from); }
    WEFT_INLINE Type load(const float* from, int count) { return _mm256_maskload_ps(from, mask(count)); }
    WEFT_INLINE void store(float* to, Type value) { _mm256_storeu_ps(to, value); }
    WEFT_INLINE void store_past(float* to, Type value) { _mm256_stream_ps(to, value); }
    WEFT_INLINE void store(float* to, Type value, int count) { _mm256_maskstore_ps(to, mask(count), value); }
    // Of `other` what lies behind the first `count`.
    WEFT_INLINE Type load_or(const float* from, int count, Type other) {
        __m256i first = mask(count);
        return _mm256_blendv_ps(other, _mm256_maskload_ps(from, first), _mm256_castsi256_ps(first));
    }
    // As store, in pieces: for which a Zen 3 takes a few cycles, and twenty for a masked store.
    WEFT_INLINE void store_pieces(float* to, Type value, int count) {
        if (count == lanes) return store(to, value);
        __m128 low = _mm256_castps256_ps128(value);
        if (count & 4) _mm_storeu_ps(to, low), to += 4, low = _mm256_extractf128_ps(value, 1);
        if (count & 2) _mm_storel_pi(reinterpret_cast<__m64*>(to), low), to += 2, low = _mm_movehl_ps(low, low);
        if (count & 1) _mm_store_ss(to, low);
    }
    WEFT_INLINE Type fma(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
    // As fma, into the sum's own register: left to itself g++ 12 moves sums about in loops that it unrolls, and runs out of registers.
    WEFT_INLINE void add_product(Type& sum, Type a, Type b) {
        asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    }
    WEFT_INLINE Type add(Type a, Type b) { return _mm256_add_ps(a, b); }
    WEFT_INLINE Type divide(Type a, Type b) { return _mm256_div_ps(a, b); }
    // The greater one: `best` where they are equal or it is NaN, and a NaN that comes in its place.
    WEFT_INLINE Type joined_greatest(Type best, Type value) {
        return choose(ordered(all_lanes(), value, value), greater(value, best), value);
    }
    WEFT_INLINE Type subtract(Type a, Type b) { return _mm256_sub_ps(a, b); }
    WEFT_INLINE Type relu(Type a) { return _mm256_max_ps(_mm256_setzero_ps(), a); }
    WEFT_INLINE Type greater(Type a, Type b) { return _mm256_max_ps(a, b); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm256_min_ps(a, b); }
    using Lanes = Type;
    WEFT_INLINE Lanes all_lanes() { return ordered_with(zero(), zero()); }
    WEFT_INLINE Lanes ordered(Lanes so_far, Type a, Type b) { return _mm256_and_ps(so_far, ordered_with(a, b)); }
    WEFT_INLINE bool all_of(Lanes some) { return _mm256_movemask_ps(some) == 0xff; }
    WEFT_INLINE Type choose(Lanes lanes, Type a, Type b) { return _mm256_blendv_ps(b, a, lanes); }
    WEFT_INLINE std::uint64_t equal(Type a, Type b) {
        return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
    }
    WEFT_INLINE Lanes differing(Lanes so_far, Type a, Type b) {
        return _mm256_and_ps(so_far, _mm256_cmp_ps(a, b, _CMP_NEQ_UQ));
    }
    WEFT_INLINE Lanes ordered_with(Type a, Type b) { return _mm256_cmp_ps(a, b, _CMP_ORD_Q); }
};

template <>
struct Vec<double> {
    using Type = __m256d;
    static constexpr int lanes = 4;
    WEFT_INLINE __m256i mask(int count) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask_row_64 + 4 - count));
    }
    WEFT_INLINE Type zero() { return _mm256_setzero_pd(); }
    WEFT_INLINE Type all(double value) { return _mm256_set1_pd(value); }
    WEFT_INLINE Type load(const double* from) { return _mm256_loadu_pd(from); }
    WEFT_INLINE Type load(const double* from, int count) { return _mm256_maskload_pd(from, mask(count)); }
    WEFT_INLINE void store(double* to, Type value) { _mm256_storeu_pd(to, value); }
    WEFT_INLINE void store(double* to, Type value, int count) { _mm256_maskstore_pd(to, mask(count), value); }
    WEFT_INLINE Type load_or(const double* from, int count, Type other) {
        __m256i first = mask(count);
        return _mm256_blendv_pd(other, _mm256_maskload_pd(from, first), _mm256_castsi256_pd(first));
    }
    WEFT_INLINE void store_pieces(double* to, Type value, int count) {
        if (count == lanes) return store(to, value);
        __m128d low = _mm256_castpd256_pd128(value);
        if (count & 2) _mm_storeu_pd(to, low), to += 2, low = _mm256_extractf128_pd(value, 1);
        if (count & 1) _mm_store_sd(to, low);
    }
    WEFT_INLINE Type fma(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
    // As fma, into the sum's own register: left to itself g++ 12 moves sums about in loops that it unrolls, and runs out of registers.
    WEFT_INLINE void add_product(Type& sum, Type a, Type b) {
        asm("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    }
    WEFT_INLINE Type add(Type a, Type b) { return _mm256_add_pd(a, b); }
    WEFT_INLINE Type relu(Type a) { return _mm256_max_pd(_mm256_setzero_pd(), a); }
    WEFT_INLINE Type greater(Type a, Type b) { return _mm256_max_pd(a, b); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm256_min_pd(a, b); }
    using Lanes = Type;
    WEFT_INLINE Lanes all_lanes() { return ordered_with(zero(), zero()); }
    WEFT_INLINE Lanes ordered(Lanes so_far, Type a, Type b) { return _mm256_and_pd(so_far, ordered_with(a, b)); }
    WEFT_INLINE bool all_of(Lanes some) { return _mm256_movemask_pd(some) == 0xf; }
    WEFT_INLINE Type choose(Lanes lanes, Type a, Type b) { return _mm256_blendv_pd(b, a, lanes); }
    WEFT_INLINE std::uint64_t equal(Type a, Type b) {
        return static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)));
    }
    WEFT_INLINE Lanes differing(Lanes so_far, Type a, Type b) {
        return _mm256_and_pd(so_far, _mm256_cmp_pd(a, b, _CMP_NEQ_UQ));
    }
    WEFT_INLINE Lanes ordered_with(Type a, Type b) { return _mm256_cmp_pd(a, b, _CMP_ORD_Q); }
};

#else

// Four lanes in plain C++. Where the processor has no fused multiply-add, the C library's stands in: slow, and the same
// bits.
template <class T>
struct Vec {
    struct Type {
        T lane[4];
    };
    static constexpr int lanes = 4;
    WEFT_INLINE Type all(T value) { return {{value, value, value, value}}; }
    WEFT_INLINE Type zero() { return all(0); }
    WEFT_INLINE Type load(const T* from) { return {{from[0], from[1], from[2], from[3]}}; }
    WEFT_INLINE Type load(const T* from, int count) {
        Type value = zero();
        for (int i = 0; i < count; ++i) value.lane[i] = from[i];
        return value;
    }
    WEFT_INLINE void store(T* to, Type value) { store(to, value, lanes); }
    WEFT_INLINE void store_past(T* to, Type value) { store(to, value); }
    WEFT_INLINE void store(T* to, Type value, int count) {
        for (int i = 0; i < count; ++i) to[i] = value.lane[i];
    }
    WEFT_INLINE T fma_lane(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    WEFT_INLINE T fma_lane(double a, double b, double c) { return __builtin_fma(a, b, c); }
    WEFT_INLINE Type fma(Type a, Type b, Type c) {
        for (int i = 0; i < lanes; ++i) c.lane[i] = fma_lane(a.lane[i], b.lane[i], c.lane[i]);
        return c;
    }
    WEFT_INLINE void add_product(Type& sum, Type a, Type b) { sum = fma(a, b, sum); }
    WEFT_INLINE Type add(Type a, Type b) {
        for (int i = 0; i < lanes; ++i) a.lane[i] += b.lane[i];
        return a;
    }
    WEFT_INLINE Type subtract(Type a, Type b) {
        for (int i = 0; i < lanes; ++i) a.lane[i] -= b.lane[i];
        return a;
    }
    WEFT_INLINE Type divide(Type a, Type b) {
        for (int i = 0; i < lanes; ++i) a.lane[i] /= b.lane[i];
        return a;
    }
    // The greater one: `best` where they are equal or it is NaN, and a NaN that comes in its place.
    WEFT_INLINE Type joined_greatest(Type best, Type value) {
        for (int i = 0; i < lanes; ++i)
            if ((value.lane[i] > best.lane[i]) | (value.lane[i] != value.lane[i])) best.lane[i] = value.lane[i];
        return best;
    }
    WEFT_INLINE Type relu(Type a) {
        for (int i = 0; i < lanes; ++i) a.lane[i] = a.lane[i] < 0 ? 0 : a.lane[i];
        return a;
    }
    WEFT_INLINE Type greater(Type a, Type b) {
        for (int i = 0; i < lanes; ++i) b.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
        return b;
    }
    WEFT_INLINE Type lesser(Type a, Type b) {
        for (int i = 0; i < lanes; ++i) b.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
        return b;
    }
    using Lanes = bool;
    WEFT_INLINE Lanes all_lanes() { return true; }
    WEFT_INLINE Lanes ordered(Lanes so_far, Type a, Type b) {
        for (int i = 0; i < lanes; ++i) so_far = so_far & (a.lane[i] == a.lane[i]) & (b.lane[i] == b.lane[i]);
        return so_far;
    }
    WEFT_INLINE Lanes differing(Lanes so_far, Type a, Type b) {
        for (int i = 0; i < lanes; ++i) so_far &= a.lane[i] != b.lane[i];
        return so_far;
    }
    WEFT_INLINE bool all_of(Lanes some) { return some; }
    WEFT_INLINE std::uint64_t equal(Type a, Type b) {
        std::uint64_t bits = 0;
        for (int i = 0; i < lanes; ++i) bits |= static_cast<std::uint64_t>(a.lane[i] == b.lane[i]) << i;
        return bits;
    }
};

#endif

}  // namespace weft::cpu::WEFT_ISA
