// Products of float32 as bfloat16 by AMX, the processor's unit that multiplies 16 rows of 32 bfloat16 by as many columns in 16 cycles and adds to
// float32: some 15 times what vectors multiply of float32. Only called where cpuid says that it is there and the system lets this process have
// it (backend/cpu/isa.cpp). Each element is a sum for the even and one for the odd numbers of 32 that follow each other along k, then both, then what
// came before: other last bits than by pairs, but the same for any tile, cut and number of threads. It takes denormal numbers for 0.
//
// A float32 is the sum of three bfloat16 of 8 bits, so a product of two of them that of nine, of which the three smallest, together below 2^-25 of
// it, are left out (Henry, Tang, Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations, 2019).
#if defined(WEFT_ISA_avx512)

#include "weft/backend/cpu/isa/bfloat16_pairs.h"
#include "weft/backend/cpu/isa/gemm_tile.h"
#include "weft/backend/cpu/isa/transpose.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using V = Vec<float>;

constexpr int side = 16;         // rows of a tile, columns of one of sums, pairs of one of operands
constexpr int block = 2 * side;  // rows and columns of c at a time: two tiles each
constexpr int deep = 2 * side;   // numbers of k that a tile has

// The unit's instructions by name, which compilers have under flags of their own. Tiles 0 to 3 are sums, 4 and 5 of a, 6 and 7 of b.
#define WEFT_TILE_LOAD(tile, from, step) \
    asm volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(from), "r"(static_cast<std::int64_t>(step)) : "memory")
#define WEFT_TILE_STORE(tile, to, step) \
    asm volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(to), "r"(static_cast<std::int64_t>(step)) : "memory")
#define WEFT_TILE_ZERO(tile) asm volatile("tilezero %%tmm" #tile ::)
#define WEFT_TILE_MULTIPLY(sum, a, b) asm volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sum ::)

/// What LDTILECFG reads.
struct alignas(64) Shapes {
    std::uint8_t palette = 1, start = 0, zero[14] = {};
    std::uint16_t bytes[16] = {};
    std::uint8_t rows[16] = {};
};

// As this thread's unit is set up for; 0: not at all. Setting up and letting go take 120 ns, as much as 16 products of tiles.
thread_local int set_up_rows = 0;

void set_up(int rows, int first_rows) {
    if (set_up_rows == rows) return;
    set_up_rows = rows;
    int second_rows = rows > first_rows ? rows - first_rows : first_rows;
    Shapes shapes;
    for (int tile = 0; tile < 8; ++tile) {
        bool of_b = tile >= 6, second = tile == 2 || tile == 3 || tile == 5;
        shapes.bytes[tile] = side * sizeof(BFloat16Pair);
        shapes.rows[tile] = static_cast<std::uint8_t>(of_b ? side : second ? second_rows : first_rows);
    }
    asm volatile("ldtilecfg %0" ::"m"(shapes));
}

