// Where the largest or smallest of many floating-point numbers stands, vector by vector. Only for sources below isa/.
// Caller: best_of.h.
#pragma once

#include "weft/backend/cpu/isa/monoids.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class T, bool greatest>
struct BestOfNumbers {
    using V = Vec<T>;
    using Type = typename V::Type;
    static constexpr int vectors = 4, step = vectors * V::lanes, vectors_of_line = static_cast<int>(64 / sizeof(Type));
    static constexpr std::uint64_t all_bits = (std::uint64_t{1} << V::lanes) - 1;
    // Of a long row the place is looked for where the best was met: in one stretch of it, which is still near.
    static constexpr std::int64_t stretch = 8192 / sizeof(T);

    struct Known {
        using Value = T;
        WEFT_ELEMENT static T join(T a, T b) { return Extreme<T, greatest>::better(a, b); }
    };
    WEFT_ELEMENT static Type better(Type a, Type b) { return greatest ? V::greater(a, b) : V::lesser(a, b); }

    /// What is read soon, or nobody's memory: a hint alone. So far, and not a whole number of rows as well, arrays from memory took 0.66 to 0.9 of the time of
    /// what asked for the next row (6,000 x 1,000 floats on a Zen 4: 0.95 to 0.71 ms; two rows on, by 8,000 bytes, 0.9).
    WEFT_ELEMENT static void ask_ahead(const T* values) {
        constexpr std::uintptr_t bytes = 9216;
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(values) + bytes));
    }

    /// The best of count >= step values, in lanes; false if one of them is NaN. The last vectors may hold some values that were met before.
    /// At the beginning of a line of code: elsewhere its loop took 1.15 times as long in cache, 1.6 times from memory (Zen 4).
    __attribute__((noinline, aligned(64))) static bool best_lanes(Type& best, const T* values, std::int64_t count) {
        typename V::Lanes known[2] = {V::all_lanes(),
                                      V::all_lanes()};  // two, as a comparison waits for the one before it
        Type most[vectors];
        for (int k = 0; k < vectors; ++k) most[k] = V::load(values + k * V::lanes);
        for (std::int64_t i = 0; i < count; i += step) {
            const T* from = values + (i + step <= count ? i : count - step);
            for (int k = 0; k < vectors; k += vectors_of_line) ask_ahead(from + k * V::lanes);
            for (int k = 0; k < vectors; k += 2) {
                Type a = V::load(from + k * V::lanes), b = V::load(from + (k + 1) * V::lanes);
                known[k / 2] = V::ordered(known[k / 2], a, b);
                most[k] = better(a, most[k]);
                most[k + 1] = better(b, most[k + 1]);
            }
        }
        best = better(better(most[0], most[1]), better(most[2], most[3]));
        return V::all_of(known[0]) && V::all_of(known[1]);
    }

    /// The first place of the best of count >= 64 values, and the value; -1 if one of them is NaN.
    WEFT_ELEMENT static std::int64_t find(T& value, const T* values, std::int64_t count) {
        Type best;
        std::int64_t found = 0, length = count;
        if (count <= stretch) {
            if (!best_lanes(best, values, count)) return -1;
            value = best_lane(best);
        }
        for (std::int64_t first = 0; count > stretch && first < count; first += stretch) {
            std::int64_t left = count - first, start = left < step ? count - step : first;
            std::int64_t here = left < stretch ? count - start : stretch;
            if (!best_lanes(best, values + start, here)) return -1;
            if (first > 0 && V::equal(better(best, V::all(value)), V::all(value)) == all_bits) continue;
            value = best_lane(best);
            found = start, length = here;
        }
        return found + place_of(value, values + found, length);
    }
    WEFT_ELEMENT static T best_lane(Type best) {
        T lanes[V::lanes];
        V::store(lanes, best);
        return fold_lanes<Known, V::lanes>(lanes);
    }

    /// Where a value stands first among count >= step that hold it.
    WEFT_ELEMENT static std::int64_t place_of(T value, const T* values, std::int64_t count) {
        static_assert(step <= 64, "a bit for each value");
        Type wanted = V::all(value);
        std::int64_t i = 0;
        for (; i + 2 * step <= count; i += 2 * step) {  // where it is not, at a glance
            typename V::Lanes none = V::all_lanes();
            for (int k = 0; k < 2 * vectors; ++k) none = V::differing(none, V::load(values + i + k * V::lanes), wanted);
            if (!V::all_of(none)) break;
        }
        for (;; i += step) {
            std::int64_t at = i + step <= count ? i : count - step;
            std::uint64_t bits = 0;
            for (int k = 0; k < vectors; ++k)
                bits |= V::equal(V::load(values + at + k * V::lanes), wanted) << (k * V::lanes);
            if (bits) return at + __builtin_ctzll(bits);
        }
    }
};

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
