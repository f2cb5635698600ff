// Reductions that leave NaN out, by NumPy's names. Of types that have no NaN they are the plain reductions.
// Callers: users.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Sums, products: a NaN counts as 0, as 1.
Tensor nansum(const Operand& x, const Axes& axes, bool keepdims = false);
Tensor nanprod(const Operand& x, const Axes& axes, bool keepdims = false);
/// Extremes of what is not NaN; NaN where nothing else is.
Tensor nanmax(const Operand& x, const Axes& axes, bool keepdims = false);
Tensor nanmin(const Operand& x, const Axes& axes, bool keepdims = false);
/// Positions of these, int64. ValueError where nothing but NaN is, as far as the numbers are there (in a traced function: 0).
Tensor nanargmax(const Operand& x, const Axes& axes, bool keepdims = false);
Tensor nanargmin(const Operand& x, const Axes& axes, bool keepdims = false);
/// The mean, and the mean of squared deviations over n - correction, of what is not NaN; NaN of nothing.
Tensor nanmean(const Operand& x, const Axes& axes, bool keepdims = false);
Tensor nanvar(const Operand& x, const Axes& axes, double correction = 0, bool keepdims = false);
Tensor nanstd(const Operand& x, const Axes& axes, double correction = 0, bool keepdims = false);
/// Running sums and products: a NaN counts as 0, as 1.
Tensor nancumsum(const Operand& x, std::int64_t axis);
Tensor nancumprod(const Operand& x, std::int64_t axis);

struct NanToNum {
    double nan = 0;
    std::optional<double> posinf = {},
                          neginf = {};  ///< the largest and the lowest finite number of the type where not said
};
/// x with its NaNs and infinities replaced by numbers; of a complex number each part.
Tensor nan_to_num(const Operand& x, const NanToNum& replacements = {});

}  // namespace weft
