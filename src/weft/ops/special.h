// Special functions under SciPy's names, as operations: the records of special.inc. They lie in a namespace, for many of their names
// are usual words (beta, gamma, zeta). Beside them: what joins several elements, or has parameters that are no arrays.
#pragma once

#include "weft/ops/elementwise.h"

namespace weft::special {

// Declarations here, definitions wherever elementwise.h's macros are used again.
#pragma push_macro("WEFT_UNARY")
#pragma push_macro("WEFT_BINARY")
#pragma push_macro("WEFT_TERNARY")
#undef WEFT_UNARY
#undef WEFT_BINARY
#undef WEFT_TERNARY
#define WEFT_UNARY(name, ...)                \
    extern const Operation name##_operation; \
    Tensor name(const Operand& x);
#define WEFT_BINARY(name, ...)               \
    extern const Operation name##_operation; \
    Tensor name(const Operand& a, const Operand& b);
#define WEFT_TERNARY(name, ...)              \
    extern const Operation name##_operation; \
    Tensor name(const Operand& a, const Operand& b, const Operand& c);
#include "weft/ops/special.inc"
#pragma pop_macro("WEFT_UNARY")
#pragma pop_macro("WEFT_BINARY")
#pragma pop_macro("WEFT_TERNARY")

// Those that arrays have anywhere else too, here under SciPy's names.
using weft::digamma;
using weft::erf;
using weft::erfc;
using weft::erfinv;
using weft::xlogy;
inline Tensor gammaln(const Operand& x) { return lgamma(x); }
inline Tensor psi(const Operand& x) { return digamma(x); }
inline Tensor expit(const Operand& x) { return sigmoid(x); }
inline Tensor log_expit(const Operand& x) { return log_sigmoid(x); }

/// Gauss's hypergeometric function 2F1(a, b; c; x), x up to 1. Its derivative is known in x alone.
Tensor hyp2f1(const Operand& a, const Operand& b, const Operand& c, const Operand& x);

/// The logarithm of the multivariate gamma function of dimension d: log(pi) d (d - 1) / 4 + the sum of lgamma(a - j / 2), j < d.
/// Of a's shape. d below 1: ValueError.
Tensor multigammaln(const Operand& a, std::int64_t d);

}  // namespace weft::special
