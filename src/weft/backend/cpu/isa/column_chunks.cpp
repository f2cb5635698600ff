// A sum waits for the one before it for some cycles, in which a row of few columns is read long since: those of several chunks wait side by side;
// so do products and extremes.
#include "weft/backend/cpu/isa/column_chunks.h"

#include "weft/backend/cpu/isa/tall_columns.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

/// Of at most a vector's lanes of columns.
template <class V, class T>
void sum_of_vectors(T* to, std::int64_t apart, const T* from, std::int64_t rows, int columns, std::int64_t stride) {
    typename V::Type totals[chunks_together];
    for (auto& total : totals) total = V::zero();
    const std::int64_t chunk = rows * stride;
    for (std::int64_t row = 0; row < rows; ++row, from += stride)
#pragma GCC unroll 4
        for (int c = 0; c < chunks_together; ++c) totals[c] = V::add(totals[c], V::load(from + c * chunk, columns));
    for (int c = 0; c < chunks_together; ++c) V::store(to + c * apart, totals[c], columns);
}

template <class T>
void sum_chunks(T* to, std::int64_t apart, const T* from, std::int64_t rows, std::int64_t columns,
                std::int64_t stride) {
    constexpr std::int64_t lanes = Vec<T>::lanes;
#if defined(WEFT_ISA_avx512)
    if (columns <= HalfVec<T>::lanes)  // which lies across two lines less often
        return sum_of_vectors<HalfVec<T>>(to, apart, from, rows, static_cast<int>(columns), stride);
#endif
    for (; columns > 0; columns -= lanes, to += lanes, from += lanes)
        sum_of_vectors<Vec<T>>(to, apart, from, rows, static_cast<int>(columns < lanes ? columns : lanes), stride);
}

#if defined(WEFT_ISA_avx512)
/// Products and extremes, as sums.
template <class M, class V>
void join_vectors(typename M::Value* to, std::int64_t apart, const typename M::Value* from, std::int64_t rows,
                  int columns, std::int64_t stride) {
    ColumnVector<M, V> totals[chunks_together];
    for (auto& total : totals) total.begin(V::all(M::neutral()));
    const std::int64_t chunk = rows * stride;
    for (std::int64_t row = 0; row < rows; ++row, from += stride)
#pragma GCC unroll 4
        for (int c = 0; c < chunks_together; ++c) totals[c].join(V::load(from + c * chunk, columns));
    for (int c = 0; c < chunks_together; ++c) V::store(to + c * apart, totals[c].end(), columns);
}
template <class M>
void join_chunks(typename M::Value* to, std::int64_t apart, const typename M::Value* from, std::int64_t rows,
                 std::int64_t columns, std::int64_t stride) {
    using T = typename M::Value;
    static_assert(Vec<T>::lanes * sizeof(T) == most_chunk_bytes);
    columns <= HalfVec<T>::lanes ? join_vectors<M, HalfVec<T>>(to, apart, from, rows, static_cast<int>(columns), stride)
                                 : join_vectors<M, Vec<T>>(to, apart, from, rows, static_cast<int>(columns), stride);
}
#endif

template <class T>
JoinChunks<T> joins_of_chunks(Reduction of) {
    if (of == Reduction::sum) return sum_chunks<T>;
#if defined(WEFT_ISA_avx512)
    if (of == Reduction::product) return join_chunks<Product<T>>;
    if (of == Reduction::maximum) return join_chunks<Extreme<T, true>>;
    if (of == Reduction::minimum) return join_chunks<Extreme<T, false>>;
#endif
    return nullptr;
}

}  // namespace

JoinChunks<float> joins_of_chunks_f32(Reduction of) { return joins_of_chunks<float>(of); }
JoinChunks<double> joins_of_chunks_f64(Reduction of) { return joins_of_chunks<double>(of); }

}  // namespace weft::cpu::WEFT_ISA
