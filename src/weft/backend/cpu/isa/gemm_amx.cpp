// Products of float32 rounded to bfloat16 by AMX, the processor's unit that multiplies 16 rows of 32 bfloat16 by as many columns in 16 cycles and adds to
// float32: some 15 times what vectors multiply of float32. Only called where cpuid says that it is there and the system lets this process have
// it (backend/cpu/isa.cpp). Each element is a sum for the even and one for the odd numbers of 32 that follow each other along k, then both, then what
// came before: other last bits than by pairs, but the same for any tile, cut and number of threads. It takes denormal numbers for 0.
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

/// The tile's sums over all of its k, rows of them `block` apart.
template <bool two_rows, bool two_columns>
void multiply(float* sums, const GemmTile<RoundedFloat>& tile, int first_rows) {
    constexpr std::int64_t step_a = side * sizeof(BFloat16Pair), step_b = block * sizeof(BFloat16Pair);
    constexpr std::int64_t step = block * sizeof(float);
    WEFT_TILE_ZERO(0);
    WEFT_TILE_ZERO(1);
    WEFT_TILE_ZERO(2);
    WEFT_TILE_ZERO(3);
    const BFloat16Pair *a = tile.a, *b = tile.b, *fetch = tile.fetch;
    for (std::int64_t k = 0; k < tile.k; k += side, a += tile.rows * side, b += side * block) {
        WEFT_TILE_LOAD(6, b, step_b);
        if (two_columns) WEFT_TILE_LOAD(7, b + side, step_b);
        WEFT_TILE_LOAD(4, a, step_a);
        WEFT_TILE_MULTIPLY(0, 4, 6);
        if (two_columns) WEFT_TILE_MULTIPLY(1, 4, 7);
        if (two_rows) WEFT_TILE_LOAD(5, a + first_rows * side, step_a);
        if (two_rows) WEFT_TILE_MULTIPLY(2, 5, 6);
        if (two_rows && two_columns) WEFT_TILE_MULTIPLY(3, 5, 7);
        for (int i = 0; i < side && tile.fetch_step != 0; ++i, fetch += tile.fetch_step) __builtin_prefetch(fetch);
    }
    WEFT_TILE_STORE(0, sums, step);
    if (two_columns) WEFT_TILE_STORE(1, sums + side, step);
    if (two_rows) WEFT_TILE_STORE(2, sums + first_rows * block, step);
    if (two_rows && two_columns) WEFT_TILE_STORE(3, sums + first_rows * block + side, step);
}

void add_to_c(const GemmTile<RoundedFloat>& tile, const float* sums) {
    for (int j = 0; j < tile.columns; j += side) {
        int here = tile.columns - j < side ? tile.columns - j : side;
        __m512 bias = tile.bias ? V::load(tile.bias + j, here) : V::zero();
        for (int i = 0; i < tile.rows; ++i) {
            float* to = tile.c + i * tile.c_row + j;
            __m512 sum = V::load(sums + i * block + j);
            if (tile.accumulate) sum = V::add(V::load(to, here), sum);
            if (tile.bias) sum = V::add(sum, bias);
            if (tile.relu) sum = V::relu(sum);
            V::store(to, sum, here);
        }
    }
}

void compute_tiles(const GemmTile<RoundedFloat>& tile) {
    alignas(64) float sums[block * block];
    int first = tile.rows <= side ? tile.rows : (tile.rows + 1) / 2;
    bool two_rows = tile.rows > side, two_columns = tile.columns > side;
    set_up(tile.rows, first);
    if (two_rows)
        two_columns ? multiply<true, true>(sums, tile, first) : multiply<true, false>(sums, tile, first);
    else
        two_columns ? multiply<false, true>(sums, tile, first) : multiply<false, false>(sums, tile, first);
    add_to_c(tile, sums);
}

// What is not let go of is saved whenever the system turns to another thread, and others' code may set the unit up for itself.
void let_go() {
    asm volatile("tilerelease" ::);
    set_up_rows = 0;
}

/// 16 pairs of 32 numbers that follow each other.
WEFT_INLINE __m512i pairs_along(const float* from, int count) {
    const __m512i odd = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25,
                                         23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    __m512i first = rounded(V::load(from, count < side ? count : side));
    __m512i second = count > side ? rounded(V::load(from + side, count - side)) : _mm512_setzero_si512();
    return _mm512_permutex2var_epi16(first, odd, second);
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

/// For each 32 of k the pairs of one row after the other; what does not lie so is turned first.
void pack_a(BFloat16Pair* to, const float* a, std::int64_t row, std::int64_t column, int rows, std::int64_t k) {
    alignas(64) float turned[block * block];
    for (std::int64_t done = 0; done < k; done += deep) {
        int count = deep_at(done, k);
        const float* from = a + done * column;
        std::int64_t step = row;
        if (column != 1) turn(turned, from, column, row, count, rows), from = turned, step = block;
        for (int i = 0; i < rows; ++i, to += side) _mm512_storeu_si512(to, pairs_along(from + i * step, count));
    }
}

/// Rows of pairs, `block` columns of each.
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
                _mm512_storeu_si512(to + j, pairs_of_rows(first, p + 1 < count ? first + step : nullptr, here));
            }
        }
    }
}

}  // namespace

const GemmKernels<RoundedFloat> gemm_kernels_amx{block,   block,   compute_tiles, pack_a, pack_b, nullptr,
                                                 nullptr, nullptr, add_to<float>, deep,   let_go};

}  // namespace weft::cpu::WEFT_ISA

#endif
