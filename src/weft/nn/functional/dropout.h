// Dropout (Srivastava et al., 2014) with PyTorch's names, arguments and defaults: each draw takes a key, or the next one of the global
// generator. Without `training` and for p = 0 the input itself. ValueError for p outside [0, 1]. Callers: users, nn/, the Python package.
#pragma once

#include "weft/graph/tensor.h"

namespace weft::nn::functional {

/// Each element is 0 with probability p, else divided by 1 - p.
Tensor dropout(const Operand& x, double p = 0.5, bool training = true, const Tensor& key = {});
/// Whole channels. x: (N, C, spatial...) with `spatial` axes, or without N (C, spatial...): of 1 and 3 spatial axes. dropout2d takes three
/// axes for (N, C, L), as PyTorch does.
Tensor dropout1d(const Operand& x, double p = 0.5, bool training = true, const Tensor& key = {});
Tensor dropout2d(const Operand& x, double p = 0.5, bool training = true, const Tensor& key = {});
Tensor dropout3d(const Operand& x, double p = 0.5, bool training = true, const Tensor& key = {});
/// Elements (channels) take selu's lower limit with probability p, and the result is scaled so that mean and variance stay
/// (Klambauer et al., 2017).
Tensor alpha_dropout(const Operand& x, double p = 0.5, bool training = false, const Tensor& key = {});
Tensor feature_alpha_dropout(const Operand& x, double p = 0.5, bool training = false, const Tensor& key = {});

}  // namespace weft::nn::functional
