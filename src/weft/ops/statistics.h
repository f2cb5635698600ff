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
struct SignedLog {
    Tensor log, sign;
};
/// log|sum(weights * exp(x))| and the sign of the sum.
SignedLog logsumexp(const Operand& x, const Axes& axes, const Operand& weights, bool keepdims = false);
Tensor softmax(const Operand& x, std::int64_t axis = -1);
Tensor log_softmax(const Operand& x, std::int64_t axis = -1);

/// The mean weighted by numbers of x's shape, or one an element of the axes; without weights the mean.
Tensor average(const Operand& x, const Axes& axes, const Tensor& weights = {}, bool keepdims = false);
/// The largest minus the smallest along axes.
Tensor ptp(const Operand& x, const Axes& axes, bool keepdims = false);

struct CovOptions {
    bool rows = true;           ///< a row is a variable, a column an observation; else the other way
    double correction = 1;      ///< taken from the number of observations
    Tensor frequencies = {};    ///< how often each observation came
    Tensor reliabilities = {};  ///< the weight of each observation
};
/// The covariances of variables: (variables, variables); of one alone its variance.
Tensor cov(const Operand& x, const CovOptions& options = {});
/// Covariances over the standard deviations: Pearson's correlation coefficients.
Tensor corrcoef(const Operand& x, bool rows = true);

}  // namespace weft
