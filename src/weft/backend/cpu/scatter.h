// How scatters join, in two ways: of updates as they lie in memory (scatter.cpp, a library's kernels), and of values that a loop computes
// (computed_scatter.cpp). Both join one update after another onto each place, to the same bits.
// Callers: block_evaluator.cpp, compiler.cpp, scatter.cpp.
#pragma once

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/element.h"
#include "weft/base/error.h"

namespace weft::cpu {

std::unique_ptr<const PreparedLoop> prepare_scatter(const Loop& loop, bool emitted);

/// Calls f(join) with what an update does to the element that it meets.
template <class T, class F>
decltype(auto) with_mode(ScatterMode mode, F&& f) {
    using A = Accumulator<T>;
    if (mode == ScatterMode::add) return f([](T old, T update) { return static_cast<T>(joined_sum<A>(old, update)); });
    if constexpr (!kind_is_complex<T>) {
        if (mode == ScatterMode::maximum)
            return f([](T old, T update) { return static_cast<T>(joined_extreme<true, A>(old, update)); });
        if (mode == ScatterMode::minimum)
            return f([](T old, T update) { return static_cast<T>(joined_extreme<false, A>(old, update)); });
    }
    promise(mode == ScatterMode::set, "complex numbers, which have no order, are set or added");
    return f([](T, T update) { return update; });
}

}  // namespace weft::cpu
