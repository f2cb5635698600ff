// Few columns of floating numbers, all rows joined in registers: vectors by hand, where there are those of 64 bytes, for of a maximum of doubles
// g++ 12 makes loops of single numbers. To the bits of Joined::join_tall, NaN's payload excepted. Included by joined.h.
#pragma once

#include "weft/backend/cpu/isa/short_rows.h"

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx512)

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

/// `columns` fill all of so many vectors but, perhaps, the last.
template <class M, int vectors, bool ahead>
void join_tall_vectors(typename M::Value* to, const typename M::Value* from, std::int64_t rows, std::int64_t columns,
                       std::int64_t stride, std::uintptr_t asked) {
    using T = typename M::Value;
    using V = Vec<T>;
    const int last = static_cast<int>(columns - (vectors - 1) * V::lanes);
    auto load = [last](const T* row, int v) __attribute__((always_inline)) {
        return v == vectors - 1 ? V::load(row + v * V::lanes, last) : V::load(row + v * V::lanes);
    };
    ColumnVector<M> totals[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) totals[v].begin(load(to, v));
    for (std::int64_t row = 0; row < rows; ++row, from += stride) {
#pragma GCC unroll 8
        for (int v = 0; ahead && vectors > 3 && v < vectors; ++v) ask_ahead(from + v * V::lanes, asked);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) totals[v].join(load(from, v));
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) V::store(to + v * V::lanes, totals[v].end(), v == vectors - 1 ? last : V::lanes);
}

/// Up to eight vectors of columns at a time: a row is read once. `ahead`: what lies `asked` bytes on is asked for. `by_fours`: four at most, of long
/// rows.
template <class M, bool ahead, int vectors = 1>
void join_tall_columns(typename M::Value* to, const typename M::Value* from, std::int64_t rows, std::int64_t columns,
                       std::int64_t stride, std::uintptr_t asked = bytes_asked_ahead, bool by_fours = false) {
    constexpr std::int64_t lanes = Vec<typename M::Value>::lanes;
    if constexpr (vectors == 1) {
        for (; by_fours && columns > 4 * lanes; to += 4 * lanes, from += 4 * lanes, columns -= 4 * lanes)
            join_tall_vectors<M, 4, ahead>(to, from, rows, 4 * lanes, stride, asked);
        for (; columns > 8 * lanes; to += 8 * lanes, from += 8 * lanes, columns -= 8 * lanes)
            join_tall_vectors<M, 8, ahead>(to, from, rows, 8 * lanes, stride, asked);
    }
    if constexpr (vectors < 8)
        if (columns > vectors * lanes)
            return join_tall_columns<M, ahead, vectors + 1>(to, from, rows, columns, stride, asked);
    if (columns > 0) join_tall_vectors<M, vectors, ahead>(to, from, rows, columns, stride, asked);
}

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
