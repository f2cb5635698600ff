// Of a product of matrices: how deep and wide its cuts are, of how many rows its tiles, what of it is worth being copied and where copies lie.
// Callers: backend/cpu/gemm_rows.h, gemm_way.h, small_products.h, own_gemm.cpp.
#pragma once

#include <algorithm>
#include <type_traits>

#include "weft/backend/cpu/caches.h"
#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/integers.h"

namespace weft::cpu::own {

template <class T>
const GemmKernels<T>& kernels() {
#if WEFT_COMPILES_AVX512
    if constexpr (std::is_same_v<T, RoundedFloat>)
        if (multiplies_tiles()) return avx512::gemm_kernels_amx;
    if constexpr (std::is_same_v<T, FloatOfParts<2>>) return avx512::gemm_kernels_amx_x3;
    if constexpr (std::is_same_v<T, FloatOfParts<3>>) return avx512::gemm_kernels_amx_x6;
#endif
    if constexpr (std::is_same_v<T, float>)
        return WEFT_OF_BEST_ISA(gemm_kernels_f32);
    else if constexpr (std::is_same_v<T, double>)
        return WEFT_OF_BEST_ISA(gemm_kernels_f64);
    else if constexpr (ProductOf<T>::parts == 1)
        return multiplies_pairs() ? WEFT_OF_BEST_ISA(gemm_kernels_pairs) : WEFT_OF_BEST_ISA(gemm_kernels_rounded);
    __builtin_unreachable();
}

// Cuts of the product. A panel of b (depth x 32 floats at most) and a block of a (rows x depth), as it lies or copied, stay in the second-level
// cache; a tile reads its panel in order, which the first level fetches ahead: half as deep, a panel that fits there, took 1 to 4 %
// longer, for tiles begin and end twice as often.
inline constexpr std::int64_t depth = 512, block_rows = 256, most_depth = 2048, most_width = 4096;
// Of what is copied for tiles of two panels: both stay in the first-level cache (or, of few numbers along k, nearly so), and more rows read them.
inline constexpr std::int64_t paired_block_rows = 512;
inline constexpr std::int64_t paired_depth(std::int64_t k) { return k <= depth / 2 ? depth / 2 : depth / 4; }
/// Whether tiles are to find in the first-level cache what several of them read: on a Zen 4, of half the arithmetic, the second is near enough.
inline bool feeds_from_first() { return !is_zen4(); }
inline constexpr std::size_t panel_bytes = depth * 32 * sizeof(float);  // of the widest kind
// Below this many multiplications one thread does it all: waking another costs more.
inline constexpr std::int64_t serial_work = 256 * 1024;
// Up to so many nothing is worth being copied.
inline constexpr std::int64_t small_work = 64 * 64 * 64;

/// Rows of a that lie a multiple of half a page apart collide in the first-level cache; of a page, where there are 12 ways or tiles have 7 rows
/// at most, which then take 7 of 16 places (50 and 768 x 512 by 512 x 128 on a Zen 4 in 0.96 of the time).
template <class T>
bool collides(const GemmProblem<T>& p) {
    std::int64_t apart = first_level_ways() >= 12 || computes_in_halves() ? 4096 : 2048;
    return p.a_row != 1 && p.a_row * static_cast<std::int64_t>(sizeof(NumberOf<T>)) % apart == 0 && p.k > 64;
}

/// The most rows of a tile whose rows collide: the next lines of more than there are ways would drive each other out. Of 12 ways 14 rows find room on an
/// Intel, where tall tiles ask for the next lines (Xeon, of the time of 7 rows: 16 and 32 x 1,024 to 4,096 by turned 768 to 4,096 0.74 to 0.85, 8 rows 0.8
/// to 1.0; 512 x 1,024 by 32 0.83, 128 x 1,024 by 10 0.89).
inline std::int64_t colliding_rows(std::int64_t most) {
    return is_no_zen() && first_level_ways() >= 12 ? most : std::min<std::int64_t>(7, most);
}

/// Whether a b whose rows lie in one piece is worth being copied for so many tiles of rows of a. Where vectors are computed as two halves it can
/// come from the second-level cache as it lies, unless its rows lie pages apart (a Zen 4: 256^3 111 to 115 GFLOP/s, 128x784x1024 105 to 113,
/// 32x1024x4096 95 to 111; but 4096x256x4096 96 for 109).
template <class T>
bool worth_copying_b(const GemmProblem<T>& p, std::int64_t row_tiles) {
    if (computes_in_halves()) return p.m > 128 && p.b_row * static_cast<std::int64_t>(sizeof(NumberOf<T>)) >= 16384;
    return row_tiles >= 3;
}

/// The most rows of tiles of so many columns, by the processor's registers.
template <class T>
std::int64_t most_rows_of(const GemmKernels<T>& kernels, std::int64_t columns) {
    return 2 * columns <= kernels.most_columns ? std::max(kernels.most_rows, kernels.single_rows) : kernels.most_rows;
}

/// Rows of a tile of a that is read as it lies. Where vectors are computed as two halves a few sums keep the multipliers busy, and small tiles
/// lose less as they begin and end (a Zen 4: 14 rows 107 GFLOP/s at k = 64, 4 rows 115; 7 rows 116 for 114 at k = 128); rows that lie side by
/// side are half a line then (512 x 128 of 768, turned: 0.98 of the time of 7).
template <class T>
std::int64_t tile_rows(const GemmKernels<T>& kernels, const GemmProblem<T>& p) {
    if (!computes_in_halves()) return most_rows_of(kernels, p.n);
    bool by_eight = p.a_row == 1 || 2 * p.n <= kernels.most_columns;
    return std::min<std::int64_t>(kernels.most_rows, by_eight ? 8 : p.k <= 64 ? 4 : 7);
}

/// Whether the tiles of so many rows take two panels together: where a processor that other threads share waits for instructions (Xeon, in quiet minutes
/// and while another guest uses the same core: 14 rows of a panel 158 to 168 and 80 to 109 GFLOP/s, 6 rows of two 172 and 129), and where loads are what
/// is left to wait for (a Zen 5, from the first-level cache: 254 and 273 of 280). Not there rows that two tall tiles take, which read b half as often
/// (16 x 1,024 by 1,000 1.18 of the time, 20 x 768 by 3,072 1.4).
template <class T>
bool pairs_panels(const GemmKernels<T>& kernels, std::int64_t rows) {
    bool few = is_zen5() && rows <= 2 * kernels.most_rows;
    return std::is_same_v<OperandOf<T>, T> && kernels.paired_rows > 0 && feeds_from_first() && !few;
}
template <class T>
bool takes_pairs(const GemmKernels<T>& kernels, const GemmProblem<T>& p) {
    return p.n >= 2 * kernels.most_columns && pairs_panels(kernels, p.m);
}
/// The panels that tiles take together from a column of so many on: two where they are `paired` and both are whole.
template <class T>
int panels_at(const GemmKernels<T>& kernels, bool paired, std::int64_t column, std::int64_t columns) {
    return paired && column + 2 * kernels.most_columns <= columns ? 2 : 1;
}

/// Whether such tiles find b as near where it lies as where it is copied: it is small, and its rows do not collide. (Xeon, of the time with copies: 80, 96,
/// 150 and 300 cubed 0.93 to 0.98, 40 x 500 by 500 0.95; 512 cubed, rows 2 KB apart, 1.05.) A Zen 5 follows it wherever it lies (64 x 1,024 by 1,024 and
/// 4,096 0.92, 0.96, 128 x 784 by 1,024, 512 cubed 0.96, 128 x 768 by 3,072 1.0), but many rows by doubles whose rows lie pages apart (1.03 to 1.07).
template <class T>
bool stays_near(const GemmProblem<T>& p) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(NumberOf<T>));
    if (is_zen5()) return size == 4 || p.m <= 64 || p.b_row * size % 4096 != 0;
    return p.m * p.n * p.k <= (32 << 20) && p.n * p.k * size <= second_level_bytes && p.b_row * size % 1024 != 0;
}

