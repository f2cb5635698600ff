// Rows of up to 64 floating numbers joined by halves, many at once: the halves of several rows beside each other in one vector. To the bits of
// fold_lanes, row by row. Included by joined.h; where there are no vectors of 64 bytes, nothing.
#pragma once

#include "weft/backend/cpu/isa/long_rows.h"

#if defined(WEFT_ISA_avx512)
#include <immintrin.h>
#endif

namespace weft::cpu::WEFT_ISA {
namespace {

/// What lies 1.5 KB on, or so many bytes, rows that are joined soon, or nobody's memory: a hint alone. Of rows of less than a vector it costs more
/// than it gains.
constexpr std::uintptr_t bytes_asked_ahead = 1536;
WEFT_ELEMENT void ask_ahead(const void* from, std::uintptr_t bytes = bytes_asked_ahead) {
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + bytes), 0, 2);
}

#if defined(WEFT_ISA_avx512)

/// Of values none of which is NaN, as it must be seen to: one instruction.
template <class M>
struct Known;
template <class T, bool greatest>
struct Known<Extreme<T, greatest>> : Extreme<T, greatest> {};
template <class T, bool greatest>
struct OnVectors<Known<Extreme<T, greatest>>> {
    template <class V>
    WEFT_ELEMENT static V join(V a, V b) {
        return greatest ? Vec<T>::greater(a, b) : Vec<T>::lesser(a, b);
    }
};
template <class M>
constexpr bool is_known = false;
template <class M>
constexpr bool is_known<Known<M>> = true;

template <class T>
struct Row;

// Masked, with all lanes, where g++ 12 takes the operand that its own headers leave undefined for one of ours.
template <>
struct Row<float> {
    using Type = __m512;
    static constexpr int lanes = 16;
    WEFT_ELEMENT static Type all(float value) { return _mm512_set1_ps(value); }
    WEFT_ELEMENT static Type load(Type others, unsigned mask, const float* from) {
        return _mm512_mask_loadu_ps(others, static_cast<__mmask16>(mask), from);
    }
    /// Of two vectors the lower halves of what belongs to each row, and the upper ones. `step` counts from the widest on.
    template <int step>
    WEFT_ELEMENT static Type lower(Type x, Type y) {
        if constexpr (step == 0) return _mm512_maskz_shuffle_f32x4(0xffff, x, y, 0x44);
        if constexpr (step == 1) return _mm512_maskz_shuffle_f32x4(0xffff, x, y, 0x88);
        return _mm512_maskz_shuffle_ps(0xffff, x, y, step == 2 ? 0x44 : 0x88);
    }
    template <int step>
    WEFT_ELEMENT static Type upper(Type x, Type y) {
        if constexpr (step == 0) return _mm512_maskz_shuffle_f32x4(0xffff, x, y, 0xee);
        if constexpr (step == 1) return _mm512_maskz_shuffle_f32x4(0xffff, x, y, 0xdd);
        return _mm512_maskz_shuffle_ps(0xffff, x, y, step == 2 ? 0xee : 0xdd);
    }
    /// Rows in their order: row 4 * i + j is number i of part j.
    WEFT_ELEMENT static void store(float* to, Type folded, int count) {
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1u),
                              _mm512_maskz_permutexvar_ps(0xffff, order, folded));
    }
};

template <>
struct Row<double> {
    using Type = __m512d;
    static constexpr int lanes = 8;
    WEFT_ELEMENT static Type all(double value) { return _mm512_set1_pd(value); }
    WEFT_ELEMENT static Type load(Type others, unsigned mask, const double* from) {
        return _mm512_mask_loadu_pd(others, static_cast<__mmask8>(mask), from);
    }
    template <int step>
    WEFT_ELEMENT static Type lower(Type x, Type y) {
        if constexpr (step == 0) return _mm512_maskz_shuffle_f64x2(0xff, x, y, 0x44);
        if constexpr (step == 1) return _mm512_maskz_shuffle_f64x2(0xff, x, y, 0x88);
        return _mm512_maskz_unpacklo_pd(0xff, x, y);
    }
    template <int step>
    WEFT_ELEMENT static Type upper(Type x, Type y) {
        if constexpr (step == 0) return _mm512_maskz_shuffle_f64x2(0xff, x, y, 0xee);
        if constexpr (step == 1) return _mm512_maskz_shuffle_f64x2(0xff, x, y, 0xdd);
        return _mm512_maskz_unpackhi_pd(0xff, x, y);
    }
    WEFT_ELEMENT static void store(double* to, Type folded, int count) {
        const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
        _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1u),
                              _mm512_maskz_permutexvar_pd(0xff, order, folded));
    }
};

template <class M, int count, int step>
WEFT_ELEMENT typename Row<typename M::Value>::Type fold_vectors(typename Row<typename M::Value>::Type* rows) {
    using R = Row<typename M::Value>;
    if constexpr (count == 1) {
        return rows[0];
    } else {
        for (int i = 0; i < count / 2; ++i) {
            typename R::Type x = rows[2 * i], y = rows[2 * i + 1];
            rows[i] = OnVectors<M>::join(R::template lower<step>(x, y), R::template upper<step>(x, y));
        }
        return fold_vectors<M, count / 2, step + 1>(rows);
    }
}

