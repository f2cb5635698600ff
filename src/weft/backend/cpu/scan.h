// Running sums and products as loops, in two ways: of an array as it lies in memory (scan.cpp), and of values that are computed
// (computed_scan.cpp). Both join one value after another along each lane, to the same bits.
// Callers: block_evaluator.cpp, compiler.cpp.
#pragma once

#include "weft/backend/cpu/block_kernel.h"
#include "weft/kernel/join.h"

namespace weft::cpu {

std::unique_ptr<const PreparedLoop> prepare_scan(const Loop& loop, bool emitted);
std::unique_ptr<const PreparedLoop> prepare_computed_scan(const Loop& loop, bool emitted);

/// f(start, join) of a running sum or product that is kept in an A; join(a, b) takes numbers, or vectors of them.
template <class A, class F>
void with_running(Reduction reduction, F&& f) {
    if (reduction == Reduction::sum)
        f(A(0), []<class T>(T a, T b) { return joined_sum(a, b); });
    else
        f(A(1), []<class T>(T a, T b) { return joined_product(a, b); });
}

}  // namespace weft::cpu
