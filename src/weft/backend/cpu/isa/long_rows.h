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

/// The first lanes of 64 as vectors: of floating numbers all of them, for their order counts.
template <class M, bool whole = std::is_integral_v<typename M::Value>>
struct LaneVectors {
    using T = typename M::Value;
    using V = typename Vec<T>::Type;
    static constexpr int each = Vec<T>::lanes, vectors = width / each, all = width;

    WEFT_ELEMENT static V load(const T* from) { return Vec<T>::load(from); }
    WEFT_ELEMENT static void store(T* to, V value) { Vec<T>::store(to, value); }
    WEFT_ELEMENT static V join(V a, V b) { return OnVectors<M>::join(a, b); }
};
/// Of whole numbers at most four, which are as many as a processor joins while one is waited for. Sums and products are those of unsigned ones,
/// which wrap.
template <class M>
struct LaneVectors<M, true> {
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
};

template <class M, class L = LaneVectors<M>>
WEFT_ELEMENT void load_lanes(typename L::V* totals, const typename M::Value* from) {
#pragma GCC unroll 16
    for (int v = 0; v < L::vectors; ++v) totals[v] = L::load(from + v * L::each);
}
template <class M, class L = LaneVectors<M>>
WEFT_ELEMENT void store_lanes(typename M::Value* to, const typename L::V* totals) {
#pragma GCC unroll 16
    for (int v = 0; v < L::vectors; ++v) L::store(to + v * L::each, totals[v]);
}
/// As many as fill all lanes, from number i on; where the others begin.
template <class M, class L = LaneVectors<M>>
WEFT_ELEMENT std::int64_t join_full_lanes(typename L::V* totals, const typename M::Value* from, std::int64_t i,
                                          std::int64_t count) {
    for (; i + L::all <= count; i += L::all)
#pragma GCC unroll 16
        for (int v = 0; v < L::vectors; ++v) totals[v] = L::join(totals[v], L::load(from + i + v * L::each));
    return i;
}

/// As join_lanes; whole numbers to the first lanes alone.
template <class M>
WEFT_ELEMENT void join_lane_vectors(typename M::Value* lanes, const typename M::Value* from, std::int64_t count) {
    using L = LaneVectors<M>;
    typename L::V totals[L::vectors];
    load_lanes<M>(totals, lanes);
    std::int64_t i = join_full_lanes<M>(totals, from, 0, count);
    store_lanes<M>(lanes, totals);
    for (int k = 0; i < count; ++i, ++k) lanes[k] = M::join(lanes[k], from[i]);
}

/// Vectors by halves, and the last one's lanes.
template <class M, int vectors>
WEFT_ELEMENT typename M::Value fold_vectors(typename LaneVectors<M>::V* all) {
    using L = LaneVectors<M>;
#pragma GCC unroll 4
    for (int half = vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 8
        for (int v = 0; v < half; ++v) all[v] = L::join(all[v], all[v + half]);
    typename M::Value lanes[L::each];
    L::store(lanes, all[0]);
    return fold_lanes<M, L::each>(lanes);
}

/// What leaves any value as it is: a sum's is the zero that leaves the other's sign.
template <class M>
WEFT_ELEMENT typename M::Value neutral_beside() {
    return std::is_same_v<M, Sum<typename M::Value>> ? -M::neutral() : M::neutral();
}

/// How many lanes of vector number `v` are among the first `count`.
template <class T>
WEFT_ELEMENT int lanes_within(int count, int v) {
    const int left = count - v * Vec<T>::lanes;
    return left < 0 ? 0 : left < Vec<T>::lanes ? left : Vec<T>::lanes;
}

template <class M>
WEFT_ELEMENT typename M::Value join_long_row(const typename M::Value* from, std::int64_t length) {
    using T = typename M::Value;
    using L = LaneVectors<M>;
    typename L::V all[L::vectors];
    load_lanes<M>(all, from);
    const std::int64_t i = join_full_lanes<M>(all, from, width, length);
    const auto rest = static_cast<int>(length - i);
    constexpr int few = L::vectors <= 8 ? L::vectors : 4;
    if (rest > 0 && rest <= few * L::each) {  // of lanes those beyond the row join what changes nothing
        const typename L::V nothing = Vec<T>::all(neutral_beside<M>());
#pragma GCC unroll 16
        for (int v = 0; v < few; ++v)
            all[v] = L::join(all[v], Vec<T>::load_or(from + i + v * L::each, lanes_within<T>(rest, v), nothing));
    } else if (rest > 0) {  // in memory: branches between all the lanes' registers have compilers move them about
        T lanes[width];
        store_lanes<M>(lanes, all);
        for (int k = 0; k < rest; ++k) lanes[k] = M::join(lanes[k], from[i + k]);
        return fold_lanes<M, width>(lanes);
    }
    return fold_vectors<M, L::vectors>(all);
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
    for (int v = 0; v < vectors; ++v) here[v] = lanes_within<T>(static_cast<int>(length), v);
    for (std::int64_t row = 0; row < rows; ++row, from += length) {
        typename V::Type all[vectors];
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v) all[v] = V::load_or(from + v * V::lanes, here[v], nothing);
        to[row] = fold_vectors<M, vectors>(all);
    }
}

/// A row of at least as many whole numbers as all their vectors hold.
template <class M>
WEFT_ELEMENT typename M::Value join_whole_row(const typename M::Value* from, std::int64_t length) {
    using L = LaneVectors<M>;
    typename L::V totals[L::vectors];
    load_lanes<M>(totals, from);
    std::int64_t i = join_full_lanes<M>(totals, from, L::all, length);
#pragma GCC unroll 4
    for (int v = 1; v < L::vectors; ++v) totals[0] = L::join(totals[0], totals[v]);
    for (; i + L::each <= length; i += L::each) totals[0] = L::join(totals[0], L::load(from + i));
    typename M::Value total = fold_vectors<M, 1>(totals);
    for (; i < length; ++i) total = M::join(total, from[i]);
    return total;
}

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