/// Of A' B, both of which have few columns, side by side, and many rows: whether those of A fill vectors better. (A Zen 4, 10,000 x 20 and x 4: 0.65 of the
/// time.)
template <class T>
bool fewer_vectors_turned(const GemmProblem<T>& p) {
    constexpr std::int64_t least_k = 64, most_columns = 128;
    if (p.a_row != 1 || p.a_column == 1 || p.b_column != 1 || p.b_row == 1 || p.packed_b) return false;
    std::int64_t half = kernels<T>().most_columns / 4;  // of a vector, which may take half of the time
    auto halves = [&](std::int64_t columns) {
        std::int64_t count = divide_up(columns, half);
        return computes_in_halves() ? count : divide_up(count, 2) * 2;
    };
    return p.n < p.m && p.n > 1 && p.m <= most_columns && p.k >= least_k &&
           8 * p.n * halves(p.m) < 7 * p.m * halves(p.n);
}

/// Whether B' A' takes less time than A B, c turned afterwards. Columns of b that lie side by side are copied, turned, just before the rows of a
/// read them, which costs as much as some 10 multiplications a number (of 8 bytes, or of many megabytes, more): much, where there are few rows.
/// The other way b is read as it lies, and a is copied, of which a vector has `lanes` numbers. (A Zen 4, b from beyond the second-level cache: 8,
/// 16 and 32 rows in 0.79, 0.78 and 0.95 of the time, 64 by 768 x 3072 in 0.84; doubles in 0.5, 0.6, 0.8; but 24 and 100 rows of floats in 1.1.)
template <class T>
bool better_turned(const GemmProblem<T>& p) {
    if (fewer_vectors_turned(p)) return true;
    constexpr std::int64_t least_rows = 8, most_rows = 64, of_c = 10, many_bytes = 8 << 20;
    std::int64_t bytes = p.n * p.k * static_cast<std::int64_t>(sizeof(NumberOf<T>));
    bool copied = p.b_row == 1 && p.b_column != 1 && !p.packed_b;
    if (!copied || p.m < least_rows || p.m > most_rows || bytes < second_level_bytes / 4) return false;
    std::int64_t lanes = kernels<T>().most_columns / 2;
    if (computes_in_halves() && 2 * p.m <= lanes) lanes /= 2;
    std::int64_t of_b = sizeof(NumberOf<T>) > 4 || bytes >= many_bytes ? 18 : 10;
    std::int64_t as_it_is = p.m * p.n * p.k + of_b * p.n * p.k;
    std::int64_t turned = divide_up(p.m, lanes) * lanes * p.n * p.k + of_b / 2 * p.m * p.k + of_c * p.m * p.n;
    return turned + turned * 3 / 20 < as_it_is;
}

