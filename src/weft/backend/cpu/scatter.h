// How scatters join, in two ways: of updates as they lie in memory (scatter.cpp, a library's kernels), and of values that a loop computes
// (computed_scatter.cpp). Both join one update after another onto each place, to the same bits.
// Callers: block_evaluator.cpp, compiler.cpp, scatter.cpp.
#pragma once

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/element.h"
#include "weft/backend/cpu/strided.h"
#include "weft/base/error.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu {

std::unique_ptr<const PreparedLoop> prepare_scatter(const Loop& loop, bool emitted);

// What an update does to the element that it meets. Types with names, so that both ways are instances of the same loops.
struct Sets {
    template <class T>
    T operator()(T, T update) const {
        return update;
    }
};
struct Adds {
    template <class T>
    T operator()(T old, T update) const {
        return static_cast<T>(joined_sum<Accumulator<T>>(old, update));
    }
};
template <bool greater>
struct Extremes {
    template <class T>
    T operator()(T old, T update) const {
        return static_cast<T>(joined_extreme<greater, Accumulator<T>>(old, update));
    }
};

/// One number of a half type. A function, like the next, for loops that become vectors with conversions in them are long.
template <class T, class Join>
[[gnu::noinline]] T joined_half(T old, T update) {
    return Join()(old, update);
}

/// Updates of a half type onto as many elements, both side by side: many as floats, a block at a time, by the loops of the instruction set at hand.
template <class T, class Join>
[[gnu::noinline]] void join_halves(T* __restrict to, const T* __restrict updates, std::int64_t count) {
    constexpr bool brief = std::is_same_v<T, BFloat16>;  // its conversions
    constexpr std::int64_t block = 256, many = brief ? 64 : 8;
    if (count < many) {
        for (std::int64_t i = 0; i < count; ++i)
            to[i] = brief ? Join()(to[i], updates[i]) : joined_half<T, Join>(to[i], updates[i]);
        return;
    }
    constexpr DType dtype = brief ? DType::bfloat16 : DType::float16;
    const MoveLoops move = block_loops(best_isa()).move;
    float old[block], added[block];
    for (; count > 0; count -= block, to += block, updates += block) {
        std::int64_t some = std::min(block, count);
        move.widen(old, to, dtype, some), move.widen(added, updates, dtype, some);
        for (std::int64_t i = 0; i < some; ++i) old[i] = Join()(old[i], added[i]);
        move.narrow(to, dtype, old, some);
    }
}

/// Updates onto as many elements, both side by side.
template <class Join, class T>
void join_side_by_side(T* __restrict to, const T* __restrict updates, std::int64_t count) {
    constexpr std::int64_t many = 128;  // worth the call of a loop made for the instruction set at hand
    if constexpr (std::is_same_v<Join, Adds> && std::is_same_v<T, float>)
        if (count >= many) return block_loops(best_isa()).move.add_floats(to, updates, count);
    if constexpr (std::is_same_v<Join, Adds> && std::is_same_v<T, double>)
        if (count >= many) return block_loops(best_isa()).move.add_doubles(to, updates, count);
    if constexpr (is_half_number<T>) return join_halves<T, Join>(to, updates, count);
    for (std::int64_t i = 0; i < count; ++i) to[i] = Join()(to[i], updates[i]);
}

/// Updates onto a run of as many elements; strides in bytes.
template <class T, class Join>
void join_run(std::byte* to, std::int64_t stride, const std::byte* updates, std::int64_t update_stride,
              std::int64_t count) {
    constexpr auto width = static_cast<std::int64_t>(sizeof(T));
    if (stride == width && update_stride == width)
        return join_side_by_side<Join>(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(updates), count);
    for (; count > 0; --count, to += stride, updates += update_stride) {
        auto& element = *reinterpret_cast<T*>(to);
        const T& update = *reinterpret_cast<const T*>(updates);
        if constexpr (is_half_number<T>)
            element = joined_half<T, Join>(element, update);
        else
            element = Join()(element, update);
    }
}

/// Calls f(TypeTag<T>, join) with a T for which elements of the type can be taken, and what an update does to the one that it meets.
template <class F>
decltype(auto) with_mode(ScatterMode mode, DType dtype, F&& f) {
    if (mode == ScatterMode::set) return with_width(dtype, [&](auto as) { return f(as, Sets()); });
    return with_dtype(dtype, [&]<class T>(TypeTag<T> as) {
        if (mode == ScatterMode::add) return f(TypeTag<Wrapped<T>>(), Adds());
        if constexpr (!kind_is_complex<T>) {
            if (mode == ScatterMode::maximum) return f(as, Extremes<true>());
            return f(as, Extremes<false>());
        }
        promise(false, "complex numbers, which have no order, are set or added");
        __builtin_unreachable();
    });
}

}  // namespace weft::cpu