/// The tile's sums over all of its k, rows of them `block` apart. Of each 32 numbers of k all first parts lie before the second ones.
template <int parts, bool two_rows, bool two_columns>
void multiply(float* sums, const GemmTile<FloatOfParts<parts>>& tile, int first_rows) {
    constexpr std::int64_t step_a = side * sizeof(BFloat16Pair), step_b = block * sizeof(BFloat16Pair);
    constexpr std::int64_t step = block * sizeof(float);
    WEFT_TILE_ZERO(0);
    WEFT_TILE_ZERO(1);
    WEFT_TILE_ZERO(2);
    WEFT_TILE_ZERO(3);
    const BFloat16Pair *a = tile.a, *b = tile.b, *fetch = tile.fetch;
    // Tiles of a and b come from the second-level cache, at half of what it gives: the next 32 of k are asked for, a line of each in turn.
    constexpr int lines_each = 4 * side / (parts + 1);
    const std::int64_t part_of_a = tile.rows * side;
    for (std::int64_t k = 0; k < tile.k; k += parts * side, a += parts * part_of_a) {
        const BFloat16Pair *next_a = a + parts * part_of_a, *next_b = b + parts * side * block;
        for (int of_b = 0; of_b < parts; ++of_b, b += side * block) {
            WEFT_TILE_LOAD(6, b, step_b);
            if (two_columns) WEFT_TILE_LOAD(7, b + side, step_b);
            for (int of_a = 0; of_a < parts - of_b; ++of_a) {
                const BFloat16Pair* rows = a + of_a * part_of_a;
                WEFT_TILE_LOAD(4, rows, step_a);
                WEFT_TILE_MULTIPLY(0, 4, 6);
                if (two_columns) WEFT_TILE_MULTIPLY(1, 4, 7);
                if (two_rows) WEFT_TILE_LOAD(5, rows + first_rows * side, step_a);
                if (two_rows) WEFT_TILE_MULTIPLY(2, 5, 6);
                if (two_rows && two_columns) WEFT_TILE_MULTIPLY(3, 5, 7);
                for (int i = 0; i < lines_each; ++i, next_a += side, next_b += side)
                    __builtin_prefetch(next_a), __builtin_prefetch(next_b);
            }
            for (int i = 0; i < side && tile.fetch_step != 0; ++i, fetch += tile.fetch_step) __builtin_prefetch(fetch);
        }
    }
    WEFT_TILE_STORE(0, sums, step);
    if (two_columns) WEFT_TILE_STORE(1, sums + side, step);
    if (two_rows) WEFT_TILE_STORE(2, sums + first_rows * block, step);
    if (two_rows && two_columns) WEFT_TILE_STORE(3, sums + first_rows * block + side, step);
}

/// A vector of pairs as float32: those that come first, or second.
WEFT_INLINE __m512 first_of(__m512i pairs) { return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, pairs, 16)); }
WEFT_INLINE __m512 second_of(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
}

// The sums of row i from column j on, of the numbers that the parts add up to: what came out infinite or NaN may be finite, or infinite and not NaN,
// for an infinity's first part meets parts that are 0, and a sum of first parts may leave the range for a moment.
template <int parts>
__m512 sums_of_numbers(const GemmTile<FloatOfParts<parts>>& tile, int i, int j) {
    __m512 sum = V::zero();
    const BFloat16Pair *a = tile.a + i * side, *b = tile.b + j;
    for (std::int64_t k = 0; k < tile.k; k += parts * side, a += parts * tile.rows * side, b += parts * side * block) {
        for (int pair = 0; pair < side; ++pair) {
            __m512 first_a = V::zero(), second_a = V::zero(), first_b = V::zero(), second_b = V::zero();
            for (int part = 0; part < parts; ++part) {
                __m512i of_a = _mm512_set1_epi32(static_cast<int>(a[part * tile.rows * side + pair].bits));
                __m512i of_b = _mm512_loadu_si512(b + (part * side + pair) * block);
                first_a = V::add(first_a, first_of(of_a)), second_a = V::add(second_a, second_of(of_a));
                first_b = V::add(first_b, first_of(of_b)), second_b = V::add(second_b, second_of(of_b));
            }
            sum = _mm512_fmadd_ps(second_a, second_b, _mm512_fmadd_ps(first_a, first_b, sum));
        }
    }
    return sum;
}

template <int parts>
void add_to_c(const GemmTile<FloatOfParts<parts>>& tile, const float* sums) {
    constexpr int infinite_or_nan = 0x99;
    for (int j = 0; j < tile.columns; j += side) {
        int here = tile.columns - j < side ? tile.columns - j : side;
        __m512 bias = tile.bias ? V::load(tile.bias + j, here) : V::zero();
        for (int i = 0; i < tile.rows; ++i) {
            float* to = tile.c + i * tile.c_row + j;
            __m512 sum = V::load(sums + i * block + j);
            if constexpr (parts > 1)
                if (_mm512_fpclass_ps_mask(sum, infinite_or_nan)) [[unlikely]]
                    sum = sums_of_numbers(tile, i, j);
            if (tile.accumulate) sum = V::add(V::load(to, here), sum);
            if (tile.bias) sum = V::add(sum, bias);
            if (tile.relu) sum = V::relu(sum);
            V::store(to, sum, here);
        }
    }
}

