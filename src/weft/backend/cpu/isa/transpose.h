// Squares of numbers turned in registers: rows become columns. Included by sources of isa/, once an instruction set.
#pragma once

#include <cstdint>

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
#include <immintrin.h>
#endif

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// Eight rows of eight, turned: to[i * to_row + j] = from[j * from_row + i].
[[maybe_unused]] void transpose_8x8(float* to, std::int64_t to_row, const float* from, std::int64_t from_row) {
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

/// Four rows of four, likewise.
[[maybe_unused]] void transpose_4x4(double* to, std::int64_t to_row, const double* from, std::int64_t from_row) {
    __m256d row[4], pair[4];
    for (int i = 0; i < 4; ++i) row[i] = _mm256_loadu_pd(from + i * from_row);
    for (int i = 0; i < 4; i += 2) {
        pair[i] = _mm256_unpacklo_pd(row[i], row[i + 1]);
        pair[i + 1] = _mm256_unpackhi_pd(row[i], row[i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
        _mm256_storeu_pd(to + i * to_row, _mm256_permute2f128_pd(pair[i], pair[i + 2], 0x20));
        _mm256_storeu_pd(to + (i + 2) * to_row, _mm256_permute2f128_pd(pair[i], pair[i + 2], 0x31));
    }
}

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
