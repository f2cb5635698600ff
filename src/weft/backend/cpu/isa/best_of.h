// Where the largest or smallest of some values stands: the loops of argmax and argmin. Only for sources below isa/.
// Caller: reduce_loops.cpp.
#pragma once

#include "weft/backend/cpu/isa/best_of_columns.h"
#include "weft/backend/cpu/isa/best_of_numbers.h"
#include "weft/backend/cpu/isa/best_of_short_rows.h"
#include "weft/backend/cpu/isa/transpose.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu::WEFT_ISA {
namespace {

/// A whole number as wide as a value.
template <class T>
using PlaceOf = std::make_signed_t<UnsignedOf<sizeof(T)>>;

/// Whether a beats b, which stands before it: NaN beats all but a NaN.
template <class T, bool greatest>
WEFT_ELEMENT bool beats(T a, T b) {
    if (greatest)
        return (a > b) | ((a != a) & (b == b));
    else
        return (a < b) | ((a != a) & (b == b));
}

/// The functions of ReduceLoops for argmax and argmin; truth values are the bytes that they are. The lanes hold one value and, 16 bytes on, its position (-1: none).
template <class T, bool greatest>
struct Best {
    using M = Extreme<T, greatest>;
    struct State {
        T value;
        alignas(16) std::int64_t at;
    };

    WEFT_ELEMENT static bool same(T a, T b) { return (a == b) | ((a != a) & (b != b)); }

    /// Of values that are not NaN.
    struct Known {
        using Value = T;
        WEFT_ELEMENT static T join(T a, T b) { return M::better(a, b); }
    };

    /// The best of count >= 64 values, none of them NaN, and the first place where it stands: a look at the lanes that hold it.
    WEFT_ELEMENT static State best_of(const T* lanes, const T* values, std::int64_t count) {
        T folded[width];
        for (int k = 0; k < width; ++k) folded[k] = lanes[k];
        State best{fold_lanes<Known, width>(folded), count};
        std::uint8_t holds[width];
        for (int k = 0; k < width; ++k) holds[k] = same(lanes[k], best.value);
        for (int group = 0; group < width; group += 8) {
            std::uint64_t bytes = 0;
            __builtin_memcpy(&bytes, holds + group, 8);
            for (; bytes; bytes &= bytes - 1)
                for (std::int64_t i = group + __builtin_ctzll(bytes) / 8; i < best.at; i += width)
                    if (same(values[i], best.value)) best.at = i;
        }
        return best;
    }

    WEFT_ELEMENT static State best_of_few(const T* values, std::int64_t count) {
        State best{values[0], 0};
        for (std::int64_t i = 1; i < count; ++i) {
            bool better = beats<T, greatest>(values[i], best.value);
            best.value = better ? values[i] : best.value;
            best.at = better ? i : best.at;
        }
        return best;
    }

    /// The best of count >= 1 values and the first place where it stands, against the best of those before.
    WEFT_ELEMENT static void scan(State& state, const T* values, std::int64_t count, std::int64_t first) {
        State best;
        if constexpr (std::is_floating_point_v<T>) {
            best.at = count < width ? -1 : (BestOfNumbers<T, greatest>::find(best.value, values, count));
            if (best.at < 0) best = best_of_few(values, count);
        } else if (count < width) {
            best = best_of_few(values, count);
        } else {
            T lanes[width];
            fill(lanes, values, count);
            best = best_of(lanes, values, count);
        }
        if (state.at < 0 || beats<T, greatest>(best.value, state.value)) state = {best.value, first + best.at};
    }
    WEFT_ELEMENT static void fill(T* lanes, const T* values, std::int64_t count) {
        for (int k = 0; k < width; ++k) lanes[k] = values[k];
        join_lanes<M>(lanes, values + width, count - width);
    }

