// Polynomials by their coefficients, the highest power first (NumPy's np.poly* functions). Callers: users.
#pragma once

#include <utility>

#include "weft/graph/operation.h"

namespace weft {

/// p[0] x**(n-1) + ... + p[n-1] at every element of x, by Horner's rule.
Tensor polyval(const Operand& p, const Operand& x);
Tensor polyadd(const Operand& a, const Operand& b);
Tensor polysub(const Operand& a, const Operand& b);
Tensor polymul(const Operand& a, const Operand& b);  ///< leading zeros stay
/// (quotient, remainder); the remainder has the divisor's size minus one (its leading zeros stay).
std::pair<Tensor, Tensor> polydiv(const Operand& a, const Operand& b);
/// The m-th derivative, and the m-th integral, whose constants are k (one, or one an integral).
Tensor polyder(const Operand& p, std::int64_t m = 1);
Tensor polyint(const Operand& p, std::int64_t m = 1, const std::vector<double>& k = {});
/// Of the polynomial of degree `degree` that is closest to the points (x, y) in the sum of (weighted) squares: y is (N) or (N, K).
Tensor polyfit(const Operand& x, const Operand& y, std::int64_t degree, const Tensor& weights = {});
/// The polynomial with these roots, the first coefficient 1.
Tensor poly(const Operand& roots);
/// Its complex zeros: the eigenvalues of the companion matrix. Computes p (leading and trailing zeros make it shorter): not in traced functions.
Tensor roots(const Operand& p);
/// Powers of a vector as columns, the highest first (increasing: last): of n columns, as many as elements where not said.
Tensor vander(const Operand& x, std::optional<std::int64_t> columns = {}, bool increasing = false);

}  // namespace weft
