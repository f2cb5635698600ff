// The loops of reductions over blocks. The order in which values are joined is fixed by their number alone, so every instruction set and
// every number of threads gives the same bits. Only for sources below isa/. Caller: reduce_joined.cpp.
#pragma once

#include "weft/backend/cpu/isa/monoids.h"
#include "weft/backend/cpu/isa/short_rows.h"
#include "weft/backend/cpu/isa/tall_columns.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu::WEFT_ISA {
namespace {

/// The functions of ReduceLoops for a monoid.
template <class M>
struct Joined {
    using T = typename M::Value;

    /// Products of complex numbers, which stay in registers only where their loop is unrolled by hand: 0.2 to 0.5 of the time.
    static constexpr bool complex_product = element::is_complex<T> && std::is_same_v<M, Product<T>>;

    static void begin(void* lanes) {
        for (int k = 0; k < width; ++k) static_cast<T*>(lanes)[k] = M::neutral();
    }
    static void lanes(void* lanes, const void* values, std::int64_t count, std::int64_t) {
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        if constexpr (std::is_arithmetic_v<T>)
            return join_lane_vectors<M>(static_cast<T*>(lanes), static_cast<const T*>(values), count);
#endif
        join_lanes<M>(static_cast<T*>(lanes), static_cast<const T*>(values), count);
    }
    static void fold(void* lanes, void* out, std::int64_t*) {
        *static_cast<T*>(out) = fold_lanes<M, width>(static_cast<T*>(lanes));
    }

    /// As fold_lanes, of values that are read one by one: without a loop, whatever the compiler makes of loops.
    template <int used, int at = 0, int step = 1, class Read>
    WEFT_ELEMENT static T fold_read(const Read& read) {
        if constexpr (step == used)
            return read(at);
        else
            return M::join(fold_read<used, at, 2 * step>(read), fold_read<used, at + step, 2 * step>(read));
    }

    /// Rows of at most `used` elements, a power of two: the lanes beyond a row hold the neutral value.
    template <int used>
    static void rows_within(T* to, const T* from, std::int64_t rows, std::int64_t length) {
#if defined(WEFT_ISA_avx2)
        // g++ 12 makes vectors of sums and products of its own, of the greatest and the least some.
        constexpr bool extreme = std::is_same_v<M, Extreme<T, true>> || std::is_same_v<M, Extreme<T, false>>;
        if constexpr (std::is_floating_point_v<T> && extreme)
            if constexpr (used > Vec<T>::lanes && (sizeof(T) == 4 || used <= 16))
                return join_rows_within<M, used>(to, from, rows, length);
#endif
        const T* end = from + rows * length;
        for (std::int64_t row = 0; row < rows; ++row, from += length) {
            bool inside = from + used <= end;  // what follows the row is read too, and dropped
            if constexpr (used <= 8) {
                to[row] = inside ? fold_read<used>([&](int k) {
                    T value = from[k];
                    return k < length ? value : M::neutral();
                })
                                 : fold_read<used>([&](int k) { return k < length ? from[k] : M::neutral(); });
                continue;
            }
            T sums[used];
            if (inside) {
                for (int k = 0; k < used; ++k) {
                    T value = from[k];
                    sums[k] = k < length ? value : M::neutral();
                }
            } else {
                for (int k = 0; k < used; ++k) sums[k] = M::neutral();
                for (int k = 0; k < length; ++k) sums[k] = from[k];
            }
            to[row] = fold_lanes<M, used>(sums);
        }
    }

