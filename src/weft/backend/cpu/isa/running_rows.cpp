// A line of the result is stored as soon as it is there, all of it at once: written past the caches in pieces, between which others are read,
// it would go to memory in pieces (2048 x 2048 floats on a Zen 4: 1.1 to 1.3 ms, and 0.6 so, which is what a copy takes). What goes through the
// caches is joined to the row before: stored once, not to what runs besides (500 x 500: 0.73, 100 x 10,000: 0.85 of the time).
#include "weft/backend/cpu/isa/running_rows.h"

#include "weft/backend/cpu/isa/vector.h"
#include "weft/backend/cpu/isa/vector_bytes.h"

namespace weft::cpu::WEFT_ISA {
namespace {

constexpr int line_bytes = 64;

/// A vector of the set, wherever it lies. By these, for of a loop over a line g++ 12 makes stores to the stack, on one set or the other.
template <class T>
struct Loose {
    using Factor = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>;  // whole numbers wrap
    typedef Factor Vector __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));
    static constexpr int lanes = vector_bytes / int{sizeof(T)}, in_line = line_bytes / int{sizeof(T)};
    WEFT_INLINE Vector load(const T* from) { return *reinterpret_cast<const Vector*>(from); }
    WEFT_INLINE void store(T* to, Vector value) { *reinterpret_cast<Vector*>(to) = value; }
};

/// `to` begins a line of memory.
template <class T>
WEFT_INLINE void store_line_past(T* to, const T* from) {
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    using V = Vec<float>;
    for (int i = 0; i < line_bytes / 4; i += V::lanes)
        V::store_past(reinterpret_cast<float*>(to) + i, V::load(reinterpret_cast<const float*>(from) + i));
#else
    for (int k = 0; k < Loose<T>::in_line; k += Loose<T>::lanes) Loose<T>::store(to + k, Loose<T>::load(from + k));
#endif
}

template <bool product, class T>
WEFT_INLINE T joined(T a, T b) {
    if constexpr (std::is_same_v<T, std::int64_t>) {  // which wraps
        auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
        return static_cast<T>(product ? x * y : x + y);
    } else {
        return product ? a * b : a + b;
    }
}

// What is less than a line, or the first row: each once, for of each the compiler makes a page of code.
template <bool product, class T>
__attribute__((noinline)) void join_some(const T* from, T* running, T* to, std::int64_t count, bool exclusive) {
    for (std::int64_t k = 0; k < count; ++k) {
        T next = joined<product>(running[k], from[k]);
        to[k] = exclusive ? running[k] : next;
        running[k] = next;
    }
}

template <bool product, class T>
__attribute__((noinline)) void join_rest(const T* before, const T* from, T* to, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = joined<product>(before[k], from[k]);
}

template <bool product, class T>
WEFT_INLINE void join_line(const T* before, const T* from, T* to) {
    using L = Loose<T>;
    for (int k = 0; k < L::in_line; k += L::lanes) {
        typename L::Vector a = L::load(before + k), b = L::load(from + k);
        L::store(to + k, product ? a * b : a + b);
    }
}

template <bool product, class T>
WEFT_INLINE void join_line_past(const T* from, T* running, T* to, bool exclusive) {
    if (exclusive) store_line_past(to, running);
    join_line<product>(running, from, running);
    if (!exclusive) store_line_past(to, running);
}

/// Where the row lies that is read so many rows after that one, or the row itself, which costs nothing.
template <class T>
WEFT_INLINE const T* asked_ahead(const T* from, std::int64_t row, const RunningRows& shape) {
    return row + shape.rows_ahead < shape.rows ? from + shape.rows_ahead * shape.from_step : from;
}

template <bool product, class T>
void join_rows_past(const T* from, T* running, T* to, const RunningRows& shape) {
    constexpr std::int64_t line = Loose<T>::in_line;
    for (std::int64_t row = 0; row < shape.rows; ++row, from += shape.from_step, to += shape.to_step) {
        const T* ahead = asked_ahead(from, row, shape);
        // Up to the first whole line of the result.
        auto behind = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line_bytes / sizeof(T));
        std::int64_t k = (line - behind) % line;
        k = k < shape.lanes ? k : shape.lanes;
        join_some<product>(from, running, to, k, shape.exclusive);
        for (; k + line <= shape.lanes; k += line) {
            if (shape.rows_ahead) __builtin_prefetch(ahead + k);
            join_line_past<product>(from + k, running + k, to + k, shape.exclusive);
        }
        join_some<product>(from + k, running + k, to + k, shape.lanes - k, shape.exclusive);
    }
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    _mm_sfence();  // other threads are told later, and must find what was stored
#endif
}

template <bool product, class T>
void join_rows(const T* from, T* running, T* to, const RunningRows& shape) {
    constexpr std::int64_t line = Loose<T>::in_line;
    if (shape.past) return join_rows_past<product>(from, running, to, shape);
    join_some<product>(from, running, to, shape.lanes, shape.exclusive);
    if (!shape.exclusive) from += shape.from_step;  // else what is joined to a row is what was read with the one before
    for (std::int64_t row = 1; row < shape.rows; ++row, from += shape.from_step) {
        to += shape.to_step;
        const T* ahead = asked_ahead(from, row, shape);
        std::int64_t k = 0;
        for (; k + line <= shape.lanes; k += line) {
            if (shape.rows_ahead) __builtin_prefetch(ahead + k);
            join_line<product>(to + k - shape.to_step, from + k, to + k);
        }
        if (k < shape.lanes) join_rest<product>(to + k - shape.to_step, from + k, to + k, shape.lanes - k);
    }
}

}  // namespace

const RowJoins<float> row_joins_f32 = {join_rows<false, float>, join_rows<true, float>};
const RowJoins<double> row_joins_f64 = {join_rows<false, double>, join_rows<true, double>};
const RowJoins<std::int64_t> row_joins_i64 = {join_rows<false, std::int64_t>, join_rows<true, std::int64_t>};

}  // namespace weft::cpu::WEFT_ISA
