// The innermost loop of weft's own matrix products: a tile of C in registers, for every kind of number that Lanes (below, isa/pairs.h) tells
// how to read and multiply. Included by the sources of the kinds (isa/gemm.cpp, isa/gemm_bfloat16.cpp), each of which may allow instructions
// of its own; everything is in an unnamed namespace for that.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "weft/backend/cpu/isa/gemm_fours.h"
#include "weft/backend/cpu/isa/gemm_kernels.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

// Whether the set multiplies and adds by one instruction. A call keeps nothing in registers, so tiles of more rows and panels of more vectors save
// nothing beside it, and are half a megabyte.
#if defined(WEFT_ISA_avx512) || defined(WEFT_ISA_avx2) || defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA)
constexpr bool fused = true;
#else
constexpr bool fused = false;
#endif

// Registers: rows x vectors of accumulators, `vectors` of b, one of a. AVX-512 has 32, the others 16. Sanitizers check
// every one of the unrolled accesses, which takes minutes to compile: small tiles for them, of the same code with the
// same results.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int most_rows = 3;
#elif defined(WEFT_ISA_avx512)
constexpr int most_rows = 14;
#elif defined(WEFT_ISA_avx2)
constexpr int most_rows = 6;
#else
constexpr int most_rows = 1;
#endif
constexpr int most_vectors = 2;

/// Rows of tiles of one vector: where two vectors of most_rows fill the registers, so many sums of one would wait for each other. (A Zen 3, tiles of 12 rows
/// for 6: 128 x 256 by 8 columns 0.7 of the time.) 0: as many as of others.
#if defined(WEFT_ISA_avx2)
constexpr int single_rows = 2 * most_rows;
#else
constexpr int single_rows = 0;
#endif
template <class T>
constexpr int single_rows_of = std::is_same_v<OperandOf<T>, T> ? single_rows : 0;

/// Tiles of at least so many rows count every second row of b alone, and ask for as much: processors that share a core's front with another thread
/// wait for instructions. 0: none does.
constexpr int tall_rows = most_rows >= 12 ? 12 : 0;
template <class T, int rows>
constexpr bool is_tall = std::is_same_v<OperandOf<T>, T> ? (tall_rows > 0 && rows >= tall_rows) : false;

/// Tiles of at least so many rows take four rows of b at a time, and ask for a line with each four. 0: none does.
#if defined(WEFT_ISA_avx2)
constexpr int fours_rows = most_rows * 2 / 3;
#else
constexpr int fours_rows = 0;
#endif
template <class T, int rows>
constexpr bool takes_fours = std::is_same_v<OperandOf<T>, T> ? (fours_rows > 0 && rows >= fours_rows) : false;

/// Tiles of at most so many rows, and few fewer, take two panels side by side: 24 multiplications for 10 loads, where one panel's tall ones have 28
/// for 16. 0: none does.
#if defined(WEFT_ISA_avx512)
constexpr int paired_rows = most_rows < 6 ? most_rows : 6;
#else
constexpr int paired_rows = 0;
#endif
template <class T, int rows>
constexpr bool is_paired = std::is_same_v<OperandOf<T>, T>
                               ? rows <= paired_rows&& rows >= least_paired_rows(paired_rows)
                               : false;

/// Rows from which on tiles of one panel store b as they read it, of numbers that are multiplied as they lie; 0: they do not, but paired ones do. Where
/// three tiles or more read what is copied, hardly one has fewer.
template <class T>
constexpr int least_copying = std::is_same_v<OperandOf<T>, T> ? (fused&& paired_rows == 0 ? most_rows * 2 / 3 : 0) : 0;

/// How the tile of a T is read and multiplied: `Vector` holds one operand a lane of the sums. Numbers are their own operands.
template <class T>
struct Lanes {
    using Vector = typename Vec<T>::Type;
    WEFT_INLINE Vector load(const T* from) { return Vec<T>::load(from); }
    WEFT_INLINE Vector load(const T* from, int count) { return Vec<T>::load(from, count); }
    WEFT_INLINE Vector all(T value) { return Vec<T>::all(value); }
    WEFT_INLINE Vector multiply_add(Vector a, Vector b, Vector sum) { return Vec<T>::fma(a, b, sum); }
};