    static void rows(void* out, std::int64_t*, const void* values, std::int64_t rows, std::int64_t length) {
        auto* to = static_cast<T*>(out);
        auto* from = static_cast<const T*>(values);
#if defined(WEFT_ISA_avx512)
        if constexpr (std::is_floating_point_v<T>)
            if (join_many_rows<M>(to, from, rows, length)) return;
#endif
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        if constexpr (std::is_integral_v<T>) {
            if (length >= LaneVectors<M>::all) {
                for (std::int64_t row = 0; row < rows; ++row, from += length) to[row] = join_whole_row<M>(from, length);
                return;
            }
        }
#endif
        if (length <= 2) return rows_within<2>(to, from, rows, length);
        if (length <= 4) return rows_within<4>(to, from, rows, length);
        if (length <= 8) return rows_within<8>(to, from, rows, length);
        if (length <= 16) return rows_within<16>(to, from, rows, length);
        if (length <= 32) return rows_within<32>(to, from, rows, length);
        if (length <= 64) return rows_within<64>(to, from, rows, length);
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        if constexpr (std::is_floating_point_v<T>) {
            for (std::int64_t row = 0; row < rows; ++row, from += length) to[row] = join_long_row<M>(from, length);
            return;
        }
#endif
        for (std::int64_t row = 0; row < rows; ++row, from += length) {
            T sums[width];
            for (int k = 0; k < width; ++k) sums[k] = from[k];
            join_lanes<M>(sums, from + width, length - width);
            to[row] = fold_lanes<M, width>(sums);
        }
    }

    /// So many rows at a time: what is joined to is loaded and stored once for all of them.
    template <int together>
    static void join_rows(T* to, const T* from, std::int64_t stride, std::int64_t columns) {
        std::int64_t k = 0;
        for (; k + width <= columns; k += width) {
            T totals[width];
            for (int i = 0; i < width; ++i) totals[i] = to[k + i];
            for (int row = 0; row < together; ++row)
                for (int i = 0; i < width; ++i) totals[i] = M::join(totals[i], from[row * stride + k + i]);
            for (int i = 0; i < width; ++i) to[k + i] = totals[i];
        }
#pragma GCC ivdep
        for (; k < columns; ++k) {
            T total = to[k];
            for (int row = 0; row < together; ++row) total = M::join(total, from[row * stride + k]);
            to[k] = total;
        }
    }

    /// All rows of at most `most` columns, which stay in registers. What follows a row is joined too, where it is memory, and dropped.
    template <int most>
    static void join_tall(T* to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
        std::int64_t row = 0;
        if ((rows - 1) * stride + columns >= most) {
            T totals[most];
            for (int k = 0; k < most; ++k) totals[k] = k < columns ? to[k] : M::neutral();
            for (; (rows - 1 - row) * stride + columns >= most; ++row, from += stride) {
                if constexpr (complex_product) {
#pragma GCC unroll 16
                    for (int k = 0; k < most; ++k) totals[k] = M::join(totals[k], from[k]);
                } else {
                    for (int k = 0; k < most; ++k) totals[k] = M::join(totals[k], from[k]);
                }
            }
            for (int k = 0; k < columns; ++k) to[k] = totals[k];
        }
        for (; row < rows; ++row, from += stride)
            for (int k = 0; k < columns; ++k) to[k] = M::join(to[k], from[k]);
    }

    static void join_few_columns(T* to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        if constexpr (std::is_floating_point_v<T>) {
            constexpr bool asks = Vec<T>::lanes * sizeof(T) > 32;
            return join_tall_columns<M, asks>(to, from, rows, columns, stride);
        }
#endif
        // Two vectors of 64 bytes or four: of one, g++ 12 makes code that takes three times as long as of two (but of complex products).
        constexpr int few = (complex_product ? 64 : 128) / sizeof(T), many = 2 * few;
        for (; columns > 0; to += many, from += many, columns -= many) {
            if (columns > few)
                join_tall<many>(to, from, rows, columns < many ? columns : many, stride);
            else
                join_tall<few>(to, from, rows, columns, stride);
        }
    }

#if defined(WEFT_ISA_avx512)
    /// Rows that are read at once, each asked for ahead; their ends ask for where the next begin, if there are `more`, for what lies behind them is
    /// read much later (256 cubed down the first axis: 0.91 of the time). A Zen 4 that reads four lines of each, not eight, takes 0.45 to 0.7 of it.
    static void join_far_group(T* to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                               bool more, bool by_fours) {
        constexpr std::int64_t end = bytes_asked_ahead / sizeof(T), each = 8 * Vec<T>::lanes;
        std::int64_t head = columns > end ? (columns - end) / each * each : 0;
        join_tall_columns<M, true>(to, from, rows, head, stride, bytes_asked_ahead, by_fours);
        to += head, from += head, columns -= head;
        const auto next = static_cast<std::uintptr_t>(rows * stride - head) * sizeof(T);
        if (more)
            join_tall_columns<M, true>(to, from, rows, columns, stride, next, by_fours);
        else
            join_tall_columns<M, false>(to, from, rows, columns, stride, 0, by_fours);
    }

