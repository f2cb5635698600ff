// The same numbers, addressed otherwise: no view computes anything, and none copies where strides can say it.
// Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// The numbers in row-major order under another shape; one size may be -1 (what is left). ShapeError if the counts differ.
Tensor reshape(const Operand& x, const Shape& shape);
/// Axes in another order; without `axes`: reversed. Result axis i is x's axis axes[i].
Tensor permute_dims(const Operand& x, const Axes& axes);
Tensor permute_dims(const Operand& x);
/// Repeats along axes of size one (and new axes in front) until the shape is `shape`.
Tensor broadcast_to(const Operand& x, const Shape& shape);
/// A box: along each axis `length` elements from `start`, `step` (>= 1) apart. What x[...] is made of.
Tensor slice(const Operand& x, const Shape& start, const Shape& length, const Dims& step = {});
/// Reversed along axes.
Tensor flip(const Operand& x, const Axes& axes);
Tensor flip(const Operand& x);

// Made of these
Tensor expand_dims(const Operand& x, std::int64_t axis);
Tensor expand_dims(const Operand& x, const Axes& axes);  ///< places in the result
Tensor squeeze(const Operand& x, const Axes& axes);
Tensor squeeze(const Operand& x);
Tensor flatten(const Operand& x, std::int64_t start_axis = 0,
               std::int64_t end_axis = -1);  ///< axes start..end become one
Tensor ravel(const Operand& x);
Tensor swapaxes(const Operand& x, std::int64_t a, std::int64_t b);
Tensor moveaxis(const Operand& x, std::int64_t from, std::int64_t to);
Tensor moveaxis(const Operand& x, const Axes& from, const Axes& to);
Tensor matrix_transpose(const Operand& x);  ///< the last two axes swapped

struct ReshapeAttributes {
    Shape shape;
    template <class V>
    void members(V& visit) {
        visit("shape", shape);
    }
};
struct PermuteAttributes {
    Axes axes;
    template <class V>
    void members(V& visit) {
        visit("axes", axes);
    }
};
struct SliceAttributes {
    Offsets start;
    Shape length;
    Dims step;
    template <class V>
    void members(V& visit) {
        visit("start", start), visit("length", length), visit("step", step);
    }
};
extern const Operation reshape_operation, permute_dims_operation, broadcast_to_operation, slice_operation,
    flip_operation;

}  // namespace weft
