// Products of matrices and what is made of them. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// NumPy's matmul: the last two axes are matrices, the others are batches and broadcast; a 1-d operand is a row (column) that
/// leaves no axis. ShapeError names both shapes when the inner sizes differ.
Tensor matmul(const Operand& a, const Operand& b);
/// NumPy's tensordot: sums over axes_a[i] of a against axes_b[i] of b.
Tensor tensordot(const Operand& a, const Operand& b, const Axes& axes_a, const Axes& axes_b);
Tensor tensordot(const Operand& a, const Operand& b, std::int64_t axes = 2);
/// The sum of products over the last axis.
Tensor vecdot(const Operand& a, const Operand& b);
Tensor outer(const Operand& a, const Operand& b);

extern const Operation matmul_operation;

}  // namespace weft
