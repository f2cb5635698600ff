// Gauss's hypergeometric function: the one elementwise operation of four operands, which its derivative is known in the last of.
#include "weft/kernel/special.h"
#include "weft/ops/special.h"

namespace weft::special {
namespace {

Scalar value(std::span<const Scalar> x, const Attributes*) {
    return real(functions::hyp2f1_of_pairs(make_complex(x[0], x[1]), make_complex(x[2], x[3])));
}

/// d F(a, b; c; x) / dx = a b / c F(a + 1, b + 1; c + 1; x) (Abramowitz & Stegun 15.2.1).
Tensor tangent_of(const Tensor& result, std::span<const Tensor> tangents) {
    for (std::size_t i = 0; i < 3; ++i) {
        if (tangents[i])
            throw NotDifferentiable(
                "hyp2f1: its derivative in its parameters a, b, c is not known; hold these constant with "
                "stop_gradient");
    }
    Tensor x[4];
    for (std::size_t i = 0; i < 4; ++i) x[i] = astype(handle(result.node()->inputs[i]), result.dtype());
    return astype(tangents[3], result.dtype()) * (x[0] * x[1] / x[2] * hyp2f1(x[0] + 1, x[1] + 1, x[2] + 1, x[3]));
}

Operation record() {
    Operation operation;
    operation.name = "hyp2f1";
    operation.arity = 4;
    operation.doc = "Gauss's hypergeometric function 2F1(a, b; c; x), x up to 1; NaN beyond.";
    operation.numpy = "scipy.special.hyp2f1";
    operation.infer = infer_elementwise;
    operation.body = value;
    operation.jvp = tangent_of;
    operation.meet = inexact;
    operation.takes = real_number;
    operation.domain = {{0.2, 3}, {0.2, 3}, {1, 5}, {-0.9, 0.9}};
    operation.ulp = 16;
    return operation;
}

}  // namespace

extern const Operation hyp2f1_operation;
const Operation hyp2f1_operation = record();
WEFT_REGISTER(hyp2f1_operation);

Tensor hyp2f1(const Operand& a, const Operand& b, const Operand& c, const Operand& x) {
    return apply(hyp2f1_operation, {a, b, c, x});
}

}  // namespace weft::special