/// Numbers that are one operand, those that are packed together, and how many operands k of them are.
template <class T>
inline constexpr std::int64_t together = ProductOf<T>::together;
template <class T>
std::int64_t deep() {
    if constexpr (together<T> == 1) return 1;
    return kernels<T>().deep;
}
template <class T>
std::int64_t operands(std::int64_t k) {
    return divide_up(k, deep<T>()) * (deep<T>() / together<T> * ProductOf<T>::parts);
}
/// Pieces of k of at most so many operands each.
template <class T>
std::int64_t pieces_of_operands(std::int64_t k, std::int64_t most) {
    return divide_up(divide_up(k, deep<T>()), most / operands<T>(deep<T>()));
}
/// Where part i of `parts` of k numbers begins: never within what is packed together.
template <class T>
std::int64_t begin_of_k(std::int64_t i, std::int64_t parts, std::int64_t k) {
    return std::min(k, begin_of(i, parts, divide_up(k, deep<T>())) * deep<T>());
}

/// Whether a is copied once, for all threads: it stays in the second-level cache. Else each block copies its rows just before it reads them.
template <class T>
bool copied_whole(std::int64_t m, std::int64_t k) {
    return m * operands<T>(k) * static_cast<std::int64_t>(sizeof(OperandOf<T>)) <= second_level_bytes;
}
/// Operands that the copy of a block takes.
template <class T>
std::int64_t block_operands(std::int64_t m, std::int64_t k) {
    std::int64_t rows = most_rows_of(kernels<T>(), 0);
    return std::max(std::min(m, block_rows * together<T> + rows) * std::min(operands<T>(k), depth),
                    std::min(m, paired_block_rows + rows) * std::min(operands<T>(k), paired_depth(k)));
}
/// Operands that copies take: one, or one for each of so many threads.
template <class T>
std::int64_t copied_operands(std::int64_t m, std::int64_t k, int threads) {
    return copied_whole<T>(m, k) ? m * operands<T>(k) : threads * block_operands<T>(m, k);
}
/// Memory for them, of a product and of all its cuts.
template <class T>
struct Copies {
    Copies(OperandOf<T>* memory, std::int64_t m, std::int64_t k, int threads)
        : memory(memory), whole(copied_whole<T>(m, k)), threads(threads), each(block_operands<T>(m, k)) {}
    OperandOf<T>* memory;
    bool whole;
    int threads;
    std::int64_t each;  // of a thread, if not the whole
};

}  // namespace weft::cpu::own
