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
/// Each element `count` times along the axis; the whole repetitions[i] times along axis i.
Tensor repeat(const Operand& x, std::int64_t count, std::int64_t axis);
Tensor tile(const Operand& x, const Dims& repetitions);

}  // namespace weft
