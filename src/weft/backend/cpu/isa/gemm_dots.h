// Inner products of rows with few vectors, each in 64 lanes joined by halves. As many rows as a vector has lanes are joined at once: halves of
// two rows beside each other in one vector, then of four, and so on. Included by isa/gemm.cpp.
#pragma once

#include <utility>

#include "weft/backend/cpu/isa/gemm_tile.h"

namespace weft::cpu::WEFT_ISA {
namespace {

constexpr int all_lanes = 64;

// Masked, with all lanes, where g++ 12 takes the operand that its own headers leave undefined for one of ours.
// Two vectors of rows as one: of each group of lanes that belongs to a row, the lower half joined with the upper. `step` counts from the
// widest on.
#if defined(WEFT_ISA_avx512)
template <int step>
WEFT_INLINE __m512 join_halves(__m512 x, __m512 y) {
    if constexpr (step == 0)
        return _mm512_add_ps(_mm512_maskz_shuffle_f32x4(0xffff, x, y, 0x44),
                             _mm512_maskz_shuffle_f32x4(0xffff, x, y, 0xee));
    if constexpr (step == 1)
        return _mm512_add_ps(_mm512_maskz_shuffle_f32x4(0xffff, x, y, 0x88),
                             _mm512_maskz_shuffle_f32x4(0xffff, x, y, 0xdd));
    if constexpr (step == 2)
        return _mm512_add_ps(_mm512_maskz_shuffle_ps(0xffff, x, y, 0x44), _mm512_maskz_shuffle_ps(0xffff, x, y, 0xee));
    return _mm512_add_ps(_mm512_maskz_shuffle_ps(0xffff, x, y, 0x88), _mm512_maskz_shuffle_ps(0xffff, x, y, 0xdd));
}
template <int step>
WEFT_INLINE __m512d join_halves(__m512d x, __m512d y) {
    if constexpr (step == 0)
        return _mm512_add_pd(_mm512_maskz_shuffle_f64x2(0xff, x, y, 0x44),
                             _mm512_maskz_shuffle_f64x2(0xff, x, y, 0xee));
    if constexpr (step == 1)
        return _mm512_add_pd(_mm512_maskz_shuffle_f64x2(0xff, x, y, 0x88),
                             _mm512_maskz_shuffle_f64x2(0xff, x, y, 0xdd));
    return _mm512_add_pd(_mm512_maskz_unpacklo_pd(0xff, x, y), _mm512_maskz_unpackhi_pd(0xff, x, y));
}
#elif defined(WEFT_ISA_avx2)
template <int step>
WEFT_INLINE __m256 join_halves(__m256 x, __m256 y) {
    if constexpr (step == 0)
        return _mm256_add_ps(_mm256_permute2f128_ps(x, y, 0x20), _mm256_permute2f128_ps(x, y, 0x31));
    if constexpr (step == 1) return _mm256_add_ps(_mm256_shuffle_ps(x, y, 0x44), _mm256_shuffle_ps(x, y, 0xee));
    return _mm256_add_ps(_mm256_shuffle_ps(x, y, 0x88), _mm256_shuffle_ps(x, y, 0xdd));
}
template <int step>
WEFT_INLINE __m256d join_halves(__m256d x, __m256d y) {
    if constexpr (step == 0)
        return _mm256_add_pd(_mm256_permute2f128_pd(x, y, 0x20), _mm256_permute2f128_pd(x, y, 0x31));
    return _mm256_add_pd(_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y));
}
#endif

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
template <class V, int count, int step>
WEFT_INLINE typename V::Type fold(typename V::Type* rows) {
    if constexpr (count == 1) {
        return rows[0];
    } else {
        for (int i = 0; i < count / 2; ++i) rows[i] = join_halves<step>(rows[2 * i], rows[2 * i + 1]);
        return fold<V, count / 2, step + 1>(rows);
    }
}

/// Numbers in the order of rows: of what was folded, row `parts` * i + j is number i of part j.
#if defined(WEFT_ISA_avx512)
WEFT_INLINE __m512 in_order(__m512 folded) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_maskz_permutexvar_ps(0xffff, order, folded);
}
WEFT_INLINE __m512d in_order(__m512d folded) {
    return _mm512_maskz_permutexvar_pd(0xff, _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), folded);
}
#else
WEFT_INLINE __m256 in_order(__m256 folded) {
    return _mm256_permutevar8x32_ps(folded, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
WEFT_INLINE __m256d in_order(__m256d folded) { return _mm256_permute4x64_pd(folded, 0xd8); }
#endif

/// A vector's lanes of as many rows, joined to one number a row.
template <class T>
WEFT_INLINE void fold_rows(T* to, typename Vec<T>::Type* rows, int count) {
    using V = Vec<T>;
    typename V::Type folded = in_order(fold<V, V::lanes, 0>(rows));
    count == V::lanes ? V::store(to, folded) : V::store(to, folded, count);
}
#else
template <class T>
WEFT_INLINE void fold_rows(T* to, typename Vec<T>::Type* rows, int count) {
    constexpr int lanes = Vec<T>::lanes;
    for (int row = 0; row < count; ++row) {
        T across[lanes];
        Vec<T>::store(across, rows[row]);
        for (int half = lanes / 2; half > 0; half /= 2)
            for (int lane = 0; lane < half; ++lane) across[lane] += across[lane + half];
        to[row] = across[0];
    }
}
#endif

// Not in each of many callers, of whose code it would be a third.
template <class T>
[[gnu::noinline]] void fold_short_rows(T* to, typename Vec<T>::Type* rows, int count) {
    fold_rows<T>(to, rows, count);
}

/// The first `used` vectors of a row's `wide` lanes as one; in the others are zeros. Without a loop, so that they stay in registers.
template <class T, int used, int half>
WEFT_INLINE void join_vectors(typename Vec<T>::Type* sums) {
    if constexpr (half > 0) {
        constexpr int joined = used <= half ? 0 : used - half < half ? used - half : half;
        [&]<int... v>(std::integer_sequence<int, v...>) __attribute__((always_inline)) {
            ((sums[v] = Vec<T>::add(sums[v], sums[v + half])), ...);
        }
        (std::make_integer_sequence<int, joined>());
        join_vectors<T, used, half / 2>(sums);
    }
}
template <class T, int used, int wide = all_lanes>
WEFT_INLINE typename Vec<T>::Type as_one(typename Vec<T>::Type* sums) {
    join_vectors<T, used, wide / Vec<T>::lanes / 2>(sums);
    return sums[0];
}

/// The `wide` lanes of each of `rows` rows with each of `columns` vectors, as one vector: to[i * columns + j]. What is loaded of a serves all columns,
/// of b all rows.
template <class T, int wide, int rows, int columns>
WEFT_INLINE void lanes_of(typename Vec<T>::Type* to, const T* a, std::int64_t row, const T* b, std::int64_t step,
                          std::int64_t k) {
    using V = Vec<T>;
    constexpr int vectors = wide / V::lanes;
    typename V::Type sums[rows][columns][vectors];
    for (auto& of_row : sums)
        for (auto& of_column : of_row)
            for (auto& sum : of_column) sum = V::zero();
    // Where rows are read side by side a processor does not see what comes: the next ones are asked for, unless they are so long that they would be gone
    // again (20,000 x 300 floats by 2 columns on a Zen 4: 0.25 to 0.5 of the time).
    constexpr std::int64_t near = 12 * 1024;
    std::int64_t p = 0, bytes = rows * row * static_cast<std::int64_t>(sizeof(T));
    const auto ahead = static_cast<std::uintptr_t>(bytes <= near ? bytes : 0);
    auto join = [&](int v, auto load) __attribute__((always_inline)) {
        typename V::Type from_b[columns];
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j) from_b[j] = load(b + j * step);
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
            typename V::Type from_a = load(a + i * row);
            auto here = reinterpret_cast<std::uintptr_t>(a + i * row + p + v * V::lanes);
            if (columns > 1) __builtin_prefetch(reinterpret_cast<const void*>(here + ahead));
#pragma GCC unroll 4
            for (int j = 0; j < columns; ++j) sums[i][j][v] = V::fma(from_a, from_b[j], sums[i][j][v]);
        }
    };
    for (; p + wide <= k; p += wide) {
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v)
            join(
                v, [&](const T* from) __attribute__((always_inline)) { return V::load(from + p + v * V::lanes); });
    }
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v, p += V::lanes) {  // unrolled, so that all sums keep their registers
        if (p >= k) break;
        int count = k - p < V::lanes ? static_cast<int>(k - p) : V::lanes;
        join(
            v, [&](const T* from) __attribute__((always_inline)) { return V::load(from + p, count); });
    }
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) to[i * columns + j] = as_one<T, vectors, wide>(sums[i][j]);
}