    static void begin(void* lanes) { static_cast<State*>(lanes)->at = -1; }
    static void lanes(void* lanes, const void* values, std::int64_t count, std::int64_t first) {
        if (count > 0) scan(*static_cast<State*>(lanes), static_cast<const T*>(values), count, first);
    }
    static void fold(void* lanes, void* out, std::int64_t* at) {
        *static_cast<T*>(out) = static_cast<State*>(lanes)->value;
        *at = static_cast<State*>(lanes)->at;
    }
    /// Short rows, `group` at a time, turned so that each vector holds a number of every row. `from` has room for a whole group, and what
    /// lies beside its last row.
    static constexpr std::int64_t group = width / 2, most_turned = 64, beside = 8;
    static void turned_rows(T* out, std::int64_t* at, const T* from, std::int64_t length) {
        T turned[most_turned * group];
        turn_rows<group>(turned, from, length);
        T best[group];
        PlaceOf<T> place[group] = {};
        for (int i = 0; i < group; ++i) best[i] = turned[i];
        for (int k = 1; k < length; ++k)
            for (int i = 0; i < group; ++i) {
                T value = turned[k * group + i];
                bool better = beats<T, greatest>(value, best[i]);
                best[i] = better ? value : best[i];
                place[i] = better ? static_cast<PlaceOf<T>>(k) : place[i];
            }
        for (int i = 0; i < group; ++i) out[i] = best[i], at[i] = place[i];
    }
    /// The last rows, fewer than a group: of a copy, in which they have that room.
    static void last_turned_rows(T* out, std::int64_t* at, const T* from, std::int64_t rows, std::int64_t length) {
        T values[most_turned * group + beside] = {}, best[group];
        std::int64_t place[group];
        for (std::int64_t k = 0; k < rows * length; ++k) values[k] = from[k];
        turned_rows(best, place, values, length);
        for (std::int64_t row = 0; row < rows; ++row) out[row] = best[row], at[row] = place[row];
    }
    static void some_rows(T* to, std::int64_t* at, const T* from, std::int64_t rows, std::int64_t length) {
        std::int64_t row = 0;
        if (length > 1 && length < most_turned && rows >= 8) {
            for (; row + group < rows; row += group) turned_rows(to + row, at + row, from + row * length, length);
            return last_turned_rows(to + row, at + row, from + row * length, rows - row, length);
        }
        for (; row < rows; ++row) {
            State state{{}, -1};
            scan(state, from + row * length, length, 0);
            to[row] = state.value;
            at[row] = state.at;
        }
    }
    static void rows(void* out, std::int64_t* at, const void* values, std::int64_t rows, std::int64_t length) {
        auto* to = static_cast<T*>(out);
        auto* from = static_cast<const T*>(values);
#if defined(WEFT_ISA_avx512)
        if constexpr (std::is_floating_point_v<T>) {
            using Rows = BestOfShortRows<T, greatest>;
            for (; length > shortest_found && length <= width && rows > 0; rows -= Rows::lanes) {
                int here = rows < Rows::lanes ? static_cast<int>(rows) : Rows::lanes;
                if (!Rows::find_any(to, at, from, here, length)) some_rows(to, at, from, here, length);
                to += Rows::lanes, at += Rows::lanes, from += Rows::lanes * length;
            }
        }
#endif
        if (rows > 0) some_rows(to, at, from, rows, length);
    }
    static constexpr std::int64_t shortest_found = 8;  // turned rows take less
    /// So many rows at a time: the best of them, its place counted in numbers as wide as the values, against the best before.
    template <int together, int tile, bool fresh>
    static std::int64_t join_tiles(T* to, std::int64_t* at, const T* from, std::int64_t stride, std::int64_t start,
                                   std::int64_t columns, std::int64_t first) {
        using Place = PlaceOf<T>;
        std::int64_t k = start;
        for (; k + tile <= columns; k += tile) {
            T best[tile];
            Place place[tile];
            for (int i = 0; i < tile; ++i) best[i] = fresh ? from[k + i] : to[k + i];
            for (int i = 0; i < tile; ++i) place[i] = fresh ? 0 : -1;
            for (int row = fresh ? 1 : 0; row < together; ++row)
                for (int i = 0; i < tile; ++i) {
                    T value = from[row * stride + k + i];
                    bool better = beats<T, greatest>(value, best[i]);
                    best[i] = better ? value : best[i];
                    place[i] = better ? static_cast<Place>(row) : place[i];
                }
            for (int i = 0; i < tile; ++i) to[k + i] = best[i];
            for (int i = 0; i < tile; ++i) at[k + i] = place[i] < 0 ? at[k + i] : first + place[i];
        }
        return k;
    }
    template <int together, bool fresh>
    static void join_rows(T* to, std::int64_t* at, const T* from, std::int64_t stride, std::int64_t columns,
                          std::int64_t first) {
        std::int64_t k = join_tiles<together, width, fresh>(to, at, from, stride, 0, columns, first);
        k = join_tiles<together, width / 2, fresh>(to, at, from, stride, k, columns, first);
        join_tiles<together, 1, fresh>(to, at, from, stride, k, columns, first);
    }

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    /// Few columns of numbers, all rows in registers; false, and nothing is done, if there is a NaN.
    static bool join_few_columns(T* to, std::int64_t* at, const T* from, std::int64_t rows, std::int64_t columns,
                                 std::int64_t stride, std::int64_t first, bool fresh) {
        using Few = BestOfColumns<T, greatest>;
        T best[most_columns];
        std::int64_t place[most_columns];
        if (rows > Few::most_rows || !Few::find(best, place, from, rows, columns, stride)) return false;
        for (std::int64_t k = 0; k < columns; ++k)
            if (fresh || beats<T, greatest>(best[k], to[k])) to[k] = best[k], at[k] = first + place[k];
        return true;
    }
    static constexpr std::int64_t most_columns = few_columns_bytes / sizeof(T);
#endif

    static void columns(void* out, std::int64_t* at, const void* values, std::int64_t rows, std::int64_t columns,
                        std::int64_t stride, std::int64_t first, bool fresh, bool) {
        auto* to = static_cast<T*>(out);
        auto* from = static_cast<const T*>(values);
        std::int64_t row = 0;
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        if constexpr (std::is_floating_point_v<T>)
            if (rows > 1 && columns <= most_columns && stride >= columns &&
                join_few_columns(to, at, from, rows, columns, stride, first, fresh))
                return;
#endif
        if (fresh && rows > 0) {
            join_rows<1, true>(to, at, from, stride, columns, first);
            row = 1;
        }
        if (lie_far_apart(stride * static_cast<std::int64_t>(sizeof(T))))
            for (; row + rows_together <= rows; row += rows_together)
                join_rows<rows_together, false>(to, at, from + row * stride, stride, columns, first + row);
        for (; row < rows; ++row) join_rows<1, false>(to, at, from + row * stride, stride, columns, first + row);
    }
    static void join(void* out, std::int64_t* at, const void* partials, const std::int64_t* partial_at,
                     std::int64_t chunks, std::int64_t stride, std::int64_t count) {
        auto* to = static_cast<T*>(out);
        auto* from = static_cast<const T*>(partials);
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = from[i], at[i] = partial_at[i];
            for (std::int64_t c = 1; c < chunks; ++c) {
                if (beats<T, greatest>(from[c * stride + i], to[i]))
                    to[i] = from[c * stride + i], at[i] = partial_at[c * stride + i];
            }
        }
    }

    static constexpr ReduceLoops loops{begin, lanes, fold, rows, columns, join};
};

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
