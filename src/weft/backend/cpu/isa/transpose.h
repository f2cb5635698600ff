// Squares of numbers turned in registers: rows become columns. Included by sources of isa/, once an instruction set.
#pragma once

#include <cstdint>

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
#include <immintrin.h>
#endif

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// Eight rows of eight, turned where they are.
[[maybe_unused]] inline __attribute__((always_inline)) void turn(__m256 (&row)[8]) {
    __m256 pair[8], four[8];
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
        row[i] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x20);
        row[i + 4] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x31);
    }
}

/// Eight rows of eight: to[i * to_row + j] = from[j * from_row + i].
[[maybe_unused]] void turn_square(float* to, std::int64_t to_row, const float* from, std::int64_t from_row) {
    __m256 row[8];
    for (int i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(from + i * from_row);
    turn(row);
    for (int i = 0; i < 8; ++i) _mm256_storeu_ps(to + i * to_row, row[i]);
}

/// Four rows of four, likewise.
[[maybe_unused]] void turn_square(double* to, std::int64_t to_row, const double* from, std::int64_t from_row) {
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

/// Numbers a side of a square.
template <class T>
constexpr std::int64_t square_side = sizeof(T) < 8 ? 8 : 4;

/// A square of any type, by vectors where there are any for its size.
template <class T>
inline void turn_square(T* to, std::int64_t to_row, const T* from, std::int64_t from_row) {
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    if constexpr (sizeof(T) == 4)
        return turn_square(reinterpret_cast<float*>(to), to_row, reinterpret_cast<const float*>(from), from_row);
    if constexpr (sizeof(T) == 8)
        return turn_square(reinterpret_cast<double*>(to), to_row, reinterpret_cast<const double*>(from), from_row);
#endif
    for (std::int64_t i = 0; i < square_side<T>; ++i)
        for (std::int64_t j = 0; j < square_side<T>; ++j) to[i * to_row + j] = from[j * from_row + i];
}

/// `rows` rows (a multiple of 8) of `length` numbers (one or more) that lie one after the other, turned: to[k * rows + row] =
/// from[row * length + k]. What lies beside the last row, up to a multiple of 8 numbers, is read, and in `to` there is room for as much.
template <int rows, class T>
inline void turn_rows(T* __restrict to, const T* __restrict from, std::int64_t length) {
    if (length < 1) __builtin_unreachable();  // else compilers see a way that leaves `to` as it was
    auto each = [&](auto known) {
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t k = 0; k < known(); ++k) to[k * rows + row] = from[row * known() + k];
    };
    // Of few numbers compilers make better code than squares would be; where the number is known.
    if (length == 2) return each([] { return 2; });
    if (length == 3) return each([] { return 3; });
    if (length == 4) return each([] { return 4; });
    if constexpr (sizeof(T) < 4) return each([=] { return length; });  // no vectors turn these
    for (std::int64_t k = 0; k < length; k += square_side<T>)
        for (int row = 0; row < rows; row += square_side<T>)
            turn_square(to + k * rows + row, rows, from + row * length + k, length);
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
