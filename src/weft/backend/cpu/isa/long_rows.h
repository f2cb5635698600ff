// Rows of more than 64 floating numbers, joined in vectors: what the lanes hold stays in registers from a row's first number to its last. To the
// bits of join_lanes and fold_lanes. (Left to itself g++ 12 copies the first 64 by calls of memcpy, and has all lanes in memory between loops:
// 256 cubed of doubles along the last axis, which come from memory, 1.25 to 1.47 of the time on a Zen 3.) And of whole numbers, which come to the
// same in any order: as many at once as a processor adds while one is waited for. Included by short_rows.h.
#pragma once

#include "weft/backend/cpu/isa/monoids.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// A monoid's join of vectors: lane by lane what it does with numbers.
template <class M>
struct OnVectors;
template <class T>
struct OnVectors<Sum<T>> {
    template <class V>
    WEFT_ELEMENT static V join(V a, V b) {
        return a + b;
    }
};
template <class T>
struct OnVectors<Product<T>> {
    template <class V>
    WEFT_ELEMENT static V join(V a, V b) {
        return a * b;
    }
};
template <class T, bool greatest>
struct OnVectors<Extreme<T, greatest>> {
    template <class V>
    WEFT_ELEMENT static V join(V a, V b) {
        V known = greatest ? Vec<T>::greater(a, b) : Vec<T>::lesser(a, b);
        return a == a ? known : a;
    }
};

/// What leaves any value as it is: a sum's is the zero that leaves the other's sign.
template <class M>
WEFT_ELEMENT typename M::Value neutral_beside() {
    return std::is_same_v<M, Sum<typename M::Value>> ? -M::neutral() : M::neutral();
}

/// As join_lanes.
template <class M>
WEFT_ELEMENT void join_lane_vectors(typename M::Value* lanes, const typename M::Value* from, std::int64_t count) {
    using V = Vec<typename M::Value>;
    constexpr int vectors = width / V::lanes;
    typename V::Type all[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) all[v] = V::load(lanes + v * V::lanes);
    std::int64_t i = 0;
    for (; i + width <= count; i += width)
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) all[v] = OnVectors<M>::join(all[v], V::load(from + i + v * V::lanes));
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) V::store(lanes + v * V::lanes, all[v]);
    for (int k = 0; i < count; ++i, ++k) lanes[k] = M::join(lanes[k], from[i]);
}

template <class M>
WEFT_ELEMENT typename M::Value join_long_row(const typename M::Value* from, std::int64_t length) {
    using T = typename M::Value;
    using V = Vec<T>;
    constexpr int vectors = width / V::lanes;
    typename V::Type all[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) all[v] = V::load(from + v * V::lanes);
    std::int64_t i = width;
    for (; i + width <= length; i += width)
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) all[v] = OnVectors<M>::join(all[v], V::load(from + i + v * V::lanes));
    const auto rest = static_cast<int>(length - i);
    constexpr int few = vectors <= 8 ? vectors : 4;
    if (rest > 0 && rest <= few * V::lanes) {  // of lanes those beyond the row join what changes nothing
        const typename V::Type nothing = V::all(neutral_beside<M>());
#pragma GCC unroll 16
        for (int v = 0; v < few; ++v) {
            int here = rest - v * V::lanes;
            here = here < 0 ? 0 : here < V::lanes ? here : V::lanes;
            all[v] = OnVectors<M>::join(all[v], V::load_or(from + i + v * V::lanes, here, nothing));
        }
    } else if (rest > 0) {  // in memory: branches between all the lanes' registers have compilers move them about
        T lanes[width];
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) V::store(lanes + v * V::lanes, all[v]);
        for (int k = 0; i + k < length; ++k) lanes[k] = M::join(lanes[k], from[i + k]);
        return fold_lanes<M, width>(lanes);
    }
#pragma GCC unroll 4
    for (int half = vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 8
        for (int v = 0; v < half; ++v) all[v] = OnVectors<M>::join(all[v], all[v + half]);
    T lanes[V::lanes];
    V::store(lanes, all[0]);
    return fold_lanes<M, V::lanes>(lanes);
}

