// Where the largest or smallest of each of a few columns of floating numbers stands, all rows in registers: beside the best of each lane the
// number of its row, as a floating number too, so that one comparison and two choices are all there is to an element. A NaN is only noticed
// here: what then comes first is for the caller to find. Only for sources below isa/. Caller: best_of.h.
#pragma once

#include "weft/backend/cpu/isa/monoids.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// In which lanes a is above b, and a choice by lanes: what Vec has not.
#if defined(WEFT_ISA_avx512)
WEFT_ELEMENT __mmask16 above(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
WEFT_ELEMENT __mmask8 above(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
WEFT_ELEMENT __m512 chosen(__mmask16 lanes, __m512 a, __m512 b) { return _mm512_mask_blend_ps(lanes, b, a); }
WEFT_ELEMENT __m512d chosen(__mmask8 lanes, __m512d a, __m512d b) { return _mm512_mask_blend_pd(lanes, b, a); }
#else
WEFT_ELEMENT __m256 above(__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
WEFT_ELEMENT __m256d above(__m256d a, __m256d b) { return _mm256_cmp_pd(a, b, _CMP_GT_OQ); }
WEFT_ELEMENT __m256 chosen(__m256 lanes, __m256 a, __m256 b) { return _mm256_blendv_ps(b, a, lanes); }
WEFT_ELEMENT __m256d chosen(__m256d lanes, __m256d a, __m256d b) { return _mm256_blendv_pd(b, a, lanes); }
#endif

template <class T, bool greatest>
struct BestOfColumns {
    using V = Vec<T>;
    using Type = typename V::Type;
    static constexpr std::int64_t lanes = V::lanes;
    static constexpr int most_vectors = 8;
    static constexpr std::int64_t most_rows = std::int64_t{1} << 20;  // whose numbers a float holds

    WEFT_ELEMENT static bool is_better(T a, T b) { return greatest ? a > b : a < b; }

    /// Of `steps` >= 1 rows of vectors, `stride` numbers from one to the next, the best of each lane and in which row it came first; the last
    /// vector holds `last` numbers. False if there is a NaN.
    template <int vectors>
    static bool best_lanes(T* value, T* place, const T* from, std::int64_t steps, std::int64_t stride, int last) {
        auto load = [last](const T* row, int v) __attribute__((always_inline)) {
            return v == vectors - 1 ? V::load(row + v * lanes, last) : V::load(row + v * lanes);
        };
        Type best[vectors], at[vectors], row = V::zero();
        const Type one = V::all(T{1});
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) best[v] = load(from, v), at[v] = V::zero();
        typename V::Lanes known[most_vectors / 2];  // several, as a comparison waits for the one before it
        for (auto& lane : known) lane = V::all_lanes();
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) known[v / 2] = V::ordered(known[v / 2], best[v], best[v]);
        for (std::int64_t step = 1; step < steps; ++step) {
            from += stride;
            row = V::add(row, one);
            Type before = best[0];
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) {
                Type x = load(from, v);
                at[v] = chosen(greatest ? above(x, best[v]) : above(best[v], x), row, at[v]);
                best[v] = greatest ? V::greater(x, best[v]) : V::lesser(x, best[v]);
                if (v % 2 || v == vectors - 1) known[v / 2] = V::ordered(known[v / 2], v % 2 ? before : x, x);
                before = x;
            }
        }
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) V::store(value + v * lanes, best[v]), V::store(place + v * lanes, at[v]);
        return V::all_of(known[0]) && V::all_of(known[1]) && V::all_of(known[2]) && V::all_of(known[3]);
    }

    template <int known = 1>
    static bool best_of_vectors(T* value, T* place, const T* from, std::int64_t steps, std::int64_t stride, int vectors,
                                int last) {
        if constexpr (known < most_vectors)
            if (vectors > known) return best_of_vectors<known + 1>(value, place, from, steps, stride, vectors, last);
        return best_lanes<known>(value, place, from, steps, stride, last);
    }

    /// Vectors that hold whole rows of `columns`, one after the other: enough for what waits for each other to lie side by side. 0: too many.
    static int vectors_of_whole_rows(std::int64_t columns) {
        std::int64_t vectors = columns;
        for (std::int64_t l = lanes; l > 1 && vectors % 2 == 0; l /= 2) vectors /= 2;
        while (vectors <= most_vectors / 2) vectors *= 2;
        return vectors <= most_vectors ? static_cast<int>(vectors) : 0;
    }

    /// What is best so far of a column, against what comes later.
    WEFT_ELEMENT static void take(T* to, std::int64_t* at, T value, std::int64_t place) {
        if (is_better(value, *to)) *to = value, *at = place;
    }

    /// Rows one after the other: every lane holds one column. Its numbers are those of every so-manieth row.
    static bool whole_rows(T* to, std::int64_t* at, const T* from, std::int64_t rows, std::int64_t columns,
                           int vectors) {
        T value[most_vectors * lanes], place[most_vectors * lanes];
        const std::int64_t together = vectors * lanes / columns, steps = rows / together;
        if (!best_of_vectors(value, place, from, steps, vectors * lanes, vectors, static_cast<int>(lanes)))
            return false;
        for (std::int64_t k = 0; k < columns; ++k)
            to[k] = value[k], at[k] = static_cast<std::int64_t>(place[k]) * together;
        for (std::int64_t row = 1; row < together; ++row)
            for (std::int64_t k = 0; k < columns; ++k) {
                T here = value[row * columns + k];
                std::int64_t its = static_cast<std::int64_t>(place[row * columns + k]) * together + row;
                if (is_better(here, to[k]) || (here == to[k] && its < at[k])) to[k] = here, at[k] = its;
            }
        for (std::int64_t row = steps * together; row < rows; ++row)
            for (std::int64_t k = 0; k < columns; ++k) {
                T here = from[row * columns + k];
                if (here != here) return false;
                take(to + k, at + k, here, row);
            }
        return true;
    }

    /// The first places of the bests of `rows` rows, from 1 to most_rows, of `columns` each; false if there is a NaN.
    static bool find(T* to, std::int64_t* at, const T* from, std::int64_t rows, std::int64_t columns,
                     std::int64_t stride) {
        int whole = stride == columns ? vectors_of_whole_rows(columns) : 0;
        if (whole > 0 && rows * columns >= whole * lanes) return whole_rows(to, at, from, rows, columns, whole);
        T value[most_vectors * lanes], place[most_vectors * lanes];
        for (std::int64_t first = 0; first < columns; first += most_vectors * lanes) {
            std::int64_t left = columns - first, here = left < most_vectors * lanes ? left : most_vectors * lanes;
            auto vectors = static_cast<int>((here + lanes - 1) / lanes);
            auto last = static_cast<int>(here - (vectors - 1) * lanes);
            if (!best_of_vectors(value, place, from + first, rows, stride, vectors, last)) return false;
            for (std::int64_t k = 0; k < here; ++k)
                to[first + k] = value[k], at[first + k] = static_cast<std::int64_t>(place[k]);
        }
        return true;
    }
};

#endif

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