/// `whole`: every lane of every vector is a column; `near_rows`: rows of a lie side by side (packed, or transposed), else each lies in one piece.
/// `copying`: b is stored as it is read; the vectors are those of so many `panels`. V and L: the vectors of the sums and of the operands.
template <class T, int rows, int vectors, bool whole, bool near_rows, bool copying = false, int panels = 1,
          class V = Vec<SumOf<T>>, class L = Lanes<OperandOf<T>>>
void compute(const GemmTile<T>& tile) {
    using Sum = SumOf<T>;
    using Operand = OperandOf<T>;
    constexpr int each = vectors / panels;  // vectors of a panel
    const int last = whole ? V::lanes : tile.columns - (vectors - 1) * V::lanes;
    auto load = [last](const Sum* from, int v) __attribute__((always_inline)) {
        return !whole && v == vectors - 1 ? V::load(from + v * V::lanes, last) : V::load(from + v * V::lanes);
    };
    typename V::Type sums[rows][vectors];
    // Three rows of a to an address, so that all addresses have registers: the others lie one and two strides further.
    constexpr int groups = (rows + 2) / 3;
    const Operand* from_a[groups];
    for (int g = 0; g < groups; ++g) from_a[g] = tile.a + 3 * g * tile.a_row;
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums[i][v] = tile.accumulate ? load(tile.c + i * tile.c_row, v) : V::zero();
    }
    const Operand* a = tile.a;
    const Operand* b = tile.b;
    const std::int64_t row = tile.a_row, a_column = tile.a_column, b_row = tile.b_row;
    [[maybe_unused]] const std::int64_t b_panel = tile.b_panel, copy_panel = each * V::lanes * tile.k;
    [[maybe_unused]] Operand* copy = tile.copy_b;
    const std::uintptr_t row_bytes = static_cast<std::uintptr_t>(row) * sizeof(Operand);
    // Of b, the row that is `at` behind the one that a stands at.
    auto multiply_row = [&](int at) __attribute__((always_inline)) {
        typename L::Vector from_b[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            const Operand* from = b + v % each * V::lanes + (v < each ? 0 : b_panel);
            from_b[v] = !whole && v == vectors - 1 ? L::load(from, last) : L::load(from);
        }
        if constexpr (copying) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                V::store(copy + v % each * V::lanes + (v < each ? 0 : copy_panel), from_b[v]);
            copy += each * V::lanes;
        }
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            typename L::Vector factor = L::all(near_rows ? a[i] : further(from_a[i / 3], i % 3 * row_bytes)[at]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sums[i][v] = L::multiply_add(factor, from_b[v], sums[i][v]);
        }
        a += a_column;
        b += b_row;
    };
    auto go_on = [&](int by) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (int g = 0; g < groups; ++g) from_a[g] += near_rows ? 0 : by;
    };
    const Operand* fetch = tile.fetch;
    std::int64_t fetch_step = tile.fetch_step;
    auto ask = [&]() __attribute__((always_inline)) {
        __builtin_prefetch(fetch, 0, 2);
        fetch += fetch_step;
    };
    std::int64_t left = tile.k;
    if constexpr (whole && (is_tall<T, rows> || panels > 1)) {
        constexpr std::int64_t in_line = 64 / sizeof(Operand), asked = 32 / in_line;
        constexpr std::int64_t last_rows = panels > 1 ? 2 * rows * vectors : 0;
        auto multiply_two = [&]() __attribute__((always_inline)) {
            ask(), multiply_row(0), multiply_row(1), go_on(2);
            left -= 2;
        };
        // The next line of each row of a that lies apart: they are more than the processor follows by itself.
        [[maybe_unused]] const Operand* ahead = from_a[0] + in_line;
        [[maybe_unused]] const std::int64_t next_a = tile.next_a;
        // Along with the last rows the next tile's sums, a column of lines after the other, in place of what else is asked for.
        [[maybe_unused]] std::int64_t asking_c = tile.asks_c ? 2 * rows * vectors : 0;
        [[maybe_unused]] const Operand* next_c = tile.next_c;
        for (;;) {
            while (left >= (near_rows && panels == 1 ? asking_c : last_rows) + 2) {
                if constexpr (!near_rows && panels == 1) {
#pragma GCC unroll 4
                    for (int i = 0; i < asked; ++i) __builtin_prefetch(further(ahead, i * row_bytes));
                    ahead += asked * row;
                    if ((left & (in_line - 2)) == 0) ahead = from_a[0] + in_line;
                }
                if constexpr (!near_rows && panels > 1)
                    if (next_a != 0 && (left & (in_line - 2)) == 0) fetch = from_a[0] + next_a;
                multiply_two();
            }
            if (!near_rows || panels > 1 || asking_c == 0) break;
            asking_c -= 2 * rows;
            fetch = next_c, fetch_step = tile.c_row, next_c += V::lanes;
        }
        // The next tile's sums, which its first products wait for, along with the last rows.
        if constexpr (panels > 1) {
            const Sum* next = tile.next_c;
            int line = 0;
#pragma GCC unroll 1
            while (left >= 2) {
                __builtin_prefetch(next + line * V::lanes, 1);
                if (++line == vectors) line = 0, next += tile.c_row;
                multiply_two();
            }
        }
        if (left > 0) multiply_row(0);
    } else {
        if constexpr (whole && panels == 1 && takes_fours<T, rows>) {
            TilePlace<T, groups> at{a, b, from_a, row, a_column, b_row, copy, fetch, fetch_step};
            left = multiply_fours<near_rows, copying, V>(sums, at, left);
            a = at.a, b = at.b, copy = at.copy, fetch = at.fetch;
        }
        for (; left > 0; --left) ask(), multiply_row(0), go_on(1);
    }
    // Read once: what is stored might lie in the tile's own memory for all that the compiler knows.
    Sum* const c = tile.c;
    const std::int64_t c_row = tile.c_row;
    const Sum* const bias = tile.bias;
    const bool relu = tile.relu;
    if (bias) {
        typename V::Type added[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) added[v] = load(bias, v);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sums[i][v] = V::add(sums[i][v], added[v]);
        }
    }
    if (relu) {
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sums[i][v] = V::relu(sums[i][v]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            Sum* to = c + i * c_row + v * V::lanes;
            if (!whole && v == vectors - 1)
                V::store(to, sums[i][v], last);
            else
                V::store(to, sums[i][v]);
        }
    }
}

