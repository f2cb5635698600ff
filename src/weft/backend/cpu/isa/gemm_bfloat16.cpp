// Products of float32 rounded to bfloat16: numbers rounded and packed as pairs, which are multiplied with the arithmetic of float32 where the
// processor has no instruction for them (isa/gemm_pairs.cpp), to the same bits but for denormal numbers, which that instruction takes for 0.
#include "weft/backend/cpu/isa/bfloat16_pairs.h"
#include "weft/backend/cpu/isa/gemm_pack.h"
#include "weft/backend/cpu/isa/gemm_tile.h"

namespace weft::cpu::WEFT_ISA {
namespace {

constexpr int width = most_vectors * Vec<float>::lanes;

/// The two numbers of an operand, each a float32 of its own: a bfloat16 is a float32's upper half.
struct Halves {
    Vec<float>::Type first, second;
};

WEFT_INLINE float as_float(std::uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <>
struct Lanes<BFloat16Pair> {
    using V = Vec<float>;
    using Vector = Halves;
    // Packed, with zeros to the end of the vector.
    WEFT_INLINE Vector load(const BFloat16Pair* from, int = 0) {
#if defined(WEFT_ISA_avx512)
        __m512i bits = _mm512_loadu_si512(from);
        return {_mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, bits, 16)),
                _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0xffff0000u))))};
#elif defined(WEFT_ISA_avx2)
        __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        return {_mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)),
                _mm256_castsi256_ps(_mm256_and_si256(bits, _mm256_set1_epi32(static_cast<int>(0xffff0000u))))};
#else
        Vector halves;
        for (int i = 0; i < V::lanes; ++i) {
            halves.first.lane[i] = as_float(from[i].bits << 16);
            halves.second.lane[i] = as_float(from[i].bits & 0xffff0000u);
        }
        return halves;
#endif
    }
    WEFT_INLINE Vector all(BFloat16Pair pair) {
        return {V::all(as_float(pair.bits << 16)), V::all(as_float(pair.bits & 0xffff0000u))};
    }
    WEFT_INLINE V::Type multiply_add(const Vector& a, const Vector& b, V::Type sum) {
        return V::fma(a.first, b.first, V::fma(a.second, b.second, sum));
    }
};

#if defined(WEFT_ISA_avx512)

/// Numbers that follow each other, as pairs.
void pair_neighbours(BFloat16Pair* to, const float* from, std::int64_t pairs) {
    for (; pairs >= 8; pairs -= 8, to += 8, from += 16) {
        __m512i upper = _mm512_maskz_srli_epi32(0xffff, rounded(Vec<float>::load(from)), 16);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi32_epi16(0xffff, upper));
    }
    for (; pairs > 0; --pairs, ++to, from += 2) to->bits = rounded(from[0]) >> 16 | rounded(from[1]);
}

#else

void pair_neighbours(BFloat16Pair* to, const float* from, std::int64_t pairs) {
    for (std::int64_t p = 0; p < pairs; ++p) to[p].bits = rounded(from[2 * p]) >> 16 | rounded(from[2 * p + 1]);
}

#endif

/// Whole pairs of `rows` rows of numbers that lie side by side, turned: to[p * width + i] = pair p of row i. They are turned as numbers of 32
/// bits, in strips that stay in the first-level cache. Returns how many pairs are done: all but what is less than a block.
template <class Turn>
std::int64_t pack_turned_pairs(BFloat16Pair* to, std::int64_t width, const float* from, std::int64_t row, int rows,
                               std::int64_t pairs, Turn turn) {
    constexpr std::int64_t strip = 64;
    BFloat16Pair space[2 * 16 * strip];
    std::int64_t done = 0;
    while (rows <= 2 * 16 && done < pairs) {
        std::int64_t here = pairs - done < strip ? pairs - done : strip;
        for (int i = 0; i < rows; ++i) pair_neighbours(space + i * strip, from + i * row + 2 * done, here);
        std::int64_t turned =
            turn(reinterpret_cast<float*>(to + done * width), reinterpret_cast<const float*>(space), strip, rows, here);
        done += turned;
        if (turned < here) break;
    }
    return done;
}

/// The numbers at p and p + 1 of those that lie `stride` apart; 0 for what is not below k.
WEFT_INLINE BFloat16Pair pair_at(const float* from, std::int64_t stride, std::int64_t p, std::int64_t k) {
    return {rounded(from[p * stride]) >> 16 | (p + 1 < k ? rounded(from[(p + 1) * stride]) : 0)};
}

void pack_a(BFloat16Pair* to, const float* a, std::int64_t row, std::int64_t column, int rows, std::int64_t k) {
    auto turn = [](float* to, const float* from, std::int64_t row, int rows, std::int64_t k) {
        return pack_turned_rows(to, from, row, rows, k);
    };
    std::int64_t done = column == 1 ? pack_turned_pairs(to, rows, a, row, rows, k / 2, turn) : 0;
    for (std::int64_t p = 2 * done; p < k; p += 2, ++done) {
        if (row == 1 && rows <= 16)
            pair_rows(to + done * rows, a + p * column, p + 1 < k ? a + (p + 1) * column : nullptr, rows);
        else
            for (int i = 0; i < rows; ++i) to[done * rows + i] = pair_at(a + i * row, column, p, k);
    }
}

void pack_b(BFloat16Pair* to, const float* b, std::int64_t row, std::int64_t column, int columns, std::int64_t k) {
    constexpr int lanes = Vec<float>::lanes;
    constexpr std::int64_t ahead = 16;
    auto turn = [](float* to, const float* from, std::int64_t row, int columns, std::int64_t k) {
        return columns == width ? pack_turned(to, from, row, columns, k) : 0;  // else zeros stand beside them
    };
    std::int64_t done = row == 1 ? pack_turned_pairs(to, width, b, column, columns, k / 2, turn) : 0;
    for (std::int64_t p = 2 * done; p < k; p += 2, ++done) {
        BFloat16Pair* here = to + done * width;
        const float *first = b + p * row, *second = p + 1 < k ? first + row : nullptr;
        // Rows may lie further apart than what the processor fetches by itself.
        for (int j = 0; column == 1 && j < columns; j += 16)
            __builtin_prefetch(first + ahead * row + j), __builtin_prefetch(first + (ahead + 1) * row + j);
        for (int j = 0; column == 1 && j < columns; j += lanes)
            pair_rows(here + j, first + j, second ? second + j : nullptr, columns - j < lanes ? columns - j : lanes);
        for (int j = 0; column != 1 && j < columns; ++j) here[j] = pair_at(b + j * column, row, p, k);
        for (int j = columns; j < width; ++j) here[j].bits = 0;
    }
}

}  // namespace

const GemmKernels<RoundedFloat> gemm_kernels_rounded{
    most_rows, width, compute_tile<RoundedFloat>, pack_a, pack_b, nullptr, nullptr, nullptr, add_to<float>};
#if defined(WEFT_ISA_avx512)
const GemmKernels<RoundedFloat> gemm_kernels_pairs{most_rows, width,   compute_tile_of_pairs, pack_a, pack_b, nullptr,
                                                   nullptr,   nullptr, add_to<float>};
#else
const GemmKernels<RoundedFloat> gemm_kernels_pairs = gemm_kernels_rounded;
#endif

}  // namespace weft::cpu::WEFT_ISA
