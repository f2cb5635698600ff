// Where the largest or smallest of some values stands: the loops of argmax and argmin. Only for sources below isa/.
// Caller: reduce_loops.cpp.
#pragma once

#include "weft/backend/cpu/isa/monoids.h"
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

    /// The best values in 64 lanes, element i in lane i % 64; false if one of them is NaN. A NaN's bits, but for the sign, count more
    /// than those of any number.
    WEFT_ELEMENT static bool best_in_lanes(T* lanes, const T* values, std::int64_t count) {
        using Bits = PlaceOf<T>;
        constexpr Bits no_sign = static_cast<Bits>(~(Bits{1} << (8 * sizeof(T) - 1)));
        Bits most[width];
        auto join = [&](int k, T value) {
            lanes[k] = M::better(value, lanes[k]);
            Bits bits = __builtin_bit_cast(Bits, value) & no_sign;
            most[k] = bits > most[k] ? bits : most[k];
        };
        for (int k = 0; k < width; ++k) lanes[k] = values[k];
        for (int k = 0; k < width; ++k) most[k] = __builtin_bit_cast(Bits, lanes[k]) & no_sign;
        std::int64_t i = width;
        for (; i + width <= count; i += width)
            for (int k = 0; k < width; ++k) join(k, values[i + k]);
        for (int k = 0; i + k < count; ++k) join(k, values[i + k]);
        Bits top = 0;
        for (int k = 0; k < width; ++k) top = most[k] > top ? most[k] : top;
        return top <= __builtin_bit_cast(Bits, static_cast<T>(__builtin_inf()));
    }

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
        T lanes[width];
        if constexpr (std::is_floating_point_v<T>) {
            best = count >= width && best_in_lanes(lanes, values, count) ? best_of(lanes, values, count)
                                                                         : best_of_few(values, count);
        } else {
            best = count < width ? best_of_few(values, count)
                                 : (fill(lanes, values, count), best_of(lanes, values, count));
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
    static void rows(void* out, std::int64_t* at, const void* values, std::int64_t rows, std::int64_t length) {
        for (std::int64_t row = 0; row < rows; ++row) {
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
