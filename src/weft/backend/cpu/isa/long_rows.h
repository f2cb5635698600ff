// Rows of more than 64 floating numbers, joined in vectors: what the lanes hold stays in registers from a row's first number to its last. To the
// bits of join_lanes and fold_lanes. (Left to itself g++ 12 copies the first 64 by calls of memcpy, and has all lanes in memory between loops:
// 256 cubed of doubles along the last axis, which come from memory, 1.25 to 1.47 of the time on a Zen 3.) Included by short_rows.h.
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
    if (i < length) {  // in memory: branches between all the lanes' registers have compilers move them about
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

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
