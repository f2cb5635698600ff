// Vectors of complex numbers, real and imaginary parts apart: their arithmetic, how they lie in memory, squares of
// them turned. In the vectors of the compilers' own language, so that one text serves all sets. Included by sources of isa/.
#pragma once

#include <cstdint>

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
#include <immintrin.h>
#endif

#include "weft/backend/cpu/isa/vector.h"
#include "weft/backend/cpu/isa/vector_bytes.h"

namespace weft::cpu::WEFT_ISA {

/// Of float and of double: the vector, and the shuffles, whose places compilers want as numbers.
template <class R>
struct ComplexLane;

#define WEFT_COMPLEX_LANE(R)                                             \
    typedef R Vector __attribute__((vector_size(vector_bytes)));         \
    typedef Vector Loose __attribute__((aligned(sizeof(R)), may_alias)); \
    static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(R));
// Each second of the numbers of two vectors, from the first or the second on; the lower or upper halves of two vectors, in turns;
// a vector backwards; neighbours
// exchanged.
#define WEFT_COMPLEX_SHUFFLES(even, odd, low, high, back, near)                                            \
    WEFT_INLINE Vector evens(Vector a, Vector b) { return __builtin_shufflevector(a, b, WEFT_LIST even); } \
    WEFT_INLINE Vector odds(Vector a, Vector b) { return __builtin_shufflevector(a, b, WEFT_LIST odd); }   \
    WEFT_INLINE Vector lows(Vector a, Vector b) { return __builtin_shufflevector(a, b, WEFT_LIST low); }   \
    WEFT_INLINE Vector highs(Vector a, Vector b) { return __builtin_shufflevector(a, b, WEFT_LIST high); } \
    WEFT_INLINE Vector backwards(Vector a) { return __builtin_shufflevector(a, a, WEFT_LIST back); }       \
    WEFT_INLINE Vector neighbours(Vector a) { return __builtin_shufflevector(a, a, WEFT_LIST near); }
#define WEFT_LIST(...) __VA_ARGS__
#define WEFT_COMPLEX_SHUFFLES_OF_2 WEFT_COMPLEX_SHUFFLES((0, 2), (1, 3), (0, 2), (1, 3), (1, 0), (1, 0))
#define WEFT_COMPLEX_SHUFFLES_OF_4 \
    WEFT_COMPLEX_SHUFFLES((0, 2, 4, 6), (1, 3, 5, 7), (0, 4, 1, 5), (2, 6, 3, 7), (3, 2, 1, 0), (1, 0, 3, 2))
#define WEFT_COMPLEX_SHUFFLES_OF_8                                                                              \
    WEFT_COMPLEX_SHUFFLES((0, 2, 4, 6, 8, 10, 12, 14), (1, 3, 5, 7, 9, 11, 13, 15), (0, 8, 1, 9, 2, 10, 3, 11), \
                          (4, 12, 5, 13, 6, 14, 7, 15), (7, 6, 5, 4, 3, 2, 1, 0), (1, 0, 3, 2, 5, 4, 7, 6))
#define WEFT_COMPLEX_SHUFFLES_OF_16                                                       \
    WEFT_COMPLEX_SHUFFLES((0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),    \
                          (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31),    \
                          (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),       \
                          (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), \
                          (15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),         \
                          (1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14))

template <>
struct ComplexLane<float> {
    WEFT_COMPLEX_LANE(float)
#if defined(WEFT_ISA_avx512)
    WEFT_COMPLEX_SHUFFLES_OF_16
    WEFT_INLINE Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
    WEFT_INLINE Vector fnma(Vector a, Vector b, Vector c) { return _mm512_fnmadd_ps(a, b, c); }
#elif defined(WEFT_ISA_avx2)
    WEFT_COMPLEX_SHUFFLES_OF_8
    WEFT_INLINE Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
    WEFT_INLINE Vector fnma(Vector a, Vector b, Vector c) { return _mm256_fnmadd_ps(a, b, c); }
#else
    WEFT_COMPLEX_SHUFFLES_OF_4
    WEFT_INLINE Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
    WEFT_INLINE Vector fnma(Vector a, Vector b, Vector c) { return c - a * b; }
#endif
};

template <>
struct ComplexLane<double> {
    WEFT_COMPLEX_LANE(double)
#if defined(WEFT_ISA_avx512)
    WEFT_COMPLEX_SHUFFLES_OF_8
    WEFT_INLINE Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
    WEFT_INLINE Vector fnma(Vector a, Vector b, Vector c) { return _mm512_fnmadd_pd(a, b, c); }
#elif defined(WEFT_ISA_avx2)
    WEFT_COMPLEX_SHUFFLES_OF_4
    WEFT_INLINE Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
    WEFT_INLINE Vector fnma(Vector a, Vector b, Vector c) { return _mm256_fnmadd_pd(a, b, c); }
#else
    WEFT_COMPLEX_SHUFFLES_OF_2
    WEFT_INLINE Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
    WEFT_INLINE Vector fnma(Vector a, Vector b, Vector c) { return c - a * b; }
#endif
};

