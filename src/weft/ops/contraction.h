// Products of matrices and what is made of them. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// NumPy's matmul: the last two axes are matrices, the others are batches and broadcast; a 1-d operand is a row (column) that
/// leaves no axis. ShapeError names both shapes when the inner sizes differ.
Tensor matmul(Operand a, Operand b);
/// The same; `precision` bfloat16: operands of float32 are rounded to bfloat16 (8 significant bits), their products summed in float32, in the
/// derivatives too. About twice as fast where the processor multiplies pairs of bfloat16 (AVX512_BF16). Each operand is off by up to 2^-9 of
/// itself, so an element of the product by up to 2^-8 of the sum of |a| |b| along it, and by some 2^-9 of the root of the sum of (a b)^2 where
/// roundings are as chance has them. float32: this product is made in float32 whatever its program asks for (CompileOptions). Other types take no
/// notice. ValueError for a precision that is neither float32 nor bfloat16.
Tensor matmul(Operand a, Operand b, DType precision);
void check_matmul_precision(std::string_view of, DType precision);
/// NumPy's tensordot: sums over axes_a[i] of a against axes_b[i] of b.
Tensor tensordot(const Operand& a, const Operand& b, const Axes& axes_a, const Axes& axes_b);
Tensor tensordot(const Operand& a, const Operand& b, std::int64_t axes = 2);
/// The sum of products over the last axis.
Tensor vecdot(const Operand& a, const Operand& b);
Tensor outer(const Operand& a, const Operand& b);

/// Of products with a precision of their own; others have none.
struct ProductAttributes {
    DType precision = DType::bfloat16;
    template <class V>
    void members(V& visit) {
        visit("precision", precision);
    }
};
DType precision_of(const Node& product);

/// a @ b, made as the product that `node` is.
Tensor product_like(const Node& node, Operand a, Operand b);

extern const Operation matmul_operation;

}  // namespace weft
