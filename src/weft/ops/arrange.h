// Elements in another arrangement, made of views and joins: diagonals, rolls, repetitions. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Element k of the result's last axis is x[..., k, ..., k + offset, ...] along axis1, axis2 (offset < 0: k - offset, k).
Tensor diagonal(const Operand& x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
Tensor trace(const Operand& x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
/// What leaves at one end of the axis enters at the other. Without an axis: over the flattened elements.
Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis);
Tensor roll(const Operand& x, std::int64_t shift);
/// Along several axes, each by its own shift. ValueError if there are not as many shifts as axes.
Tensor roll(const Operand& x, const Dims& shifts, const Axes& axes);
/// Each element `count` times along the axis; the whole repetitions[i] times along axis i.
Tensor repeat(const Operand& x, std::int64_t count, std::int64_t axis);
/// Element i counts[i] times (integers, one an element along the axis, or one for all). Computes `counts`, for the result's size depends on it.
Tensor repeat(const Operand& x, const Tensor& counts, std::int64_t axis);
Tensor tile(const Operand& x, const Dims& repetitions);

/// The slices along an axis, without it.
std::vector<Tensor> unstack(const Operand& x, std::int64_t axis = 0);
/// Coordinates: result i is vectors[i] along its own axis, repeated along the others. `ij`: axis i is vector i's; else (NumPy's "xy") the
/// first two change places. Vectors have at most one axis.
std::vector<Tensor> meshgrid(std::span<const Tensor> vectors, bool ij = false);
/// x[i + 1] - x[i] along an axis, `times` over; of bool whether they differ.
Tensor diff(const Operand& x, std::int64_t axis = -1, std::int64_t times = 1);

}  // namespace weft