#undef WEFT_COMPLEX_LANE
#undef WEFT_COMPLEX_SHUFFLES
#undef WEFT_COMPLEX_SHUFFLES_OF_2
#undef WEFT_COMPLEX_SHUFFLES_OF_4
#undef WEFT_COMPLEX_SHUFFLES_OF_8
#undef WEFT_COMPLEX_SHUFFLES_OF_16
#undef WEFT_LIST

template <class R>
struct ComplexVectors : ComplexLane<R> {
    using Lane = ComplexLane<R>;
    using Vector = typename Lane::Vector;
    using Lane::lanes, Lane::fma, Lane::fnma, Lane::evens, Lane::odds, Lane::lows, Lane::highs, Lane::backwards,
        Lane::neighbours;

    struct Point {
        Vector re, im;
        WEFT_INLINE Point sum(Point a, Point b) { return {a.re + b.re, a.im + b.im}; }
        WEFT_INLINE Point difference(Point a, Point b) { return {a.re - b.re, a.im - b.im}; }
        WEFT_INLINE Point turned(Point a) { return {a.im, -a.re}; }  // times -i
    };
    static constexpr int numbers = 2 * lanes;  // of a Point

    WEFT_INLINE Vector all(R value) { return value - Vector{}; }
    WEFT_INLINE Vector load(const R* from) { return *reinterpret_cast<const typename Lane::Loose*>(from); }
    WEFT_INLINE void store(R* to, Vector value) { *reinterpret_cast<typename Lane::Loose*>(to) = value; }

    WEFT_INLINE Point load_parts(const R* from) { return {load(from), load(from + lanes)}; }
    WEFT_INLINE void store_parts(R* to, Point x) { store(to, x.re), store(to + lanes, x.im); }
    WEFT_INLINE Point load_pairs(const R* from) {
        Vector a = load(from), b = load(from + lanes);
        return {evens(a, b), odds(a, b)};
    }
    WEFT_INLINE void store_pairs(R* to, Point x) { store(to, lows(x.re, x.im)), store(to + lanes, highs(x.re, x.im)); }
    /// The first `count` lanes.
    WEFT_INLINE Point load_pairs(const R* from, std::int64_t count) {
        if (count >= lanes) return load_pairs(from);
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        int first = static_cast<int>(2 * count < lanes ? 2 * count : lanes),
            second = static_cast<int>(2 * count) - first;
        Vector a = Vec<R>::load(from, first), b = Vec<R>::load(from + first, second);
        return {evens(a, b), odds(a, b)};
#else
        R pairs[numbers] = {};
        for (std::int64_t i = 0; i < 2 * count; ++i) pairs[i] = from[i];
        return load_pairs(pairs);
#endif
    }
    WEFT_INLINE void store_pairs(R* to, Point x, std::int64_t count) {
        if (count >= lanes) return store_pairs(to, x);
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        int first = static_cast<int>(2 * count < lanes ? 2 * count : lanes),
            second = static_cast<int>(2 * count) - first;
        Vec<R>::store(to, lows(x.re, x.im), first), Vec<R>::store(to + first, highs(x.re, x.im), second);
#else
        R pairs[numbers];
        store_pairs(pairs, x);
        for (std::int64_t i = 0; i < 2 * count; ++i) to[i] = pairs[i];
#endif
    }

    WEFT_INLINE Point times(Point x, Vector re, Vector im) {
        return {fnma(x.im, im, x.re * re), fma(x.re, im, x.im * re)};
    }
    WEFT_INLINE Point times(Point x, const R* factor) { return times(x, all(factor[0]), all(factor[1])); }
    WEFT_INLINE Point exchanged(Point x, bool exchange) { return exchange ? Point{x.im, x.re} : x; }

    /// Rows become columns.
    WEFT_INLINE void turn(Vector* rows) {
#pragma GCC unroll 8
        for (int stage = 1; stage < lanes; stage *= 2) {
            Vector turned[lanes];
#pragma GCC unroll 16
            for (int i = 0; i < lanes / 2; ++i) {
                turned[2 * i] = lows(rows[i], rows[i + lanes / 2]);
                turned[2 * i + 1] = highs(rows[i], rows[i + lanes / 2]);
            }
#pragma GCC unroll 16
            for (int i = 0; i < lanes; ++i) rows[i] = turned[i];
        }
    }
};

}  // namespace weft::cpu::WEFT_ISA
