// Products of vectors and matrices by NumPy's names, over contraction.h's. Callers: users.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Of vectors their inner product, of matrices their product; of more axes the sum over a's last and b's last but one; by a number: each.
Tensor dot(const Operand& a, const Operand& b);
/// The sum of products over the last axes of both.
Tensor inner(const Operand& a, const Operand& b);
/// sum(conj(a) * b) over all elements.
Tensor vdot(const Operand& a, const Operand& b);
/// Matrices (..., m, n) times vectors (..., n); vectors, conjugated, times matrices (..., n, m).
Tensor matvec(const Operand& a, const Operand& b);
Tensor vecmat(const Operand& a, const Operand& b);

}  // namespace weft
