// The loop of a tile where vectors have 16 registers (AVX2): four rows of b at a time. Six rows of a and two vectors of b leave no register for what
// counts and points, and while another guest uses the same core a thread waits for instructions: 22 for each row of b so, 26 one by one (a Zen 3,
// shared: 128 x 784 by 784 x 1024 in 0.8 of the time). Callers: isa/gemm_tile.h.
#pragma once

#include "weft/backend/cpu/isa/gemm_kernels.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

/// Where a tile of whole vectors stands.
template <class T, int groups>
struct TilePlace {
    const T *a, *b;
    const T* (&rows_of_a)[groups];  // each third row's, where they lie apart
    std::int64_t a_row, a_column, b_row;
    T* copy;
    const T* fetch;
    std::int64_t fetch_step;
};

/// So many bytes further: as a number, so that compilers add to addresses what is known, and keep no sum of both.
template <class T>
WEFT_INLINE const T* further(const T* from, std::uintptr_t bytes) {
    return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(from) + bytes);
}

/// Joins four rows of b as often as `left` has them to the sums, one after the other; of each four a line is asked for. Returns what is left.
template <bool near_rows, bool copying, class V, class T, int rows, int vectors, int groups>
WEFT_INLINE std::int64_t multiply_fours(typename V::Type (&sums)[rows][vectors], TilePlace<T, groups>& at,
                                        std::int64_t left) {
    auto bytes = [](std::int64_t numbers) { return static_cast<std::uintptr_t>(numbers) * sizeof(T); };
    const std::uintptr_t row = bytes(at.a_row), column = bytes(at.a_column), b_row = bytes(at.b_row);
    const T *a = at.a, *b = at.b, *fetch = at.fetch;
    const T *last_a = further(a, 3 * column),
            *last_b = further(b, 3 * b_row);  // addresses know twice a step, not thrice
    T* copy = at.copy;
    for (; left >= 4; left -= 4) {
        __builtin_prefetch(fetch, 0, 2);
        fetch += at.fetch_step;
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
            const T* from_b = k == 3 ? last_b : further(b, k * b_row);
            const T* from_a = k == 3 ? last_a : further(a, k * column);
            typename V::Type of_b[vectors];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                of_b[v] = V::load(from_b + v * V::lanes);
                if constexpr (copying) V::store(copy + (k * vectors + v) * V::lanes, of_b[v]);
            }
#pragma GCC unroll 16
            for (int i = 0; i < rows; ++i) {
                auto factor = V::all(near_rows ? from_a[i] : further(at.rows_of_a[i / 3], i % 3 * row)[k]);
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) V::add_product(sums[i][v], factor, of_b[v]);
            }
        }
        b = further(b, 4 * b_row), last_b = further(last_b, 4 * b_row);
        if constexpr (near_rows) a = further(a, 4 * column), last_a = further(last_a, 4 * column);
        if constexpr (copying) copy += 4 * vectors * V::lanes;
#pragma GCC unroll 8
        for (int g = 0; g < groups; ++g) at.rows_of_a[g] += near_rows ? 0 : 4;
    }
    at.a = a, at.b = b, at.copy = copy, at.fetch = fetch;
    return left;
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
