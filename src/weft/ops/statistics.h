// Functions of whole axes made of other operations: they have no derivative of their own. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Without axes: over all. Integers are averaged as float32. `correction`: the variance divides by n - correction.
Tensor mean(const Operand& x);
Tensor mean(const Operand& x, const Axes& axes, bool keepdims = false);
inline Tensor mean(const Operand& x, std::int64_t axis, bool keepdims = false) { return mean(x, Axes{axis}, keepdims); }
Tensor var(const Operand& x);
Tensor var(const Operand& x, const Axes& axes, double correction = 0, bool keepdims = false);
/// (`std`: the name is taken in C++.) The square root of the variance.
Tensor standard_deviation(const Operand& x, const Axes& axes, double correction = 0, bool keepdims = false);
/// log(sum(exp(x))) without overflow.
Tensor logsumexp(const Operand& x, const Axes& axes, bool keepdims = false);
inline Tensor logsumexp(const Operand& x, std::int64_t axis, bool keepdims = false) {
    return logsumexp(x, Axes{axis}, keepdims);
}
Tensor softmax(const Operand& x, std::int64_t axis = -1);
Tensor log_softmax(const Operand& x, std::int64_t axis = -1);

}  // namespace weft
