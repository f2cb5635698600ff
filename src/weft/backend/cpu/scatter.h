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

/// An update added to the element that it meets.
template <class T>
struct Adds {
    T operator()(T old, T update) const { return static_cast<T>(joined_sum<Accumulator<T>>(old, update)); }
};

/// Updates onto as many elements, both side by side.
template <class T, class Join>
void join_side_by_side(T* __restrict to, const T* __restrict updates, std::int64_t count, Join join) {
    constexpr std::int64_t many = 128;  // worth the call of a loop made for the instruction set at hand
    if constexpr (std::is_same_v<Join, Adds<float>>)
        if (count >= many) return block_loops(best_isa()).move.add_floats(to, updates, count);
    if constexpr (std::is_same_v<Join, Adds<double>>)
        if (count >= many) return block_loops(best_isa()).move.add_doubles(to, updates, count);
    for (std::int64_t i = 0; i < count; ++i) to[i] = join(to[i], updates[i]);
}

/// Calls f(TypeTag<T>, join) with a T for which elements of the type can be taken, and what an update does to the one that it meets.
template <class F>
decltype(auto) with_mode(ScatterMode mode, DType dtype, F&& f) {
    if (mode == ScatterMode::set)
        return with_width(dtype, [&]<class T>(TypeTag<T> as) { return f(as, [](T, T update) { return update; }); });
    return with_dtype(dtype, [&]<class T>(TypeTag<T> as) {
        using A = Accumulator<T>;
        if (mode == ScatterMode::add) return f(TypeTag<Wrapped<T>>(), Adds<Wrapped<T>>());
        if constexpr (!kind_is_complex<T>) {
            if (mode == ScatterMode::maximum)
                return f(as, [](T old, T update) { return static_cast<T>(joined_extreme<true, A>(old, update)); });
            return f(as, [](T old, T update) { return static_cast<T>(joined_extreme<false, A>(old, update)); });
        }
        promise(false, "complex numbers, which have no order, are set or added");
        __builtin_unreachable();
    });
}

}  // namespace weft::cpu
