// Quantiles: numbers below which a share of the elements lies. Callers: users.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Between which elements a quantile lies and how it is taken from them: the nine definitions of Hyndman & Fan, "Sample quantiles in
/// statistical packages" (The American Statistician 50, 1996), and NumPy's four others (lower ... midpoint: of the linear place).
enum class QuantileMethod : std::uint8_t {
    inverted_cdf,
    averaged_inverted_cdf,
    closest_observation,
    interpolated_inverted_cdf,
    hazen,
    weibull,
    linear,
    median_unbiased,
    normal_unbiased,
    lower,
    higher,
    midpoint,
    nearest
};
QuantileMethod quantile_method_named(std::string_view name);  ///< NumPy's name; ValueError names those that are known

struct QuantileOptions {
    QuantileMethod method = QuantileMethod::linear;
    bool keepdims = false;
    bool ignore_nan = false;  ///< NaN is left out; else a NaN makes the quantile NaN
};
/// The q-quantiles of x along axes, q in [0, 1] of any shape: of q's shape followed by the axes of x that stay. Real; differentiable
/// with respect to x, and to q where the method interpolates. Of no elements NaN.
Tensor quantile(const Operand& x, const Operand& q, const Axes& axes, const QuantileOptions& options = {});
/// quantile(x, q / 100)
Tensor percentile(const Operand& x, const Operand& q, const Axes& axes, const QuantileOptions& options = {});
/// The middle: half of the elements lie on each side; between two middle ones their mean.
Tensor median(const Operand& x, const Axes& axes, bool keepdims = false);
Tensor nanmedian(const Operand& x, const Axes& axes, bool keepdims = false);

}  // namespace weft
