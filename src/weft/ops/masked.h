// Reductions of the elements where a condition holds (NumPy's where=), and from a first value (its initial=). The condition is broadcast
// to x; what it leaves out has derivative 0. Callers: ops/nan.cpp, the Python package.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// x where the condition holds, elsewhere `otherwise` in x's dtype: the number that changes nothing in a join.
Tensor kept(const Operand& x, const Operand& condition, const Operand& otherwise);
/// The mean, and the mean of squared deviations over n - correction, of what is kept; NaN of nothing.
Tensor masked_mean(const Operand& x, const Axes& axes, const Operand& condition, bool keepdims = false);
Tensor masked_var(const Operand& x, const Axes& axes, const Operand& condition, double correction = 0,
                  bool keepdims = false);
/// The largest (smallest) of the elements and a first value, which is the result where there are no elements.
Tensor max_from(const Operand& x, const Axes& axes, const Operand& initial, bool keepdims = false);
Tensor min_from(const Operand& x, const Axes& axes, const Operand& initial, bool keepdims = false);

}  // namespace weft
