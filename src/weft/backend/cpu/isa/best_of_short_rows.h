// Where the largest or smallest of each of many rows of up to 64 floating numbers stands: first what it is, of a vector of rows at once, then
// where it is met first, row by row. Where there are no vectors of 64 bytes, nothing. Only for sources below isa/. Caller: best_of.h.
#pragma once

#include "weft/backend/cpu/isa/short_rows.h"

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx512)

template <class T, bool greatest>
struct BestOfShortRows {
    using V = Vec<T>;
    using M = Known<Extreme<T, greatest>>;
    static constexpr int lanes = V::lanes;

    /// The places of the bests of `here` rows, at most a vector's lanes; false if there is a NaN.
    template <int vectors>
    static bool find(T* to, std::int64_t* at, const T* from, int here, std::int64_t length) {
        if (!join_some_rows<M, 1, vectors>(to, from, here, length)) return false;
        auto last = static_cast<int>(length) - (vectors - 1) * lanes;
        for (int row = 0; row < here; ++row, from += length) {
            typename V::Type best = V::all(to[row]);
            // Lanes beyond the row, zeros, may equal it too: they come last.
            std::uint64_t bits = V::equal(V::load(from + (vectors - 1) * lanes, last), best) << ((vectors - 1) * lanes);
            for (int v = 0; v < vectors - 1; ++v) bits |= V::equal(V::load(from + v * lanes), best) << (v * lanes);
            at[row] = __builtin_ctzll(bits);
        }
        return true;
    }

    template <int vectors = 1>
    static bool find_any(T* to, std::int64_t* at, const T* from, int here, std::int64_t length) {
        if constexpr (vectors * lanes < width)
            if (length > vectors * lanes) return find_any<vectors + 1>(to, at, from, here, length);
        return find<vectors>(to, at, from, here, length);
    }
};

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
