// Unsigned keys in order, by vectors of AVX-512. Up to eight vectors are sorted by a bitonic network (K. E. Batcher, 1968): rows of
// registers whose columns, one a lane, are sorted and then merged, so that most comparisons stand between whole registers. More keys are
// parted by a pivot (quicksort; B. Bramas, 2017): what is below it is pressed together in place, the rest in spare memory.
// Callers: isa/sort.cpp.
#pragma once

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {

#if defined(WEFT_ISA_avx512)

// Instructions are taken with a mask of all lanes where g++ 12 would warn of the undefined value in its header.
template <class Key>
struct KeyVec;

template <>
struct KeyVec<std::uint32_t> {
    using Key = std::uint32_t;
    using Type = __m512i;
    using Lanes = __mmask16;
    static constexpr int lanes = 16;
    WEFT_INLINE Lanes first(std::int64_t count) {
        return static_cast<Lanes>(count >= lanes ? 0xffff : count <= 0 ? 0 : (1u << count) - 1u);
    }
    WEFT_INLINE Type all(Key key) { return _mm512_set1_epi32(static_cast<int>(key)); }
    WEFT_INLINE Type load(const Key* from) { return _mm512_loadu_si512(from); }
    // Ones behind the first `count`, which stand last.
    WEFT_INLINE Type load(const Key* from, std::int64_t count) {
        return _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), first(count), from);
    }
    WEFT_INLINE void store(Key* to, Type v) { _mm512_storeu_si512(to, v); }
    WEFT_INLINE void store(Key* to, Type v, std::int64_t count) { _mm512_mask_storeu_epi32(to, first(count), v); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm512_maskz_min_epu32(0xffff, a, b); }
    WEFT_INLINE Type greater(Type a, Type b) { return _mm512_maskz_max_epu32(0xffff, a, b); }
    // The lesser of each two, in some lanes the greater.
    WEFT_INLINE Type parted(Lanes upper, Type a, Type b) { return _mm512_mask_max_epu32(lesser(a, b), upper, a, b); }
    WEFT_INLINE Lanes less(Type a, Type b) { return _mm512_cmplt_epu32_mask(a, b); }
    WEFT_INLINE Lanes at_most(Type a, Type b) { return _mm512_cmple_epu32_mask(a, b); }
    WEFT_INLINE Type pressed(Lanes some, Type v) { return _mm512_maskz_compress_epi32(some, v); }
    /// Lane i is lane i ^ turn of v.
    template <int turn>
    WEFT_INLINE Type turned(Type v) {
        if constexpr (turn < 4) {
            constexpr int places = turn | (1 ^ turn) << 2 | (2 ^ turn) << 4 | (3 ^ turn) << 6;
            return _mm512_maskz_shuffle_epi32(0xffff, v, static_cast<_MM_PERM_ENUM>(places));
        } else {
            const Type count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
            return _mm512_maskz_permutexvar_epi32(0xffff, _mm512_xor_si512(_mm512_set1_epi32(turn), count), v);
        }
    }
    // Lanes of two in turns: those of the lower halves, of the upper ones.
    WEFT_INLINE Type lower_in_turns(Type a, Type b) {
        return _mm512_permutex2var_epi32(a, _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0),
                                         b);
    }
    WEFT_INLINE Type upper_in_turns(Type a, Type b) {
        return _mm512_permutex2var_epi32(
            a, _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8), b);
    }
};