/// Rows of at most `used` numbers each, by halves: the lanes beyond a row hold the neutral value.
template <class M, int used>
WEFT_ELEMENT void join_rows_within(typename M::Value* to, const typename M::Value* from, std::int64_t rows,
                                   std::int64_t length) {
    using T = typename M::Value;
    using V = Vec<T>;
    constexpr int vectors = used / V::lanes;
    const typename V::Type nothing = V::all(M::neutral());
    int here[vectors];
    for (int v = 0; v < vectors; ++v) {
        const int left = static_cast<int>(length) - v * V::lanes;
        here[v] = left < 0 ? 0 : left < V::lanes ? left : V::lanes;
    }
    for (std::int64_t row = 0; row < rows; ++row, from += length) {
        typename V::Type all[vectors];
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) all[v] = V::load_or(from + v * V::lanes, here[v], nothing);
#pragma GCC unroll 4
        for (int half = vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 8
            for (int v = 0; v < half; ++v) all[v] = OnVectors<M>::join(all[v], all[v + half]);
        T lanes[V::lanes];
        V::store(lanes, all[0]);
        to[row] = fold_lanes<M, V::lanes>(lanes);
    }
}

/// Vectors of whole numbers, joined as a monoid joins one: sums and products as unsigned ones, which wrap. `vectors` of them lie in the first lanes.
template <class M>
struct WholeVectors {
    using T = typename M::Value;
    static constexpr bool sums = std::is_same_v<M, Sum<T>>, products = std::is_same_v<M, Product<T>>;
    using Number = std::conditional_t<sums || products, std::make_unsigned_t<T>, T>;
    static constexpr int bytes = sizeof(typename Vec<double>::Type), each = bytes / static_cast<int>(sizeof(T)),
                         vectors = width / each < 4 ? width / each : 4, all = vectors * each;
    typedef Number V __attribute__((vector_size(bytes), aligned(alignof(Number)), may_alias));

    WEFT_ELEMENT static V load(const T* from) { return *reinterpret_cast<const V*>(from); }
    WEFT_ELEMENT static void store(T* to, V value) { *reinterpret_cast<V*>(to) = value; }
    WEFT_ELEMENT static V join(V a, V b) {
        if constexpr (sums)
            return a + b;
        else if constexpr (products)
            return a * b;
        else
            return std::is_same_v<M, Extreme<T, true>> ? (a > b ? a : b) : (a < b ? a : b);
    }
    /// As many as there are whole ones, from i on, which is then behind them.
    WEFT_ELEMENT static void join_all(V* totals, const T* from, std::int64_t& i, std::int64_t count) {
        for (; i + all <= count; i += all)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) totals[v] = join(totals[v], load(from + i + v * each));
    }
};

/// As join_lanes, though to other lanes.
template <class M>
WEFT_ELEMENT void join_whole_numbers(typename M::Value* lanes, const typename M::Value* from, std::int64_t count) {
    using W = WholeVectors<M>;
    typename W::V totals[W::vectors];
#pragma GCC unroll 4
    for (int v = 0; v < W::vectors; ++v) totals[v] = W::load(lanes + v * W::each);
    std::int64_t i = 0;
    W::join_all(totals, from, i, count);
#pragma GCC unroll 4
    for (int v = 0; v < W::vectors; ++v) W::store(lanes + v * W::each, totals[v]);
    for (int k = 0; i < count; ++i, ++k) lanes[k] = M::join(lanes[k], from[i]);
}

/// Of at least as many as all vectors hold.
template <class M>
WEFT_ELEMENT typename M::Value join_whole_row(const typename M::Value* from, std::int64_t length) {
    using W = WholeVectors<M>;
    typename W::V totals[W::vectors];
#pragma GCC unroll 4
    for (int v = 0; v < W::vectors; ++v) totals[v] = W::load(from + v * W::each);
    std::int64_t i = W::all;
    W::join_all(totals, from, i, length);
#pragma GCC unroll 4
    for (int v = 1; v < W::vectors; ++v) totals[0] = W::join(totals[0], totals[v]);
    for (; i + W::each <= length; i += W::each) totals[0] = W::join(totals[0], W::load(from + i));
    typename M::Value lanes[W::each];
    W::store(lanes, totals[0]);
    typename M::Value total = fold_lanes<M, W::each>(lanes);
    for (; i < length; ++i) total = M::join(total, from[i]);
    return total;
}

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
