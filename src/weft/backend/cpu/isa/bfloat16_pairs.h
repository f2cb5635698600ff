// Numbers of float32 rounded to bfloat16 and put together as pairs. Included by isa/gemm_bfloat16.cpp and isa/gemm_amx.cpp.
#pragma once

#include "weft/backend/cpu/isa/gemm_kernels.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

// To nearest, ties to even; a NaN stays one. The lower half of what comes out is 0.
WEFT_INLINE std::uint32_t rounded(float number) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &number, sizeof bits);
    if (number != number) return (bits | 0x400000u) & 0xffff0000u;
    return (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
}

#if defined(WEFT_ISA_avx512)

WEFT_INLINE __m512i rounded(__m512 numbers) {
    __m512i bits = _mm512_castps_si512(numbers);
    __m512i odd = _mm512_and_si512(_mm512_maskz_srli_epi32(0xffff, bits, 16), _mm512_set1_epi32(1));
    __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    up =
        _mm512_mask_or_epi32(up, _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q), bits, _mm512_set1_epi32(0x400000));
    return _mm512_and_si512(up, _mm512_set1_epi32(static_cast<int>(0xffff0000u)));
}

/// Pairs, stored, of what stands one below the other in two rows of up to 16 numbers: as many as there are.
WEFT_INLINE void pair_rows(BFloat16Pair* to, const float* first, const float* second, int count) {
    __m512i pairs = _mm512_maskz_srli_epi32(0xffff, rounded(Vec<float>::load(first, count)), 16);
    if (second) pairs = _mm512_or_si512(pairs, rounded(Vec<float>::load(second, count)));
    _mm512_mask_storeu_epi32(to, Vec<float>::mask(count), pairs);
}

#else

WEFT_INLINE void pair_rows(BFloat16Pair* to, const float* first, const float* second, int count) {
    for (int i = 0; i < count; ++i) to[i].bits = rounded(first[i]) >> 16 | (second ? rounded(second[i]) : 0);
}

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
