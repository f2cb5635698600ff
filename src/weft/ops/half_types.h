// What is computed of half types in float32 and rounded once: sums of many numbers, how many they are and their squares leave a half type's
// range soon. PyTorch does so too. Callers: ops/statistics.cpp, ops/covariance.cpp, ops/masked.cpp, ops/nan.cpp, nn/functional/normalization.cpp.
#pragma once

#include "weft/ops/elementwise.h"

namespace weft {

inline bool is_narrow(const Operand& x) { return is_half(x.as_tensor().dtype()); }
inline Operand widened(const Operand& x) { return Operand(x.as_tensor().astype(DType::float32, x.where), x.where); }
inline Tensor narrowed(const Tensor& y, const Operand& x) { return y.astype(x.as_tensor().dtype(), x.where); }

}  // namespace weft
