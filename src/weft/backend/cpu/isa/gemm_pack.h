// Matrices as tiles read them: rows that lie side by side copied part by part, rows that lie where tiles want columns turned by squares in registers.
// Included by isa/gemm.cpp and isa/gemm_bfloat16.cpp.
#pragma once

#include "weft/backend/cpu/isa/gemm_tile.h"
#include "weft/backend/cpu/isa/transpose.h"

namespace weft::cpu::WEFT_ISA {
namespace {

/// Rows of a that lie side by side, no more than a vector holds, k of each.
template <class V, class T>
void pack_by_parts(T* to, const T* a, std::int64_t column, int rows, std::int64_t k) {
    for (; k > 0; --k, to += rows, a += column) V::store(to, V::load(a, rows), rows);
}
template <class T>
void pack_side_by_side(T* to, const T* a, std::int64_t column, int rows, std::int64_t k) {
#if defined(WEFT_ISA_avx512)
    // Half a vector lies across two lines less often: six rows in 0.75 of the time, of whole vectors written over each other 0.65 (a Zen 5).
    rows <= HalfVec<T>::lanes ? pack_by_parts<HalfVec<T>>(to, a, column, rows, k)
                              : pack_by_parts<Vec<T>>(to, a, column, rows, k);
#else
    // Whole vectors, of which the next writes over what is too much (a Zen 3 takes 20 cycles for part of one).
    using V = Vec<T>;
    for (; k * rows >= V::lanes; --k, to += rows, a += column) V::store(to, V::load(a, rows));
    pack_by_parts<V>(to, a, column, rows, k);
#endif
}

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// Columns of b, so many squares of them, each contiguous (a transposed b): the first squares of k; returns how much that is. Each column from
/// end to end, as processors fetch ahead (by strips of k, whose copy stays in the first-level cache, 1.05 times as long from beyond the second).
template <class T>
std::int64_t pack_turned(T* to, const T* b, std::int64_t column, int columns, std::int64_t k) {
    constexpr std::int64_t side = square_side<T>, width = most_vectors * Vec<T>::lanes;
    for (std::int64_t j = 0; j < columns; j += side)
        for (std::int64_t p = 0; p + side <= k; p += side)
            turn_square(to + p * width + j, width, b + j * column + p, column);
    return k / side * side;
}

/// So few rows of eight numbers, turned. Whole vectors are written, each over what is too much of the one before: `8 - rows` numbers behind them are
/// lost.
template <int rows>
void turn_few(float* to, const float* from, std::int64_t from_row) {
    __m256 row[8];
    for (int i = 0; i < 8; ++i) row[i] = i < rows ? _mm256_loadu_ps(from + i * from_row) : _mm256_setzero_ps();
    turn(row);
    for (int i = 0; i < 8; ++i) _mm256_storeu_ps(to + i * rows, row[i]);
}

template <int rows>
std::int64_t pack_few_rows(float* to, const float* a, std::int64_t row, std::int64_t k) {
    std::int64_t p = 0;
    for (; (k - p - 8) * rows >= 8 - rows; p += 8) turn_few<rows>(to + p * rows, a + p, row);
    return p;
}

/// Five, six, or eight to sixteen rows of a, each contiguous: the first multiple of 8 of k; of more than eight rows, the last together with some before them.
std::int64_t pack_turned_rows(float* to, const float* a, std::int64_t row, int rows, std::int64_t k) {
    if (rows == 5) return pack_few_rows<5>(to, a, row, k);
    if (rows == 6) return pack_few_rows<6>(to, a, row, k);
    if (rows < 8 || rows > 16) return 0;
    for (std::int64_t p = 0; p + 8 <= k; p += 8) {
        turn_square(to + p * rows, rows, a + p, row);
        if (rows > 8) turn_square(to + p * rows + rows - 8, rows, a + (rows - 8) * row + p, row);
    }
    return k / 8 * 8;
}

#else

template <class T>
std::int64_t pack_turned(T*, const T*, std::int64_t, int, std::int64_t) {
    return 0;
}

#endif

// Of other types, and where there are no such vectors: nothing.
template <class T>
std::int64_t pack_turned_rows(T*, const T*, std::int64_t, int, std::int64_t) {
    return 0;
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