template <class T, int rows, int vectors, bool whole, bool copying = false, int panels = 1>
void choose_rows_of_a(const GemmTile<T>& tile) {
    if (rows == 1 || tile.a_row == 1)
        compute<T, rows, vectors, whole, true, copying, panels>(tile);
    else
        compute<T, rows, vectors, whole, false, copying, panels>(tile);
}

#if defined(WEFT_ISA_avx512)
template <class T>
struct HalfLanes : HalfVec<T> {
    using Vector = typename HalfVec<T>::Type;
    WEFT_INLINE Vector multiply_add(Vector a, Vector b, Vector sum) { return HalfVec<T>::fma(a, b, sum); }
};

/// Columns that end within the first half of a vector, where processors take half of the time for half a vector: 196 x 1000 by 20, 50 and 100
/// columns on a Zen 4 in 0.83, 0.91 and 0.95 of the time, by 8 in 0.68. Whether it was such.
template <class T, int rows>
bool end_in_half(const GemmTile<T>& tile) {
    if constexpr (!std::is_same_v<OperandOf<T>, T>) {
        return false;
    } else {
        constexpr int lanes = Vec<T>::lanes;
        int full = tile.columns > lanes ? lanes : 0;
        if (tile.columns - full > lanes / 2 || tile.k < 16 || !computes_in_halves()) return false;
        GemmTile<T> part = tile;
        if (full > 0) {
            part.columns = full;
            choose_rows_of_a<T, rows, 1, false>(part);
            part.columns = tile.columns - full;
            part.b += full, part.c += full;
            if (tile.bias) part.bias += full;
        }
        if (rows == 1 || tile.a_row == 1)
            compute<T, rows, 1, false, true, false, 1, HalfVec<T>, HalfLanes<T>>(part);
        else
            compute<T, rows, 1, false, false, false, 1, HalfVec<T>, HalfLanes<T>>(part);
        return true;
    }
}
#endif