/// Up to as many rows as a vector has lanes, of so few numbers that b stays in `used` vectors.
template <class T, int used>
void dots_of_short_rows(T* to, const T* a, std::int64_t row, const T* b, int last, int rows) {
    using V = Vec<T>;
    constexpr int vectors = all_lanes / V::lanes, summed = used < vectors ? used : vectors;
    typename V::Type all[V::lanes], factors[used];
    for (int v = 0; v < used - 1; ++v) factors[v] = V::load(b + v * V::lanes);
    factors[used - 1] = V::load(b + (used - 1) * V::lanes, last);
    for (int i = 0; i < rows; ++i, a += row) {
        typename V::Type sums[summed];
        for (int v = 0; v < summed; ++v) sums[v] = V::zero();
        for (int v = 0; v < used - 1; ++v)
            sums[v % summed] = V::fma(V::load(a + v * V::lanes), factors[v], sums[v % summed]);
        constexpr int end = (used - 1) % summed;
        sums[end] = V::fma(V::load(a + (used - 1) * V::lanes, last), factors[used - 1], sums[end]);
        all[i] = as_one<T, summed>(sums);
    }
    for (int i = rows; i < V::lanes; ++i) all[i] = V::zero();
    fold_short_rows<T>(to, all, rows);
}

// So many inner products are computed at once: as many as have registers for their lanes.
#if defined(WEFT_ISA_avx512)
constexpr int registers_of_sums = 16;
#else
constexpr int registers_of_sums = 8;
#endif
template <class T, int wide>
constexpr int at_once = (registers_of_sums * Vec<T>::lanes + wide - 1) / wide;

