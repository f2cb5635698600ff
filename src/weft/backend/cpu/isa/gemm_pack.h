// Matrices whose rows lie where tiles want columns, turned by blocks of 8 x 8 32-bit numbers. Included by isa/gemm.cpp and isa/gemm_bfloat16.cpp.
#pragma once

#include "weft/backend/cpu/isa/gemm_tile.h"

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// Eight rows of eight, turned: to[i * to_row + j] = from[j * from_row + i].
void transpose_8x8(float* to, std::int64_t to_row, const float* from, std::int64_t from_row) {
    __m256 row[8], pair[8], four[8];
    for (int i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(from + i * from_row);
    for (int i = 0; i < 4; ++i) {
        pair[2 * i] = _mm256_unpacklo_ps(row[2 * i], row[2 * i + 1]);
        pair[2 * i + 1] = _mm256_unpackhi_ps(row[2 * i], row[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
        four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
        four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
        four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
        _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
    }
}

/// Whole columns of b that are contiguous (a transposed b): the first multiple of 8 of k; returns how much that is.
std::int64_t pack_turned(float* to, const float* b, std::int64_t column, int columns, std::int64_t k) {
    constexpr int width = most_vectors * Vec<float>::lanes;
    if (columns != width) return 0;
    for (int j = 0; j < width; j += 8)
        for (std::int64_t p = 0; p + 8 <= k; p += 8)
            transpose_8x8(to + p * width + j, width, b + j * column + p, column);
    return k / 8 * 8;
}

/// Eight or more rows of a, each contiguous: the first multiple of 8 of k, the last rows together with some before them.
std::int64_t pack_turned_rows(float* to, const float* a, std::int64_t row, int rows, std::int64_t k) {
    if (rows < 8 || rows > 16) return 0;
    for (std::int64_t p = 0; p + 8 <= k; p += 8) {
        transpose_8x8(to + p * rows, rows, a + p, row);
        if (rows > 8) transpose_8x8(to + p * rows + rows - 8, rows, a + (rows - 8) * row + p, row);
    }
    return k / 8 * 8;
}

#endif

// Of other types, and where there are no such vectors: nothing.
template <class T>
std::int64_t pack_turned(T*, const T*, std::int64_t, int, std::int64_t) {
    return 0;
}
template <class T>
std::int64_t pack_turned_rows(T*, const T*, std::int64_t, int, std::int64_t) {
    return 0;
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