template <int parts>
void compute_tiles(const GemmTile<FloatOfParts<parts>>& tile) {
    alignas(64) float sums[block * block];
    int first = tile.rows <= side ? tile.rows : (tile.rows + 1) / 2;
    bool two_rows = tile.rows > side, two_columns = tile.columns > side;
    for (int i = 0; i < tile.rows; ++i) {
        __builtin_prefetch(tile.c + i * tile.c_row, 1);
        if (two_columns) __builtin_prefetch(tile.c + i * tile.c_row + side, 1);
    }
    set_up(tile.rows, first);
    if (two_rows)
        two_columns ? multiply<parts, true, true>(sums, tile, first) : multiply<parts, true, false>(sums, tile, first);
    else
        two_columns ? multiply<parts, false, true>(sums, tile, first)
                    : multiply<parts, false, false>(sums, tile, first);
    add_to_c(tile, sums);
}

// What is not let go of is saved whenever the system turns to another thread, and others' code may set the unit up for itself.
void let_go() {
    asm volatile("tilerelease" ::);
    set_up_rows = 0;
}

/// Numbers as sums of bfloat16, the lower half of which is 0.
template <int parts>
struct Split {
    __m512i part[parts];
};

/// Float32 to the nearest bfloat16, where `cut` says so to the next one nearer 0.
WEFT_INLINE __m512i shortened(__m512i bits, __mmask16 cut) {
    __m512i up = _mm512_mask_add_epi32(bits, static_cast<__mmask16>(~cut), bits, _mm512_set1_epi32(0x8000));
    return _mm512_and_si512(up, _mm512_set1_epi32(static_cast<int>(0xffff0000u)));
}

template <int parts>
WEFT_INLINE Split<parts> split(__m512 numbers) {
    if constexpr (parts == 1) {
        return {{rounded(numbers)}};
    } else {
        constexpr int infinite_or_nan = 0x99, nan = 0x81;
        __m512i bits = _mm512_castps_si512(numbers);
        // Finite numbers that would become infinite are cut off instead, an infinity's first part is infinite, and a NaN stays one.
        __mmask16 large = _mm512_cmp_epu32_mask(_mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff)),
                                                _mm512_set1_epi32(0x7f7f8000), _MM_CMPINT_NLT);
        __m512i first = shortened(bits, large);
        first = _mm512_mask_or_epi32(first, _mm512_fpclass_ps_mask(numbers, nan), first, _mm512_set1_epi32(0x400000));
        __mmask16 finite = static_cast<__mmask16>(~_mm512_fpclass_ps_mask(numbers, infinite_or_nan));
        Split<parts> made{{first}};
        __m512 left = _mm512_maskz_sub_ps(finite, numbers, _mm512_castsi512_ps(first));
        for (int i = 1; i < parts; ++i) {
            made.part[i] = shortened(_mm512_castps_si512(left), large);
            left = _mm512_sub_ps(left, _mm512_castsi512_ps(made.part[i]));
        }
        return made;
    }
}

/// Of 32 numbers that follow each other 16 pairs for each part, `step` apart.
template <int parts>
WEFT_INLINE void pair_along(BFloat16Pair* to, std::int64_t step, const float* from, int count) {
    const __m512i odd = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25,
                                         23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    auto first = split<parts>(V::load(from, count < side ? count : side)), second = Split<parts>{};
    if (count > side) second = split<parts>(V::load(from + side, count - side));
    for (int i = 0; i < parts; ++i)
        _mm512_storeu_si512(to + i * step, _mm512_permutex2var_epi16(first.part[i], odd, second.part[i]));
}

