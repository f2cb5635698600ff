// The innermost loops of weft's own matrix product, one table an instruction set and type. A tile of C is at most
// most_rows x most_columns, or one row. Every element of C is one chain of fused multiply-adds in the order of k (of pairs of bfloat16: the second, then the
// first, as the processors' instruction does; by AMX another order, isa/gemm_amx.cpp), whatever the set, the tile and the cut of k into pieces, so
// results are the same bits for all of them. Callers: backend/cpu/gemm_multiplication.h, own_gemm.cpp, winograd*.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// Two bfloat16 that follow each other along k, the first in the lower half: one operand, since processors multiply and add such pairs.
struct BFloat16Pair {
    std::uint32_t bits;
};
/// In the place of a type: float32 that products take, as they read it, for the sum of so many bfloat16, the first the number rounded, the next
/// what is left, rounded; products of such parts, as far as they count (i + j < parts), are summed in float32.
template <int parts>
struct FloatOfParts;
using RoundedFloat = FloatOfParts<1>;

/// Of a product: the numbers that are given, what a tile multiplies, made of `together` of them along k, and what it sums in.
template <class T>
struct ProductOf {
    using Number = T;
    using Operand = T;
    using Sum = T;
    static constexpr std::int64_t together = 1, parts = 1;
};
template <int of_parts>
struct ProductOf<FloatOfParts<of_parts>> {
    using Number = float;
    using Operand = BFloat16Pair;
    using Sum = float;
    static constexpr std::int64_t together = 2, parts = of_parts;
};
template <class T>
using NumberOf = typename ProductOf<T>::Number;
template <class T>
using OperandOf = typename ProductOf<T>::Operand;
template <class T>
using SumOf = typename ProductOf<T>::Sum;

/// c[i, j] = relu?((accumulate ? c[i, j] : 0) + sum over k of a[i, k] b[k, j] + bias?[j]); strides, and k, in operands.
template <class T>
struct GemmTile {
    const OperandOf<T>* a;
    std::int64_t a_row, a_column;  // one of them 1, where there are several rows
    const OperandOf<T>* b;
    std::int64_t b_row;  // columns of b lie side by side
    SumOf<T>* c;
    std::int64_t c_row;
    std::int64_t k;
    int rows, columns;
    bool accumulate;
    const SumOf<T>* bias;  // of this tile's columns; null: none
    bool relu;
    /// What is read next, on its way from memory: each row of b, of tall tiles each second, by fours each fourth one, takes one more step of this along; at least an address.
    const OperandOf<T>* fetch;
    std::int64_t fetch_step;  // of few_rows: so many numbers ahead along rows of b are asked for; 0: none
    /// So many tiles of most_columns each, side by side in c; of b the next one's columns begin so much further. Fetching goes on.
    int panels = 1;
    std::int64_t b_panel = 0;
    /// b's rows, stored as they are read, most_columns apart, of one panel behind the other; of a tile of whole panels, paired or of as
    /// many rows as GemmKernels says. Null: nowhere.
    OperandOf<T>* copy_b = nullptr;
    /// Of two panels: both together, where GemmKernels::paired_rows are as many rows or a few more. Each second row of b asks for a line.
    bool paired = false;
    /// Of paired tiles whose rows of a lie apart: where a line of these begins, what is asked for goes on so many numbers behind it, fetch_step apart
    /// (eight lines; of doubles four); 0: it goes on as it began.
    std::int64_t next_a = 0;
    /// Of paired tiles, and of those that ask for it: where the next one's sums lie, of as many rows; at least an address.
    const SumOf<T>* next_c = nullptr;
    bool asks_c = false;
};

/// The fewest rows of tiles of two panels together, where the most are so many: fewer sums would wait for each other.
constexpr int least_paired_rows(int most) { return (2 * most + 2) / 3; }

constexpr int most_few_rows = 4;
/// Most columns of inner products that are computed together.
constexpr int most_dot_columns = 4;
constexpr int most_short = 12;

