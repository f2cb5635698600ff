// The innermost loops of weft's own matrix product, one table an instruction set and type. A tile of C is at most
// most_rows x most_columns. Every element of C is one chain of fused multiply-adds in the order of k, whatever the set,
// the tile and the cut of k into pieces, so results are the same bits for all of them. Caller:
// backend/cpu/own_gemm.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// c[i, j] = relu?((accumulate ? c[i, j] : 0) + sum over k of a[i, k] b[k, j] + bias?[j]); strides in elements.
template <class T>
struct GemmTile {
    const T* a;
    std::int64_t a_row, a_column;
    const T* b;
    std::int64_t b_row;  // columns of b lie side by side
    T* c;
    std::int64_t c_row;
    std::int64_t k;
    int rows, columns;
    bool accumulate;
    const T* bias;  // of this tile's columns; null: none
    bool relu;
    const T*
        fetch;  // each row of b takes one more step of this along: what is read next, on its way from memory; at least an address
    std::int64_t fetch_step;
};

template <class T>
struct GemmKernels {
    int most_rows, most_columns;
    void (*tile)(const GemmTile<T>& tile);
    /// to[k * rows + i] = a[i, k], for a tile's rows.
    void (*pack_a)(T* to, const T* a, std::int64_t row, std::int64_t column, int rows, std::int64_t k);
    /// to[k * most_columns + j] = b[k, j], zero from `columns` on.
    void (*pack_b)(T* to, const T* b, std::int64_t row, std::int64_t column, int columns, std::int64_t k);
    /// The inner product of two rows of contiguous numbers, in 64 lanes joined by halves.
    T (*dot)(const T* a, const T* b, std::int64_t k);
};

#define WEFT_DECLARE_GEMM(isa)                         \
    namespace isa {                                    \
    extern const GemmKernels<float> gemm_kernels_f32;  \
    extern const GemmKernels<double> gemm_kernels_f64; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_DECLARE_GEMM)
#undef WEFT_DECLARE_GEMM

}  // namespace weft::cpu
