// The derivative of one node, from whichever rule its operation states. Callers: autodiff/derivative.cpp.
#pragma once

#include <vector>

#include "weft/graph/node.h"

namespace weft {

/// The tangent of `result` from those of its inputs (empty Tensors: zero). At least one is not empty.
Tensor push(const Tensor& result, std::span<const Tensor> tangents);
/// The cotangents of the inputs of `result` for which `wanted` is true (the others stay empty; an empty one is also zero).
std::vector<Tensor> pull(const Tensor& result, const Tensor& cotangent, const std::vector<bool>& wanted);

/// NotDifferentiable, naming the operation and the user's line, if no derivative goes through `node`.
void refuse_if_not_differentiable(const Node& node);

}  // namespace weft
