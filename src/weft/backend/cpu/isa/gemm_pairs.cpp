// Products of bfloat16 with the instruction that multiplies and adds pairs of them (AVX512_BF16), twice as many a cycle as of float32. Only
// called where cpuid says that it is there; of float32's sums it keeps those from 2^-126 on, others are 0.
#if defined(WEFT_ISA_avx512)

#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512bf16"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512bf16")
#endif

#include "weft/backend/cpu/isa/gemm_tile.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <>
struct Lanes<BFloat16Pair> {
    using Vector = __m512bh;
    // Packed, with zeros to the end of the vector.
    WEFT_INLINE Vector load(const BFloat16Pair* from, int = 0) { return (__m512bh)_mm512_loadu_si512(from); }
    WEFT_INLINE Vector all(BFloat16Pair pair) { return (__m512bh)_mm512_set1_epi32(static_cast<int>(pair.bits)); }
    WEFT_INLINE __m512 multiply_add(Vector a, Vector b, __m512 sum) { return _mm512_dpbf16_ps(sum, b, a); }
};

}  // namespace

void compute_tile_of_pairs(const GemmTile<RoundedFloat>& tile) { compute_tile<RoundedFloat>(tile); }

}  // namespace weft::cpu::WEFT_ISA

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