    /// A few rows far apart all at once; of more, which reach from beyond the caches, eight at a time. False: neither.
    static bool join_far_rows(T* to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                              bool by_fours) {
        constexpr std::int64_t few = 2 * rows_together, caches = (std::int64_t{24} << 20) / sizeof(T);
        if (by_fours || (stride > 0 && rows * stride >= caches)) {
            bool near =
                rows * columns <= (std::int64_t{1} << 19) / std::int64_t{sizeof(T)};  // what lies behind is next
            for (std::int64_t together; rows > 0; rows -= together, from += together * stride) {
                together = rows < few ? rows : rows_together;
                near ? join_tall_columns<M, true>(to, from, together, columns, stride)
                     : join_far_group(to, from, together, columns, stride, rows > together, by_fours);
            }
            return true;
        }
        if (rows >= few) return false;
        join_tall_columns<M, false>(to, from, rows, columns, stride);
        return true;
    }
#endif

    [[gnu::noinline, gnu::noclone]]  // join() calls it, too
    static void
    columns(void* out, std::int64_t*, const void* values, std::int64_t rows, std::int64_t columns, std::int64_t stride,
            std::int64_t, bool fresh, [[maybe_unused]] bool by_fours) {
        auto* to = static_cast<T*>(out);
        auto* from = static_cast<const T*>(values);
        std::int64_t row = 0;
        if (fresh)
            for (std::int64_t k = 0; k < columns; ++k) to[k] = M::neutral();
        if (rows == 0) return;
        if (few_columns(columns * static_cast<std::int64_t>(sizeof(T))) && stride >= columns)
            return join_few_columns(to, from, rows, columns, stride);
        if (lie_far_apart(stride * static_cast<std::int64_t>(sizeof(T)))) {
#if defined(WEFT_ISA_avx512)
            if constexpr (std::is_floating_point_v<T>)
                if (join_far_rows(to, from, rows, columns, stride, by_fours)) return;
#elif defined(WEFT_ISA_avx2)
            if constexpr (std::is_floating_point_v<T>) {
                for (std::int64_t together; rows > 0; rows -= together, from += together * stride) {
                    together = rows < 2 * rows_together ? rows : rows_together;
                    join_tall_columns<M, false>(to, from, together, columns, stride);
                }
                return;
            }
#endif
            for (; row + rows_together <= rows; row += rows_together)
                join_rows<rows_together>(to, from + row * stride, stride, columns);
        }
        for (; row < rows; ++row) join_rows<1>(to, from + row * stride, stride, columns);
    }

    static void join(void* out, std::int64_t*, const void* partials, const std::int64_t*, std::int64_t chunks,
                     std::int64_t stride, std::int64_t count) {
        using W = typename M::Wide;
        auto* to = static_cast<T*>(out);
        auto* from = static_cast<const T*>(partials);
        if constexpr (std::is_same_v<W, T>) {  // then chunks are rows
            for (std::int64_t k = 0; k < count; ++k) to[k] = from[k];
            return columns(to, nullptr, from + stride, chunks - 1, count, stride, 1, false, false);
        }
        constexpr int together = std::is_same_v<M, Sum<float>> ? width : 1;  // code is large
        for (; count > 0; count -= together, to += together, from += together) {
            const int some = count < together ? static_cast<int>(count) : together;
            W totals[together];
            for (int k = 0; k < some; ++k) totals[k] = element::convert<W>(from[k]);
            for (std::int64_t c = 1; c < chunks; ++c)
                for (int k = 0; k < some; ++k)
                    totals[k] = M::join(totals[k], element::convert<W>(from[c * stride + k]));
            for (int k = 0; k < some; ++k) to[k] = element::convert<T>(totals[k]);
        }
    }

    static constexpr ReduceLoops loops{begin, lanes, fold, rows, columns, join};
};

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
