// The matrices on which linear algebra is shown and tested: what is drawn at random, made so that the result exists and is well
// conditioned. Callers: ops/linalg_*.cpp.
#pragma once

#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/factorization.h"

namespace weft::linalg::detail {

inline const std::vector<Domain> sample_domain{{-3, 3}};

/// x + 10 I, in a floating type; in NumPy's words: WEFT_REGULAR(n).
inline Tensor regular(const Tensor& x) { return x + 10 * eye(rows_of(x), columns_of(x)); }
#define WEFT_REGULAR(m, n) "(x0 + 10 * np.eye(" #m ", " #n ", dtype='float32'))"
/// Hermitian and positive definite: y y^H of y = regular(x).
inline Tensor positive(const Tensor& x) { return matmul(regular(x), adjoint(regular(x))); }
#define WEFT_POSITIVE(n) "(lambda y: y @ y.conj().swapaxes(-1, -2))" WEFT_REGULAR(n, n)

}  // namespace weft::linalg::detail