template <class T>
struct GemmKernels {
    int most_rows, most_columns;
    void (*tile)(const GemmTile<T>& tile);
    /// to[k * rows + i] = a[i, k], for a tile's rows: operands made of numbers, strides and k in numbers; what is missing of the last operand is 0.
    void (*pack_a)(OperandOf<T>* to, const NumberOf<T>* a, std::int64_t row, std::int64_t column, int rows,
                   std::int64_t k);
    /// to[k * most_columns + j] = b[k, j], zero from `columns` on; likewise.
    void (*pack_b)(OperandOf<T>* to, const NumberOf<T>* b, std::int64_t row, std::int64_t column, int columns,
                   std::int64_t k);
    /// The inner products of so many rows of a with so many columns of b, `step` apart, each contiguous: to[i * columns + j], in 64 lanes joined
    /// by halves, of several columns (most_dot_columns at most) in 64 bytes of lanes. Null: there are none of its own.
    void (*dots)(SumOf<T>* to, const NumberOf<T>* a, std::int64_t row, const NumberOf<T>* b, std::int64_t step,
                 int columns, std::int64_t k, int rows);
    /// A tile of few rows and as many columns as c's rows stay near: b is read in whole rows, some at a time. `rows` up to most_few_rows;
    /// a and b as they lie; nothing is fetched. Null: there is none.
    void (*few_rows)(const GemmTile<T>& tile);
    /// Any number of rows and columns of sums of 1 to most_short products: b is read once a panel; nothing is fetched. Null: there is none.
    void (*short_sums)(const GemmTile<T>& tile);
    /// to[i] += from[i]
    void (*add)(SumOf<T>* to, const SumOf<T>* from, std::int64_t count);
    /// Numbers of k that are packed together: operands for what is missing of the last are 0.
    std::int64_t deep = ProductOf<T>::together;
    /// Called on a thread behind its tiles. Null: there is nothing to be let go of.
    void (*let_go)() = nullptr;
    /// Rows from which on tiles of one panel heed GemmTile::copy_b, and are tall; 0: none.
    int least_copying = 0, tall_rows = 0;
    /// The most rows of two panels together; 0: each is multiplied by itself.
    int paired_rows = 0;
    /// Rows from which on tiles of whole vectors ask with each fourth row of b; 0: none.
    int fours_rows = 0;
    /// The most rows of tiles of half of most_columns, or fewer; 0: as many as of others.
    int single_rows = 0;
    /// Lines that a tile asks for; one, where it asks for none.
    std::int64_t asked_for(std::int64_t rows, std::int64_t k, bool paired = false) const {
        auto of = [rows](int least) { return least > 0 && rows >= least; };
        std::int64_t lines = paired || of(tall_rows) ? k / 2 : of(fours_rows) ? k / 4 : k;
        return lines > 0 ? lines : 1;
    }
};

#define WEFT_DECLARE_GEMM(isa)                                                                      \
    namespace isa {                                                                                 \
    extern const GemmKernels<float> gemm_kernels_f32;                                               \
    extern const GemmKernels<double> gemm_kernels_f64;                                              \
    /* with the arithmetic of float32; with the processor's instruction, where this build has it */ \
    extern const GemmKernels<RoundedFloat> gemm_kernels_rounded, gemm_kernels_pairs;                \
    void compute_tile_of_pairs(const GemmTile<RoundedFloat>& tile);                                 \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_DECLARE_GEMM)
#undef WEFT_DECLARE_GEMM

#if WEFT_COMPILES_AVX512
namespace avx512 {
extern const GemmKernels<RoundedFloat> gemm_kernels_amx;
extern const GemmKernels<FloatOfParts<2>> gemm_kernels_amx_x3;
extern const GemmKernels<FloatOfParts<3>> gemm_kernels_amx_x6;
}  // namespace avx512
#endif

}  // namespace weft::cpu