template <>
struct KeyVec<std::uint64_t> {
    using Key = std::uint64_t;
    using Type = __m512i;
    using Lanes = __mmask8;
    static constexpr int lanes = 8;
    WEFT_INLINE Lanes first(std::int64_t count) {
        return static_cast<Lanes>(count >= lanes ? 0xff : count <= 0 ? 0 : (1u << count) - 1u);
    }
    WEFT_INLINE Type all(Key key) { return _mm512_set1_epi64(static_cast<long long>(key)); }
    WEFT_INLINE Type load(const Key* from) { return _mm512_loadu_si512(from); }
    WEFT_INLINE Type load(const Key* from, std::int64_t count) {
        return _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), first(count), from);
    }
    WEFT_INLINE void store(Key* to, Type v) { _mm512_storeu_si512(to, v); }
    WEFT_INLINE void store(Key* to, Type v, std::int64_t count) { _mm512_mask_storeu_epi64(to, first(count), v); }
    WEFT_INLINE Type lesser(Type a, Type b) { return _mm512_maskz_min_epu64(0xff, a, b); }
    WEFT_INLINE Type greater(Type a, Type b) { return _mm512_maskz_max_epu64(0xff, a, b); }
    WEFT_INLINE Type parted(Lanes upper, Type a, Type b) { return _mm512_mask_max_epu64(lesser(a, b), upper, a, b); }
    WEFT_INLINE Lanes less(Type a, Type b) { return _mm512_cmplt_epu64_mask(a, b); }
    WEFT_INLINE Lanes at_most(Type a, Type b) { return _mm512_cmple_epu64_mask(a, b); }
    WEFT_INLINE Type pressed(Lanes some, Type v) { return _mm512_maskz_compress_epi64(some, v); }
    template <int turn>
    WEFT_INLINE Type turned(Type v) {
        if constexpr (turn < 4) {
            constexpr int places = turn | (1 ^ turn) << 2 | (2 ^ turn) << 4 | (3 ^ turn) << 6;
            return _mm512_maskz_permutex_epi64(0xff, v, places);
        } else {
            const Type count = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
            return _mm512_maskz_permutexvar_epi64(0xff, _mm512_xor_si512(_mm512_set1_epi64(turn), count), v);
        }
    }
    WEFT_INLINE Type lower_in_turns(Type a, Type b) {
        return _mm512_permutex2var_epi64(a, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), b);
    }
    WEFT_INLINE Type upper_in_turns(Type a, Type b) {
        return _mm512_permutex2var_epi64(a, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), b);
    }
};

/// R rows of registers; in the end the elements stand in them column after column, and are turned to lie in order.
template <class Key, int R>
struct Network {
    using V = KeyVec<Key>;
    using Type = typename V::Type;
    using Lanes = typename V::Lanes;

    /// The lanes whose number has this bit.
    static constexpr Lanes with_bit(int bit) {
        unsigned lanes = 0;
        for (int lane = 0; lane < V::lanes; ++lane)
            if (lane & bit) lanes |= 1u << lane;
        return static_cast<Lanes>(lanes);
    }
    WEFT_INLINE void order(Type& a, Type& b) {
        Type least = V::lesser(a, b);
        b = V::greater(a, b);
        a = least;
    }
    template <int distance>
    WEFT_INLINE void clean_rows(Type (&v)[R]) {
        if constexpr (distance > 0) {
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i)
                if (!(i & distance)) order(v[i], v[i + distance]);
            clean_rows<distance / 2>(v);
        }
    }
    template <int distance>
    WEFT_INLINE void clean_columns(Type (&v)[R]) {
        if constexpr (distance > 0) {
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) v[i] = V::parted(with_bit(distance), v[i], V::template turned<distance>(v[i]));
            clean_columns<distance / 2>(v);
        }
    }
    /// Each column in order, of columns in which pieces of half the length are.
    template <int length>
    WEFT_INLINE void sort_columns(Type (&v)[R]) {
        if constexpr (length <= R) {
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i)
                if (!(i & length / 2)) order(v[i], v[i ^ (length - 1)]);
            clean_rows<length / 4>(v);
            sort_columns<length * 2>(v);
        }
    }
    /// Each `columns` of them in order, one behind the other, of which the halves are.
    template <int columns>
    WEFT_INLINE void merge_columns(Type (&v)[R]) {
        if constexpr (columns <= V::lanes) {
            constexpr Lanes upper = with_bit(columns / 2);
            if constexpr (R == 1) v[0] = V::parted(upper, v[0], V::template turned<columns - 1>(v[0]));
#pragma GCC unroll 8
            for (int i = 0; i < R / 2; ++i) {
                Type a = v[i], b = v[R - 1 - i];
                v[i] = V::parted(upper, a, V::template turned<columns - 1>(b));
                v[R - 1 - i] = V::parted(upper, b, V::template turned<columns - 1>(a));
            }
            clean_columns<columns / 4>(v);
            clean_rows<R / 2>(v);
            merge_columns<2 * columns>(v);
        }
    }
    template <int round>
    WEFT_INLINE void turn(Type (&v)[R]) {
        if constexpr (round < R) {
            Type w[R];
#pragma GCC unroll 8
            for (int i = 0; i < R / 2; ++i) {
                w[2 * i] = V::lower_in_turns(v[i], v[i + R / 2]);
                w[2 * i + 1] = V::upper_in_turns(v[i], v[i + R / 2]);
            }
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) v[i] = w[i];
            turn<2 * round>(v);
        }
    }
    static void sort(Key* keys, std::int64_t count) {
        Type v[R];
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) v[i] = V::load(keys + i * V::lanes, count - i * V::lanes);
        sort_columns<2>(v);
        merge_columns<2>(v);
        turn<1>(v);
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) V::store(keys + i * V::lanes, v[i], count - i * V::lanes);
    }
};

