// Elements picked by integer tensors. Negative indices count from the end; an index outside its axis is an IndexError when the
// numbers are computed, which names the operation, the index, the axis and its size.
// Callers: everyone; ops/indexing.h makes x[...] of these.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// x[:axis] + indices.shape + x[axis + 1:]: along `axis`, what stands at each index. Its derivative adds up where indices repeat.
Tensor take(const Operand& x, const Operand& indices, std::int64_t axis = 0);
/// Several axes at once, from `axis` on: indices[k], broadcast together, point along axis + k. Result: x[:axis] + broadcast shape +
/// x[axis + number of indices:].
Tensor take(const Operand& x, std::span<const Tensor> indices, std::int64_t axis = 0);
/// result[..., i, ...] = x[..., indices[..., i, ...], ...]: indices has x's number of axes, and broadcasts against x off the axis.
Tensor take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis = -1);

struct GatherAttributes {
    std::int64_t axis = 0;
    bool along = false;  // take_along_axis: the indices have all of x's axes
    template <class V>
    void members(V& visit) {
        visit("axis", axis), visit("along", along);
    }
};
/// Inputs: x, then the index tensors (int64, all of one shape).
extern const Operation take_operation, take_along_axis_operation;

namespace detail {
/// Checked operands of a gather or scatter: int64 indices broadcast to one shape.
std::vector<Tensor> index_tensors(std::string_view operation, std::span<const Tensor> indices,
                                  std::source_location where);
/// x[:axis] + indices + x[axis + count:].
Shape gathered_shape(const Shape& x, std::size_t axis, std::size_t count, const Shape& indices);
/// Along an axis: indices and x, broadcast against each other off the axis. ShapeError if they do not fit.
std::pair<Tensor, Tensor> along_operands(std::string_view operation, const Tensor& x, const Tensor& indices,
                                         std::int64_t axis, std::source_location where);

// vmap's rules for indices that differ between examples (ops/batch.h): x with the `count` axes that are indexed, from `axis` of one
// example on, directly behind the batch's, and the indices, from input `first` on, with the example's number in front of them.
std::pair<Tensor, std::vector<Tensor>> batched_places(const Tensor& x, const Batch& batch, std::size_t first,
                                                      std::int64_t axis, std::int64_t count);
/// The `count` axes that start at `from` start at `to`.
Tensor moved_axes(const Tensor& x, std::int64_t count, std::int64_t from, std::int64_t to);
}  // namespace detail

}  // namespace weft