/// Of what stands one below the other in two rows of up to 16 numbers 16 pairs for each part, `step` apart, zeros behind them; no second row: zeros.
template <int parts>
WEFT_INLINE void pair_below(BFloat16Pair* to, std::int64_t step, const float* first, const float* second, int count) {
    auto upper = split<parts>(V::load(first, count)), lower = Split<parts>{};
    if (second) lower = split<parts>(V::load(second, count));
    for (int i = 0; i < parts; ++i) {
        __m512i half = _mm512_maskz_srli_epi32(0xffff, upper.part[i], 16);
        _mm512_storeu_si512(to + i * step, _mm512_or_si512(half, lower.part[i]));
    }
}

/// Up to 32 rows of up to 32 numbers, turned: to[k * block + i] = from[i * row + k * column].
void turn(float* to, const float* from, std::int64_t row, std::int64_t column, int rows, int count) {
    int whole_rows = column == 1 ? rows / 8 * 8 : 0, whole = count / 8 * 8;
    for (int i = 0; i < whole_rows; i += 8)
        for (int k = 0; k < whole; k += 8) turn_square(to + k * block + i, block, from + i * row + k, row);
    for (int i = 0; i < rows; ++i)
        for (int k = i < whole_rows ? whole : 0; k < count; ++k) to[k * block + i] = from[i * row + k * column];
}

int deep_at(std::int64_t done, std::int64_t k) { return static_cast<int>(k - done < deep ? k - done : deep); }

/// For each 32 of k, and part, the pairs of one row after the other; what does not lie so is turned first.
template <int parts>
void pack_a(BFloat16Pair* to, const float* a, std::int64_t row, std::int64_t column, int rows, std::int64_t k) {
    alignas(64) float turned[block * block];
    for (std::int64_t done = 0; done < k; done += deep) {
        int count = deep_at(done, k);
        const float* from = a + done * column;
        std::int64_t step = row;
        if (column != 1) turn(turned, from, column, row, count, rows), from = turned, step = block;
        for (int i = 0; i < rows; ++i) pair_along<parts>(to + i * side, rows * side, from + i * step, count);
        to += parts * rows * side;
    }
}

/// For each 32 of k, and part, rows of pairs, `block` columns of each.
template <int parts>
void pack_b(BFloat16Pair* to, const float* b, std::int64_t row, std::int64_t column, int columns, std::int64_t k) {
    alignas(64) float turned[block * block];
    constexpr std::int64_t ahead = 16;
    for (std::int64_t done = 0; done < k; done += deep) {
        int count = deep_at(done, k);
        const float* from = b + done * row;
        std::int64_t step = row;
        if (column != 1) turn(turned, from, column, row, columns, count), from = turned, step = block;
        for (int p = 0; p < deep; p += 2, to += block) {
            for (int j = 0; j < block; j += side) {
                int here = p >= count || columns <= j ? 0 : columns - j < side ? columns - j : side;
                const float* first = from + p * step + j;
                // Rows may lie further apart than what the processor fetches by itself.
                if (column == 1) __builtin_prefetch(first + ahead * row), __builtin_prefetch(first + (ahead + 1) * row);
                pair_below<parts>(to + j, side * block, first, p + 1 < count ? first + step : nullptr, here);
            }
        }
        to += (parts - 1) * side * block;
    }
}

}  // namespace

#define WEFT_AMX_KERNELS(parts)                                                                                     \
    {                                                                                                               \
        block, block, compute_tiles<parts>, pack_a<parts>, pack_b<parts>, nullptr, nullptr, nullptr, add_to<float>, \
            deep, let_go                                                                                            \
    }
const GemmKernels<RoundedFloat> gemm_kernels_amx = WEFT_AMX_KERNELS(1);
const GemmKernels<FloatOfParts<2>> gemm_kernels_amx_x3 = WEFT_AMX_KERNELS(2);
const GemmKernels<FloatOfParts<3>> gemm_kernels_amx_x6 = WEFT_AMX_KERNELS(3);
#undef WEFT_AMX_KERNELS

}  // namespace weft::cpu::WEFT_ISA

#endif
