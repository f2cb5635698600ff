// What checkpoint stands on: the same numbers, which programs keep apart from themselves and touch only after something else has been
// computed. Callers: autodiff/custom.cpp.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// x, for a program that computes again what it has computed from x: equal expressions of it are not merged with those of x, and are
/// computed in later steps than `after`.
Tensor recompute(const Tensor& x, const Tensor& after);
extern const Operation recompute_operation;

}  // namespace weft