/// Up to eight vectors of keys.
template <class Key>
static void sort_few(Key* keys, std::int64_t count) {
    constexpr int lanes = KeyVec<Key>::lanes;
    if (count <= 1) return;
    if (count <= lanes) return Network<Key, 1>::sort(keys, count);
    if (count <= 2 * lanes) return Network<Key, 2>::sort(keys, count);
    if (count <= 4 * lanes) return Network<Key, 4>::sort(keys, count);
    Network<Key, 8>::sort(keys, count);
}

/// Keys below the pivot, or equal to it, to the front: how many there are.
template <bool with_equal, class Key>
static std::int64_t part(Key* keys, Key* spare, std::int64_t count, Key pivot) {
    using V = KeyVec<Key>;
    auto limit = V::all(pivot);
    Key *front = keys, *back = spare;
    // What is stored behind the front was read before, for there are never more keys in front than were read.
    std::int64_t i = 0;
    for (; i + V::lanes <= count; i += V::lanes) {
        auto v = V::load(keys + i);
        typename V::Lanes some = with_equal ? V::at_most(v, limit) : V::less(v, limit);
        int below = __builtin_popcount(some);
        V::store(front, V::pressed(some, v)), front += below;
        V::store(back, V::pressed(static_cast<typename V::Lanes>(~some), v)), back += V::lanes - below;
    }
    for (; i < count; ++i) {
        Key key = keys[i];
        (key < pivot || (with_equal && key == pivot) ? *front++ : *back++) = key;
    }
    __builtin_memcpy(front, spare, static_cast<std::size_t>(back - spare) * sizeof(Key));
    return front - keys;
}

/// Of some keys that stand apart that which stands where `place` of all does.
template <class Key>
static Key pivot_of(const Key* keys, std::int64_t count, std::int64_t place) {
    constexpr int lanes = KeyVec<Key>::lanes, most = 8 * lanes;
    Key some[most];
    int wanted = count > 64 * lanes ? most : 2 * lanes;
    std::int64_t step = count / wanted;
    for (int i = 0; i < wanted; ++i) some[i] = keys[i * step + i % step];  // not all at one place of what repeats
    sort_few(some, wanted);
    std::int64_t least = wanted / 8,
                 at = place / step;  // nearer the ends so few stand beyond that little would be parted off
    return some[at < least ? least : at > wanted - 1 - least ? wanted - 1 - least : at];
}

/// False where pivots were bad so often that `depth` is used up; the keys are then all there in some order.
template <class Key>
static bool quicksort(Key* keys, Key* spare, std::int64_t count, int depth) {
    while (count > 8 * KeyVec<Key>::lanes) {
        if (depth-- == 0) return false;
        Key pivot = pivot_of(keys, count, count / 2);
        std::int64_t front = part<false>(keys, spare, count, pivot);
        if (front == 0)  // it is the least: those equal to it are in order
            front = part<true>(keys, spare, count, pivot);
        else if (!quicksort(keys, spare, front, depth))
            return false;
        keys += front, count -= front;
    }
    sort_few(keys, count);
    return true;
}

/// The same of places [first, last) alone: the side without them is left.
template <class Key>
static bool quickselect(Key* keys, Key* spare, std::int64_t count, std::int64_t first, std::int64_t last, int depth) {
    while (count > 8 * KeyVec<Key>::lanes) {
        if (depth-- == 0) return false;
        Key pivot = pivot_of(keys, count, (first + last) / 2);
        std::int64_t front = part<false>(keys, spare, count, pivot);
        bool least = front == 0;  // those equal to it are in order
        if (least) front = part<true>(keys, spare, count, pivot);
        if (last <= front) {
            if (least) return true;
            count = front;
            continue;
        }
        if (first < front && !least && !quickselect(keys, spare, front, first, front, depth)) return false;
        keys += front, count -= front;
        first = first > front ? first - front : 0, last -= front;
    }
    sort_few(keys, count);
    return true;
}

#endif

}  // namespace weft::cpu::WEFT_ISA