/// Tile after tile along c's rows: to choose among all kinds for each takes 1 to 2 % of a tile whose sums have 128 products.
template <class T, int rows>
void compute_panels(const GemmTile<T>& tile) {
    if constexpr (is_paired<T, rows>)
        if (tile.paired)
            return tile.copy_b ? choose_rows_of_a<T, rows, 4, true, true, 2>(tile)
                               : choose_rows_of_a<T, rows, 4, true, false, 2>(tile);
    GemmTile<T> one = tile;
    constexpr int each = is_tall<T, rows> ? 2 : takes_fours<T, rows> ? 4 : 1;  // rows of b
    for (int panel = 0; panel < tile.panels; ++panel) {
        choose_rows_of_a<T, rows, 2, true>(one);
        one.b += tile.b_panel, one.c += tile.columns, one.fetch += tile.k / each * tile.fetch_step;
        if (one.bias) one.bias += tile.columns;
    }
}

/// Of one vector, or a part of it.
template <class T, int rows>
void choose_single(const GemmTile<T>& tile) {
    if (single_rows_of < T >> 0 && tile.columns == Vec<SumOf<T>>::lanes)
        choose_rows_of_a<T, rows, 1, true>(tile);
    else
        choose_rows_of_a<T, rows, 1, false>(tile);
}

template <class T, int rows>
void choose_columns(const GemmTile<T>& tile) {
    constexpr int lanes = Vec<SumOf<T>>::lanes;
    if constexpr (rows > most_rows) return choose_single<T, rows>(tile);
    if (tile.panels > 1) return compute_panels<T, rows>(tile);
#if defined(WEFT_ISA_avx512)
    if (end_in_half<T, rows>(tile)) return;
#endif
    constexpr int least = least_copying<T>;
    if constexpr (least > 0 && rows >= least)
        if (tile.copy_b) return choose_rows_of_a<T, rows, 2, true, true>(tile);
    if (tile.columns == 2 * lanes)
        choose_rows_of_a<T, rows, 2, true>(tile);
    else if (tile.columns > lanes)
        choose_rows_of_a<T, rows, 2, false>(tile);
    else
        choose_single<T, rows>(tile);
}

template <class T>
void add_to(T* to, const T* from, std::int64_t count) {
    using V = Vec<T>;
    for (; count >= V::lanes; count -= V::lanes, to += V::lanes, from += V::lanes)
        V::store(to, V::add(V::load(to), V::load(from)));
    for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

/// Whether sums of four vectors of a row wait for each other side by side: of numbers that are multiplied as they are.
template <class T>
constexpr bool four_in_a_row = fused&& std::is_same_v<OperandOf<T>, T>;

/// One row, of any columns: sums of up to four vectors side by side, for those of two would wait for themselves (1 x 64 by 64 x 64 on a Zen 4: 0.6 of
/// the time; 1 x 2,000 by 20 columns 0.58).
template <class T>
void compute_one_row(const GemmTile<T>& tile) {
    constexpr int lanes = Vec<SumOf<T>>::lanes, most = four_in_a_row<T> ? 4 * lanes : 2 * lanes;
    GemmTile<T> part = tile;
    for (int left = tile.columns; left > 0; left -= part.columns) {
        part.columns = left < most ? left : most;
        if constexpr (four_in_a_row<T>) {
            if (left >= most)
                compute<T, 1, 4, true, true>(part);
            else if (left > 3 * lanes)
                compute<T, 1, 4, false, true>(part);
            else if (left > 2 * lanes)
                compute<T, 1, 3, false, true>(part);
            else if (left > lanes)
                compute<T, 1, 2, false, true>(part);
            else
                choose_columns<T, 1>(part);
        } else {
            choose_columns<T, 1>(part);
        }
        part.b += part.columns, part.c += part.columns;
        if (part.bias) part.bias += part.columns;
    }
}

template <class T>
void compute_tile(const GemmTile<T>& tile) {
    constexpr int in_one = four_in_a_row<T> ? 1 : most_vectors;
    if (four_in_a_row<T> && tile.rows == 1 && tile.panels > 1 && tile.b_panel == tile.columns && !tile.copy_b) {
        GemmTile<T> one = tile;
        one.columns *= tile.panels, one.panels = 1;
        return compute_one_row(one);
    }
    if (tile.rows == 1 && tile.panels == 1 && tile.columns > in_one * Vec<SumOf<T>>::lanes)
        return compute_one_row(tile);
    static constexpr auto of_rows = []<std::size_t... i>(std::index_sequence<i...>) {
        return std::array{&choose_columns<T, static_cast<int>(i) + 1>...};
    }
    (std::make_index_sequence<std::max(most_rows, single_rows_of<T>)>());
    of_rows[static_cast<std::size_t>(tile.rows - 1)](tile);
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