/// Which lanes of some vectors, two at a time, are both numbers.
template <class T, int count>
WEFT_ELEMENT typename Vec<T>::Lanes numbers_of(const typename Vec<T>::Type* vectors) {
    typename Vec<T>::Lanes all = Vec<T>::all_lanes();
    for (int i = 0; i < count; i += 2)
        all &= Vec<T>::ordered(Vec<T>::all_lanes(), vectors[i], vectors[i + 1 < count ? i + 1 : i]);
    return all;
}

/// `here` rows, a vector's lanes if `all_here`: `parts` rows of at most a vector's lanes / parts to each vector; of longer ones, of `vectors`
/// vectors each, what these join to. False if M wants to know no NaN, and there is one.
template <class M, int parts, int vectors, bool all_here>
WEFT_ELEMENT bool join_group(typename M::Value* to, const typename M::Value* from, int here, std::int64_t length) {
    using T = typename M::Value;
    using R = Row<T>;
    constexpr int lanes = R::lanes, first_step = parts == 4 ? 2 : parts == 2 ? 1 : 0, of_row = lanes / parts;
    const typename R::Type neutral = R::all(M::neutral());
    auto last = static_cast<int>(length) - (vectors - 1) * lanes;  // numbers in a row's last vector
    unsigned mask = (1u << last) - 1u;
    typename Vec<T>::Lanes numbers = Vec<T>::all_lanes();
    typename R::Type all[lanes / parts];
    for (int i = 0; i < lanes / parts; ++i) {
        if constexpr (vectors == 1) {
            all[i] = neutral;
            for (int part = 0; part < parts; ++part, from += length) {
                bool is_there = all_here || i * parts + part < here;
                // Lanes before the part's own are masked: they are not read, wherever that may be.
                all[i] = R::load(all[i], is_there ? mask << part * of_row : 0u, from - part * of_row);
            }
        } else {
            typename R::Type row[vectors];
            bool is_there = all_here || i < here;
            for (int v = 0; v < vectors; ++v) ask_ahead(from + v * lanes);
            for (int v = 0; v < vectors - 1; ++v) row[v] = R::load(neutral, is_there ? ~0u : 0u, from + v * lanes);
            row[vectors - 1] = R::load(neutral, is_there ? mask : 0u, from + (vectors - 1) * lanes);
            if constexpr (is_known<M>) numbers &= numbers_of<T, vectors>(row);
            constexpr int used = vectors <= 2 ? 2 : vectors <= 4 ? 4 : 8;  // the others hold the neutral value
            for (int half = used / 2; half > 0; half /= 2)
                for (int v = 0; v < half; ++v) {
                    bool is_neutral =
                        half == used / 2 && v + half >= vectors;  // which a sum of -0 alone does not stay with
                    if (is_neutral && is_known<M>) continue;
                    row[v] = OnVectors<M>::join(row[v], is_neutral ? neutral : row[v + half]);
                }
            all[i] = row[0];
            from += length;
        }
    }
    if constexpr (is_known<M> && vectors == 1) numbers = numbers_of<T, lanes / parts>(all);
    R::store(to, fold_vectors<M, lanes / parts, first_step>(all), here);
    return Vec<T>::all_of(numbers);
}

template <class M, int parts, int vectors>
WEFT_ELEMENT bool join_some_rows(typename M::Value* to, const typename M::Value* from, int here, std::int64_t length) {
    // Longer rows gain nothing in cache, and compilers then begin with a row's last vector: from memory, sums of rows of 56 doubles took 1.7
    // times as long.
    if constexpr (vectors <= 3)
        if (here == Row<typename M::Value>::lanes) return join_group<M, parts, vectors, true>(to, from, here, length);
    return join_group<M, parts, vectors, false>(to, from, here, length);
}

template <class M, int parts, int vectors>
void join_short_rows(typename M::Value* to, const typename M::Value* from, std::int64_t rows, std::int64_t length) {
    constexpr int lanes = Row<typename M::Value>::lanes;
    for (; rows > 0; rows -= lanes, to += lanes, from += lanes * length) {
        int here = rows < lanes ? static_cast<int>(rows) : lanes;
        if constexpr (requires { OnVectors<Known<M>>{}; })  // the greatest and the least
            if (join_some_rows<Known<M>, parts, vectors>(to, from, here, length)) continue;
        join_some_rows<M, parts, vectors>(to, from, here, length);
    }
}

template <class M, int vectors = 2>
bool join_rows_of_vectors(typename M::Value* to, const typename M::Value* from, std::int64_t rows,
                          std::int64_t length) {
    constexpr int lanes = Row<typename M::Value>::lanes;
    if (length <= vectors * lanes) return join_short_rows<M, 1, vectors>(to, from, rows, length), true;
    if constexpr (vectors * lanes < width) return join_rows_of_vectors<M, vectors + 1>(to, from, rows, length);
    return false;
}

/// False where rows are too long, or too short to gain.
template <class M>
bool join_many_rows(typename M::Value* to, const typename M::Value* from, std::int64_t rows, std::int64_t length) {
    constexpr int lanes = Row<typename M::Value>::lanes;
    if (length <= lanes / 8 || length > width) return false;
    if (length <= lanes / 4) return join_short_rows<M, 4, 1>(to, from, rows, length), true;
    if (length <= lanes / 2) return join_short_rows<M, 2, 1>(to, from, rows, length), true;
    if (length <= lanes) return join_short_rows<M, 1, 1>(to, from, rows, length), true;
    return join_rows_of_vectors<M>(to, from, rows, length);
}

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
