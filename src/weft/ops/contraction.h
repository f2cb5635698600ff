// Products of matrices and what is made of them. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"
#include "weft/ops/matmul_precision.h"

namespace weft {

/// NumPy's matmul: the last two axes are matrices, the others are batches and broadcast; a 1-d operand is a row (column) that
/// leaves no axis. ShapeError names both shapes when the inner sizes differ.
Tensor matmul(Operand a, Operand b);
/// The same of float32, in the derivatives too, by numbers of `precision`; other types take no notice.
/// bfloat16: about twice as fast where the processor multiplies pairs of bfloat16 (AVX512_BF16), three times and more where tiles of them (AMX). Each
/// operand is off by up to 2^-9 of itself, so an element of the product by up to 2^-8 of the sum of |a| |b| along it, and by some 2^-9 of the root
/// of the sum of (a b)^2 where roundings are as chance has them.
/// bfloat16x6, bfloat16x3: by AMX; elsewhere as float32. Of x6 a product's error is, on the average, less than that of float32; of x3 up to 2^-15 of the sum of
/// |a| |b|, some 2^-17 of the root of the sum of (a b)^2. What is below 2^-126 counts as 0, of an operand's parts as well: numbers below some 2^-110
/// have fewer digits. Infinities and NaN come out as of float32, after more time.
/// float32: this product is made in float32 whatever its program asks for (CompileOptions).
Tensor matmul(Operand a, Operand b, MatmulPrecision precision);
/// NumPy's tensordot: sums over axes_a[i] of a against axes_b[i] of b.
Tensor tensordot(const Operand& a, const Operand& b, const Axes& axes_a, const Axes& axes_b);
Tensor tensordot(const Operand& a, const Operand& b, std::int64_t axes = 2);
/// The sum of products over the last axis.
Tensor vecdot(const Operand& a, const Operand& b);
Tensor outer(const Operand& a, const Operand& b);

/// Of products with a precision of their own; others have none.
struct ProductAttributes {
    MatmulPrecision::Value precision = MatmulPrecision::bfloat16;
    template <class V>
    void members(V& visit) {
        visit("precision", precision);
    }
};
MatmulPrecision precision_of(const Node& product);

/// a @ b, made as the product that `node` is.
Tensor product_like(const Node& node, Operand a, Operand b);

extern const Operation matmul_operation;

}  // namespace weft
