// Reductions along axes: one record an operation in reduce.inc. `axes` empty joins nothing; without axes, all are joined.
// Sums and products of bool and integers are int64 (uint64 of unsigned), floats keep their width (half types are summed in float32).
// Work is joined in a fixed tree: the same bits for any number of threads. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"
#include "weft/kernel/reduction.h"

namespace weft {

struct ReduceAttributes {
    Reduction reduction = Reduction::sum;
    Axes axes;  // normalised, sorted
    bool keepdims = false;
    template <class V>
    void members(V& visit) {
        visit("reduction", reduction), visit("axes", axes), visit("keepdims", keepdims);
    }
};

/// Over all axes, over some, over one; AxisError for an axis that is not there, ValueError for the largest of nothing.
#define WEFT_REDUCE(name, ...)                                                       \
    extern const Operation name##_operation;                                         \
    Tensor name(const Operand& x);                                                   \
    Tensor name(const Operand& x, const Axes& axes, bool keepdims = false);          \
    inline Tensor name(const Operand& x, std::int64_t axis, bool keepdims = false) { \
        return name(x, Axes{axis}, keepdims);                                        \
    }
#include "weft/ops/reduce.inc"
#undef WEFT_REDUCE

/// The operand of a sum along broadcast axes: sums `x` back to `shape`, from which it was broadcast.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace weft