/// As dots below, of as many columns as `columns`. Each fold takes as many inner products as a vector has lanes, or as many as there are of whole rows.
/// By one column row by row, as they lie in memory: 20,000 x 300 to 1,000 in 0.3 to 0.75 of the time of four rows side by side (Zen 4; asked for besides
/// 0.5 to 0.75), 1,000 x 1,000 in 0.85.
template <class T, int wide, int columns>
void dots_of_long_rows(T* to, const T* a, std::int64_t row, const T* b, std::int64_t step, std::int64_t k, int rows) {
    using V = Vec<T>;
    constexpr int lanes = V::lanes, fit = columns == 1 ? 1 : at_once<T, wide> / columns;
    constexpr int together = fit < 1 ? 1 : fit * columns > lanes ? lanes / columns : fit, some = together * columns;
    typename V::Type all[lanes + some];
    constexpr bool fills = some <= lanes && 2 * some > lanes;  // a fold each time
    if constexpr (fills) {
        for (int n = some; n < lanes; ++n) all[n] = V::zero();
        for (; rows >= together; rows -= together, a += together * row, to += some) {
            lanes_of<T, wide, together, columns>(all, a, row, b, step, k);
            fold_rows<T>(to, all, some);
        }
    }
    int filled = 0;
    auto join = [&](auto count) __attribute__((always_inline)) {
        lanes_of<T, wide, count(), columns>(all + filled, a, row, b, step, k);
        a += count() * row, rows -= count(), filled += count() * columns;
        if (filled < lanes) return;
        fold_rows<T>(to, all, lanes);
        to += lanes, filled -= lanes;
        for (int n = 0; n < filled; ++n) all[n] = all[lanes + n];
    };
    if constexpr (!fills)
        while (rows >= together) join([] { return together; });
    while (rows > 0) join([] { return 1; });
    for (int rest = filled; rest < lanes; ++rest) all[rest] = V::zero();
    if (filled > 0) fold_rows<T>(to, all, filled);
}

