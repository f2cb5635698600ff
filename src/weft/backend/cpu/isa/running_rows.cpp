// A line of the result is stored as soon as it is there, all of it at once: written past the caches in pieces, between which others are read,
// it would go to memory in pieces (2048 x 2048 floats on a Zen 4: 1.1 to 1.3 ms, and 0.6 so, which is what a copy takes).
#include "weft/backend/cpu/isa/running_rows.h"

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

constexpr std::int64_t line_bytes = 64;

/// `to` begins a line of memory.
WEFT_INLINE void store_line_past(void* to, const void* from) {
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    using V = Vec<float>;
    for (std::int64_t i = 0; i < line_bytes / 4; i += V::lanes)
        V::store_past(static_cast<float*>(to) + i, V::load(static_cast<const float*>(from) + i));
#else
    __builtin_memcpy(to, from, line_bytes);
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

template <bool product, class T>
WEFT_INLINE void join_some(const T* from, T* running, T* to, std::int64_t count, bool exclusive) {
    for (std::int64_t k = 0; k < count; ++k) {
        T next = joined<product>(running[k], from[k]);
        to[k] = exclusive ? running[k] : next;
        running[k] = next;
    }
}

template <class T>
WEFT_INLINE void store_line(T* to, const T* running, bool past) {
    if (past)
        store_line_past(to, running);
    else
        __builtin_memcpy(to, running, line_bytes);
}

template <bool product, class T>
WEFT_INLINE void join_line(const T* from, T* running, T* to, const RunningRows& shape) {
    constexpr std::int64_t count = line_bytes / sizeof(T);
    if (shape.exclusive) store_line(to, running, shape.past);
    T next[count];
    for (int k = 0; k < count; ++k) next[k] = joined<product>(running[k], from[k]);
    for (int k = 0; k < count; ++k) running[k] = next[k];
    if (!shape.exclusive) store_line(to, running, shape.past);
}

template <bool product, class T>
void join_rows(const T* from, T* running, T* to, const RunningRows& shape) {
    constexpr std::int64_t line = line_bytes / sizeof(T);
    for (std::int64_t row = 0; row < shape.rows; ++row, from += shape.from_step, to += shape.to_step) {
        const T* ahead = from;  // what is there already is asked for again, and costs nothing
        if (row + shape.rows_ahead < shape.rows) ahead += shape.rows_ahead * shape.from_step;
        std::int64_t k = 0;
        if (shape.past) {  // up to the first whole line of the result
            auto behind = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line_bytes / sizeof(T));
            k = (line - behind) % line;
            k = k < shape.lanes ? k : shape.lanes;
            join_some<product>(from, running, to, k, shape.exclusive);
        }
        for (; k + line <= shape.lanes; k += line) {
            if (shape.rows_ahead) __builtin_prefetch(ahead + k);
            join_line<product>(from + k, running + k, to + k, shape);
        }
        join_some<product>(from + k, running + k, to + k, shape.lanes - k, shape.exclusive);
    }
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    if (shape.past) _mm_sfence();  // other threads are told later, and must find what was stored
#endif
}

}  // namespace

const RowJoins<float> row_joins_f32 = {join_rows<false, float>, join_rows<true, float>};
const RowJoins<double> row_joins_f64 = {join_rows<false, double>, join_rows<true, double>};
const RowJoins<std::int64_t> row_joins_i64 = {join_rows<false, std::int64_t>, join_rows<true, std::int64_t>};

}  // namespace weft::cpu::WEFT_ISA
