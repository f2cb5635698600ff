// Products whose sums are short: a panel of b stays in registers, and all rows of a pass it. Included by isa/gemm.cpp.
#pragma once

#include "weft/backend/cpu/isa/gemm_tile.h"

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int short_registers = 6;  // compiling more takes minutes
#elif defined(WEFT_ISA_avx512)
constexpr int short_registers = 30;
#else
constexpr int short_registers = fused ? 14 : 1;
#endif

/// Vectors of a panel of so many rows: they and the sums of a row have registers.
constexpr int panel_vectors(int deep) {
    int vectors = short_registers / (deep + 1);
    return vectors > 8 ? 8 : vectors < 1 ? 1 : vectors;
}

/// tile.columns end within the last of the vectors.
template <class T, int deep, int vectors>
void multiply_panel(const GemmTile<T>& tile) {
    using V = Vec<T>;
    const int last = tile.columns - (vectors - 1) * V::lanes;
    auto load = [last](const T* from, int v) __attribute__((always_inline)) {
        return v == vectors - 1 ? V::load(from + v * V::lanes, last) : V::load(from + v * V::lanes);
    };
    typename V::Type b[deep][vectors];
#pragma GCC unroll 16
    for (int d = 0; d < deep; ++d)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) b[d][v] = load(tile.b + d * tile.b_row, v);
    const T* a = tile.a;
    T* c = tile.c;
    for (int i = 0; i < tile.rows; ++i, a += tile.a_row, c += tile.c_row) {
        typename V::Type sums[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sums[v] = tile.accumulate ? load(c, v) : V::zero();
#pragma GCC unroll 16
        for (int d = 0; d < deep; ++d) {
            typename V::Type factor = V::all(a[d * tile.a_column]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) sums[v] = V::fma(factor, b[d][v], sums[v]);
        }
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            if (tile.bias) sums[v] = V::add(sums[v], load(tile.bias, v));
            if (tile.relu) sums[v] = V::relu(sums[v]);
            if (v == vectors - 1)
                V::store(c + v * V::lanes, sums[v], last);
            else
                V::store(c + v * V::lanes, sums[v]);
        }
    }
}

template <class T, int deep, int vectors>
void choose_vectors(const GemmTile<T>& tile, int wanted) {
    if (wanted == vectors) return multiply_panel<T, deep, vectors>(tile);
    if constexpr (vectors > 1) choose_vectors<T, deep, vectors - 1>(tile, wanted);
}

/// Panels of about the same width.
template <class T, int deep>
void multiply_panels(const GemmTile<T>& tile) {
    constexpr int lanes = Vec<T>::lanes, most = panel_vectors(deep);
    int vectors = (tile.columns + lanes - 1) / lanes, panels = (vectors + most - 1) / most;
    GemmTile<T> part = tile;
    for (int column = 0; panels > 0; --panels) {
        int wide = (vectors + panels - 1) / panels, rest = tile.columns - column;
        part.columns = wide * lanes < rest ? wide * lanes : rest;
        part.b = tile.b + column, part.c = tile.c + column, part.bias = tile.bias ? tile.bias + column : nullptr;
        choose_vectors<T, deep, most>(part, wide);
        column += part.columns, vectors -= wide;
    }
}

template <class T, int deep = 1>
void short_sums(const GemmTile<T>& tile) {
    if (tile.k == deep) return multiply_panels<T, deep>(tile);
    if constexpr (deep < most_short) short_sums<T, deep + 1>(tile);
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
