#include "weft/ops/factorization.h"

#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {

int core_axes(Factorization kind, std::size_t input) {
    switch (kind) {
        case Factorization::lu_solve:
        case Factorization::det:
        case Factorization::slogdet:
            return input == 0 ? -1 : input == 1 ? 1 : 2;
        case Factorization::pinv:
            return input == 0 ? 2 : 0;
        default:
            return 2;
    }
}

int result_axes(Factorization kind) {
    switch (kind) {
        case Factorization::cholesky:
        case Factorization::lu_solve:
        case Factorization::triangular_solve:
        case Factorization::pinv:
        case Factorization::expm:
        case Factorization::expm_frechet:
            return 2;
        default:
            return 1;
    }
}

namespace linalg::detail {
namespace {

DType factorized(DType dtype, std::string_view operation, std::source_location where) {
    DType found = inexact(dtype);
    if (is_half(found))
        throw DTypeError(text(operation,
                              ": takes float32, float64, complex64 and complex128 (bool and integers as float32), not ",
                              dtype, "; convert with astype first", place(where)));
    return found;
}

}  // namespace

Tensor matrices(const Operand& x, std::string_view operation) {
    Tensor tensor = x.as_tensor();
    DType dtype = factorized(tensor.dtype(), operation, x.where);
    if (tensor.ndim() < 2)
        throw ShapeError(text(operation, ": takes matrices, the last two axes, but shape ", tensor.shape(), " has ",
                              tensor.ndim() == 1 ? "one axis" : "none", place(x.where)));
    if (!tensor.shape()[tensor.ndim() - 1].known() || !tensor.shape()[tensor.ndim() - 2].known())
        throw ShapeError(text(operation, ": the sizes of matrices must be known, but those of ", tensor.shape(),
                              " are not; only batches may have named sizes", place(x.where)));
    return tensor.astype(dtype, x.where);
}

Tensor square_matrices(const Operand& x, std::string_view operation) {
    Tensor tensor = matrices(x, operation);
    if (rows_of(tensor) != columns_of(tensor))
        throw ShapeError(text(operation, ": takes square matrices, but those of shape ", tensor.shape(), " have ",
                              rows_of(tensor), " rows and ", columns_of(tensor), " columns", place(x.where)));
    return tensor;
}

DType common_dtype(const Operand& a, const Operand& b, std::string_view operation) {
    return factorized(promote(a.as_tensor().dtype(), b.as_tensor().dtype()), operation, a.where);
}

std::int64_t rows_of(const Tensor& x) { return x.shape()[x.ndim() - 2].value(); }
std::int64_t columns_of(const Tensor& x) { return x.shape()[x.ndim() - 1].value(); }

Shape batch_of(const Tensor& x, std::size_t core) {
    Shape shape = x.shape();
    return Shape(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(core));
}

Tensor with_batch(const Tensor& x, const Shape& batch, std::size_t core) {
    Shape shape = batch;
    for (std::size_t i = x.ndim() - core; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    return shape == x.shape() ? x : broadcast_to(x, shape);
}

Shape common_batch(const Tensor& a, std::size_t core_a, const Tensor& b, std::size_t core_b, std::string_view operation,
                   std::source_location where) {
    Shape left = batch_of(a, core_a), right = batch_of(b, core_b);
    if (std::optional<Shape> batch = broadcast(left, right)) return *batch;
    throw ShapeError(text(operation, ": the batches ", left, " of ", a.shape(), " and ", right, " of ", b.shape(),
                          " do not broadcast", place(where)));
}

Tensor row_part(const Tensor& packed, std::int64_t start, std::int64_t count) {
    Shape from(packed.ndim(), 0), length = packed.shape();
    from[packed.ndim() - 1] = start, length[packed.ndim() - 1] = count;
    return slice(packed, from, length);
}

Tensor matrix_part(const Tensor& packed, std::int64_t start, std::int64_t rows, std::int64_t columns) {
    Shape shape = batch_of(packed, 1);
    shape.push_back(columns), shape.push_back(rows);
    return matrix_transpose(reshape(row_part(packed, start, rows * columns), shape));
}

Tensor packed(const Tensor& matrix) {
    Shape shape = batch_of(matrix, 2);
    shape.push_back(rows_of(matrix) * columns_of(matrix));
    return reshape(matrix_transpose(matrix), shape);
}

Tensor concatenated(std::initializer_list<Tensor> rows) { return concatenate(rows, -1); }

Tensor adjoint(const Tensor& x) {
    Tensor turned = matrix_transpose(x);
    return is_complex(x.dtype()) ? conj(turned) : turned;
}

Tensor symmetric(const Tensor& x) { return 0.5 * (x + adjoint(x)); }

Tensor diagonal_of(const Tensor& x) { return diagonal(x, 0, -2, -1); }

Tensor reciprocal_or_zero(const Tensor& x) { return where(x == 0, 0, 1 / where(x == 0, 1, x)); }

Tensor moved_side(const Tensor& x, const Tensor& da, const Tensor& db, bool transposed) {
    if (!da) return db;
    Tensor moved = matmul(transposed ? matrix_transpose(da) : da, x);
    return db ? db - moved : -moved;
}
Tensor matrix_cotangent(const Tensor& x, const Tensor& of_b, bool transposed) {
    return transposed ? -matmul(x, matrix_transpose(of_b)) : -matmul(of_b, matrix_transpose(x));
}

Tensor right_side(const Tensor& a, const Operand& b, DType dtype, std::string_view operation,
                  std::source_location where) {
    Tensor given = b.as_tensor();
    if (given.ndim() == 0)
        throw ShapeError(text(operation, ": b is 0-d; it must be a vector (1-d) or matrices", place(where)));
    Tensor side = given.astype(dtype, where);
    if (given.ndim() == 1) side = expand_dims(side, 1);
    if (!side.shape()[side.ndim() - 1].known() || !may_equal(side.shape()[side.ndim() - 2], columns_of(a)))
        throw ShapeError(text(operation, ": shapes ", a.shape(), " and ", given.shape(), " do not fit: ", rows_of(a),
                              " equations against ", side.shape()[side.ndim() - 2], " rows of b", place(where)));
    return side;
}

AttributesHandle of_kind(Factorization kind) { return attributes(FactorizationAttributes{.kind = kind}); }

Meta infer_first(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[0].shape(), inputs[0].dtype()};
}
Meta infer_solution(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs.back().shape(), inputs[0].dtype()};
}

const FactorizationAttributes& attributes_of(const Tensor& result) {
    return result.node()->attributes_as<FactorizationAttributes>();
}

}  // namespace linalg::detail

}  // namespace weft