// Vectors of b that stay in registers beside the sums of a row.
#if defined(WEFT_ISA_avx512)
constexpr int most_factors = 16;
#elif defined(WEFT_ISA_avx2)
constexpr int most_factors = 5;
#else
constexpr int most_factors = 8;
#endif
#if defined(WEFT_ISA_avx2)
/// Up to as many rows as a vector has lanes, of whole rounds of all lanes and `tail` vectors, of which the last has `last` numbers.
template <class T, int tail>
[[gnu::noinline]] void dots_of_rounds(T* to, const T* a, std::int64_t row, const T* b, std::int64_t rounds, int last,
                                      int rows) {
    using V = Vec<T>;
    constexpr int vectors = all_lanes / V::lanes;
    typename V::Type all[V::lanes];
    for (int i = 0; i < rows; ++i, a += row) {
        typename V::Type sums[vectors];
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) sums[v] = V::zero();
        const T *from_a = a, *from_b = b;
        for (std::int64_t round = 0; round < rounds; ++round, from_a += all_lanes, from_b += all_lanes)
#pragma GCC unroll 16
            for (int v = 0; v < vectors; ++v)
                V::add_product(sums[v], V::load(from_a + v * V::lanes), V::load(from_b + v * V::lanes));
#pragma GCC unroll 16
        for (int v = 0; v < tail - 1; ++v)
            V::add_product(sums[v], V::load(from_a + v * V::lanes), V::load(from_b + v * V::lanes));
        constexpr int end = (tail - 1) * V::lanes;
        if (last == V::lanes)
            V::add_product(sums[tail - 1], V::load(from_a + end), V::load(from_b + end));
        else
            V::add_product(sums[tail - 1], V::load(from_a + end, last), V::load(from_b + end, last));
        all[i] = as_one<T, vectors>(sums);
    }
    for (int i = rows; i < V::lanes; ++i) all[i] = V::zero();
    fold_short_rows<T>(to, all, rows);
}

template <class T, int tail = 1>
void dots_of_rounds(T* to, const T* a, std::int64_t row, const T* b, std::int64_t rounds, std::int64_t left, int rows) {
    constexpr int lanes = Vec<T>::lanes;
    if constexpr (tail * lanes < all_lanes)
        if (left > tail * lanes) return dots_of_rounds<T, tail + 1>(to, a, row, b, rounds, left, rows);
    dots_of_rounds<T, tail>(to, a, row, b, rounds, static_cast<int>(left) - (tail - 1) * lanes, rows);
}
#endif

template <class T, int used = 1>
void dots_of_rows(T* to, const T* a, std::int64_t row, const T* b, std::int64_t k, int rows) {
    using V = Vec<T>;
    if constexpr (used <= most_factors) {
        if (k > used * V::lanes) return dots_of_rows<T, used + 1>(to, a, row, b, k, rows);
        dots_of_short_rows<T, used>(to, a, row, b, static_cast<int>(k) - (used - 1) * V::lanes, rows);
    } else {
#if defined(WEFT_ISA_avx2)
        if (k == all_lanes) return dots_of_short_rows<T, all_lanes / V::lanes>(to, a, row, b, V::lanes, rows);
        const std::int64_t rounds = (k - 1) / all_lanes;  // without the last, whole or not
        dots_of_rounds<T>(to, a, row, b, rounds, k - rounds * all_lanes, rows);
#else
        dots_of_long_rows<T, all_lanes, 1>(to, a, row, b, 0, k, rows);
#endif
    }
}

/// Several columns: a vector of 64 bytes of each sum is enough, as several are computed at once.
template <class T, int most = most_dot_columns>
void dots_of_columns(T* to, const T* a, std::int64_t row, const T* b, std::int64_t step, int columns, std::int64_t k,
                     int rows) {
    if constexpr (most > 2)
        if (columns < most) return dots_of_columns<T, most - 1>(to, a, row, b, step, columns, k, rows);
    dots_of_long_rows<T, 64 / sizeof(T), most>(to, a, row, b, step, k, rows);
}

template <class T>
void dots(T* to, const T* a, std::int64_t row, const T* b, std::int64_t step, int columns, std::int64_t k, int rows) {
    constexpr int lanes = Vec<T>::lanes;
    if (columns > 1) return dots_of_columns(to, a, row, b, step, columns, k, rows);
    for (int done = 0; done < rows; done += lanes)
        dots_of_rows(to + done, a + done * row, row, b, k, rows - done < lanes ? rows - done : lanes);
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
