// Few columns of floating numbers, all rows joined in registers: vectors by hand, for of a maximum of doubles g++ 12 makes loops of single numbers,
// and of one vector of 32 bytes no more than of four. To the bits of Joined::join_tall, NaN's payload excepted. Included by joined.h.
#pragma once

#include "weft/backend/cpu/isa/short_rows.h"
#include "weft/base/integers.h"

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// Vectors that registers hold, with what is remembered beside them.
#if defined(WEFT_ISA_avx512)
constexpr int most_vectors_held = 8;
#else
constexpr int most_vectors_held = 4;
#endif

/// Sums and products: one vector of columns, joined to row by row.
template <class M, class V = Vec<typename M::Value>>
struct ColumnVector {
    typename V::Type total;
    void begin(typename V::Type from) { total = from; }
    void join(typename V::Type value) { total = OnVectors<M>::join(total, value); }
    typename V::Type end() const { return total; }
};
/// Of the greatest or least: whether a NaN was met is remembered beside it, so that the next row waits for one instruction alone.
template <class T, bool greatest, class V>
struct ColumnVector<Extreme<T, greatest>, V> {
    typename V::Type total;
    typename V::Lanes ordered;
    void begin(typename V::Type from) { total = from, ordered = V::ordered(V::all_lanes(), from, from); }
    void join(typename V::Type value) {
        total = greatest ? V::greater(total, value) : V::lesser(total, value);
        ordered = V::ordered(ordered, value, value);
    }
    typename V::Type end() const { return V::choose(ordered, total, V::all(static_cast<T>(__builtin_nan("")))); }
};

/// A row joined to so many vectors; of the last, if `masked`, the first lanes alone are memory.
template <class M, int vectors, bool masked>
WEFT_ELEMENT void join_row(ColumnVector<M>* totals, const typename M::Value* from, int last) {
    using V = Vec<typename M::Value>;
#pragma GCC unroll 8
    for (int v = 0; v < vectors - 1; ++v) totals[v].join(V::load(from + v * V::lanes));
    from += (vectors - 1) * V::lanes;
    totals[vectors - 1].join(masked ? V::load(from, last) : V::load(from));
}

/// `columns` fill all of so many vectors but, perhaps, the last.
template <class M, int vectors, bool ahead>
void join_tall_vectors(typename M::Value* to, const typename M::Value* from, std::int64_t rows, std::int64_t columns,
                       std::int64_t stride, std::uintptr_t asked) {
    using V = Vec<typename M::Value>;
    const int last = static_cast<int>(columns - (vectors - 1) * V::lanes);
    ColumnVector<M> totals[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors - 1; ++v) totals[v].begin(V::load(to + v * V::lanes));
    totals[vectors - 1].begin(V::load(to + (vectors - 1) * V::lanes, last));
    // What follows a row is joined too, where it is memory, and dropped. (Rows that run backwards have none behind the first.)
    std::int64_t whole = last == V::lanes ? rows : stride > 0 ? rows - divide_up(V::lanes - last, stride) : 0, row = 0;
    for (; row < whole; ++row, from += stride) {
#pragma GCC unroll 8
        for (int v = 0; ahead && vectors > 3 && v < vectors; ++v) ask_ahead(from + v * V::lanes, asked);
        join_row<M, vectors, false>(totals, from, last);
    }
    for (; row < rows; ++row, from += stride) join_row<M, vectors, true>(totals, from, last);
#pragma GCC unroll 8
    for (int v = 0; v < vectors - 1; ++v) V::store(to + v * V::lanes, totals[v].end());
    V::store_pieces(to + (vectors - 1) * V::lanes, totals[vectors - 1].end(), last);
}

/// Up to most_vectors_held vectors of columns at a time: a row is read once. `ahead`: what lies `asked` bytes on is asked for. `by_fours`: four at most, of long
/// rows.
template <class M, bool ahead, int vectors = 1>
void join_tall_columns(typename M::Value* to, const typename M::Value* from, std::int64_t rows, std::int64_t columns,
                       std::int64_t stride, std::uintptr_t asked = bytes_asked_ahead, bool by_fours = false) {
    constexpr std::int64_t lanes = Vec<typename M::Value>::lanes, most = most_vectors_held * lanes;
    if constexpr (vectors == 1) {
        for (; by_fours && columns > 4 * lanes; to += 4 * lanes, from += 4 * lanes, columns -= 4 * lanes)
            join_tall_vectors<M, 4, ahead>(to, from, rows, 4 * lanes, stride, asked);
        for (; columns > most; to += most, from += most, columns -= most)
            join_tall_vectors<M, most_vectors_held, ahead>(to, from, rows, most, stride, asked);
    }
    if constexpr (vectors < most_vectors_held)
        if (columns > vectors * lanes)
            return join_tall_columns<M, ahead, vectors + 1>(to, from, rows, columns, stride, asked);
    if (columns > 0) join_tall_vectors<M, vectors, ahead>(to, from, rows, columns, stride, asked);
}

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
