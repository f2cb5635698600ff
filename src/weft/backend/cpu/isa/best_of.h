// Where the largest or smallest of some values stands: the loops of argmax and argmin. Only for sources below isa/.
// Caller: reduce_loops.cpp.
#pragma once

#include "weft/backend/cpu/isa/monoids.h"
#include "weft/backend/cpu/isa/vector.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu::WEFT_ISA {
namespace {

/// A whole number as wide as a value.
template <class T>
using PlaceOf = std::make_signed_t<UnsignedOf<sizeof(T)>>;

/// Whether a beats b, which stands before it: NaN beats all but a NaN.
template <class T, bool greatest>
WEFT_ELEMENT bool beats(T a, T b) {
    if constexpr (element::is_bool<T>)
        return greatest ? a.byte > b.byte : a.byte < b.byte;
    else if (greatest)
        return (a > b) | ((a != a) & (b == b));
    else
        return (a < b) | ((a != a) & (b == b));
}

/// The functions of ReduceLoops for argmax and argmin. The lanes hold one value and, 16 bytes on, its position (-1: none).
template <class T, bool greatest>
struct Best {
    using M = Extreme<T, greatest>;
    struct State {
        T value;
        alignas(16) std::int64_t at;
    };

    WEFT_ELEMENT static bool same(T a, T b) {
        if constexpr (element::is_bool<T>)
            return a.byte == b.byte;
        else
            return (a == b) | ((a != a) & (b != b));
    }

    /// Of values that are not NaN.
    struct Known {
        using Value = T;
        WEFT_ELEMENT static T join(T a, T b) {
            if constexpr (element::is_bool<T>)
                return M::join(a, b);
            else
                return M::better(a, b);
        }
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

    /// The same of floating-point values; false if one of them is NaN. The last vectors may hold some values that were met before.
    WEFT_ELEMENT static bool best_of_known(State& best, const T* values, std::int64_t count) {
        using V = Vec<T>;
        constexpr int together = 4, step = together * V::lanes;
        typename V::Type most[together];
        typename V::Lanes known = V::all_lanes();
        for (int k = 0; k < together; ++k) most[k] = V::load(values + k * V::lanes);
        for (std::int64_t i = 0; i < count; i += step) {
            const T* from = values + (i + step <= count ? i : count - step);
            // What follows, most often the next row, comes nearer while place_of looks at this one.
            for (int k = 0; k < together; ++k) fetch(from, static_cast<std::size_t>(count + k * V::lanes) * sizeof(T));
            for (int k = 0; k < together; k += 2) {
                typename V::Type a = V::load(from + k * V::lanes), b = V::load(from + (k + 1) * V::lanes);
                known = V::ordered(known, a, b);
                most[k] = greatest ? V::greater(a, most[k]) : V::lesser(a, most[k]);
                most[k + 1] = greatest ? V::greater(b, most[k + 1]) : V::lesser(b, most[k + 1]);
            }
        }
        if (!V::all_of(known)) return false;
        T lanes[step];
        for (int k = 0; k < together; ++k) V::store(lanes + k * V::lanes, most[k]);
        best.value = fold_lanes<Known, step>(lanes);
        best.at = place_of(best.value, values, count);
        return true;
    }

    /// Memory so many bytes on, which may be nobody's: a hint alone.
    WEFT_ELEMENT static void fetch(const T* values, std::size_t bytes) {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(values) + bytes));
    }

    /// Where a value stands first among count >= 64 that hold it.
    WEFT_ELEMENT static std::int64_t place_of(T value, const T* values, std::int64_t count) {
        using V = Vec<T>;
        constexpr int together = 64 / V::lanes < 4 ? 64 / V::lanes : 4, step = together * V::lanes;
        typename V::Type wanted = V::all(value);
        for (std::int64_t i = 0;; i += step) {
            std::int64_t at = i + step <= count ? i : count - step;
            std::uint64_t bits = 0;
            for (int k = 0; k < together; ++k)
                bits |= V::equal(V::load(values + at + k * V::lanes), wanted) << (k * V::lanes);
            if (bits) return at + __builtin_ctzll(bits);
        }
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
            if (count < width || !best_of_known(best, values, count)) best = best_of_few(values, count);
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
    /// `width` short rows, turned so that each vector holds a number of every row (16 floats: 32 ns a row by itself, 5 so).
    static constexpr std::int64_t most_turned = 32;
    static void turned_rows(T* out, std::int64_t* at, const T* values, std::int64_t length) {
        T turned[most_turned * width];
        for (std::int64_t row = 0; row < width; ++row)
            for (std::int64_t k = 0; k < length; ++k) turned[k * width + row] = values[row * length + k];
        columns(out, at, turned, length, width, width, 0, true);
    }
    static void rows(void* out, std::int64_t* at, const void* values, std::int64_t rows, std::int64_t length) {
        std::int64_t row = 0;
        for (; length <= most_turned && row + width <= rows; row += width)
            turned_rows(static_cast<T*>(out) + row, at + row, static_cast<const T*>(values) + row * length, length);
        for (; row < rows; ++row) {
            State state{{}, -1};
            scan(state, static_cast<const T*>(values) + row * length, length, 0);
            static_cast<T*>(out)[row] = state.value;
            at[row] = state.at;
        }
    }
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

    static void columns(void* out, std::int64_t* at, const void* values, std::int64_t rows, std::int64_t columns,
                        std::int64_t stride, std::int64_t first, bool fresh) {
        auto* to = static_cast<T*>(out);
        auto* from = static_cast<const T*>(values);
        std::int64_t row = 0;
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
