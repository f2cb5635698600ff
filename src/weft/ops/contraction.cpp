#include "weft/ops/contraction.h"

#include <array>

#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// The node takes matrices of one dtype with equal batch axes (broadcasting is a view before it), so its rules are plain.
Meta infer_matmul(const Operation& operation, std::span<const Tensor> inputs, const Attributes*) {
    const Shape &a = inputs[0].shape(), &b = inputs[1].shape();
    if (!may_equal(a[a.size() - 1], b[b.size() - 2])) {
        throw ShapeError(text(operation.name, ": shapes ", a, " and ", b, " do not fit: ", a[a.size() - 1],
                              " columns against ", b[b.size() - 2],
                              " rows; the last size of the first must be the second to last of the second"));
    }
    Shape shape = a;
    shape[shape.size() - 1] = b[b.size() - 1];
    return {shape, inputs[0].dtype()};
}

Tensor transpose_matmul(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    Tensor a = handle(result.node()->inputs[0]), b = handle(result.node()->inputs[1]);
    return i == 0 ? product_like(*result.node(), cotangent, matrix_transpose(b))
                  : product_like(*result.node(), matrix_transpose(a), cotangent);
}

// One matrix for all examples: their rows stand one below the other, and it is one product; so do columns, one an example.
Tensor batch_matmul(const Tensor& result, const Batch& batch) {
    bool one_right = !batch.batched[1] && result.ndim() == 2;
    bool columns = !batch.batched[0] && result.ndim() == 2 && result.shape()[1] == Size(1);
    if (!one_right && !columns) return batch.like(result, batch.all());
    const Shape& of_one = result.node()->inputs[columns ? 1 : 0]->shape;
    Shape matrix = columns ? Shape{batch.size, of_one[0]} : Shape{batch.size * of_one[0], of_one[1]};
    Tensor rows = reshape(batch.inputs[columns ? 1 : 0], matrix);
    Tensor by = columns ? matrix_transpose(batch.inputs[0]) : batch.inputs[1];
    return reshape(product_like(*result.node(), rows, by), batch.shape(result.shape()));
}

Shape batch_of(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

Tensor with_batch(const Tensor& x, Shape batch) {
    batch.push_back(x.shape()[x.ndim() - 2]);
    batch.push_back(x.shape()[x.ndim() - 1]);
    return broadcast_to(x, batch);
}

}  // namespace

const Operation matmul_operation{
    .name = "matmul",
    .family = Family::contraction,
    .arity = 2,
    .doc = "The product of matrices, batches broadcast.",
    .numpy = "matmul",
    .torch = "matmul",
    .infer = infer_matmul,
    .transpose = transpose_matmul,
    .batch = batch_matmul,
    .samples = {{{{3, 4}, {4, 5}}, [](auto x) { return matmul(x[0], x[1]); }, "x0 @ x1"},
                {{{4}, {4}}, [](auto x) { return matmul(x[0], x[1]); }, "x0 @ x1"},
                {{{4}, {2, 4, 3}}, [](auto x) { return matmul(x[0], x[1]); }, "x0 @ x1"},
                {{{2, 1, 3, 4}, {5, 4, 2}}, [](auto x) { return matmul(x[0], x[1]); }, "x0 @ x1"},
                {{{3, 0}, {0, 2}}, [](auto x) { return matmul(x[0], x[1]); }, "x0 @ x1"},
                {{{17, 33}, {33, 70}}, [](auto x) { return matmul(x[0], x[1]); }, "x0 @ x1"}}};
WEFT_REGISTER(matmul_operation);

namespace {

Tensor taken(Operand&& operand) { return operand.tensor ? std::move(operand.tensor) : operand.as_tensor(); }

// `how`: ProductAttributes of products of float32; null: as the program that it is part of has them.
Tensor product(Operand&& left, Operand&& right, AttributesHandle how) {
    LineScope line(left.where);
    Tensor a = taken(std::move(left)), b = taken(std::move(right));
    if (a.ndim() == 0 || b.ndim() == 0) {
        throw ShapeError(text("matmul: shapes ", a.shape(), " and ", b.shape(),
                              " do not fit: a 0-d value has no rows and columns; multiply with *", place(left.where)));
    }
    bool row = a.ndim() == 1, column = b.ndim() == 1;
    if (!may_equal(a.shape()[a.ndim() - 1], b.shape()[column ? 0 : b.ndim() - 2])) {
        throw ShapeError(text("matmul: shapes ", a.shape(), " and ", b.shape(),
                              " do not fit: ", a.shape()[a.ndim() - 1], " columns against ",
                              b.shape()[column ? 0 : b.ndim() - 2], " rows; the last size of the first must be the ",
                              column ? "only one" : "second to last", " of the second", place(left.where)));
    }
    DType dtype = promote(a.dtype(), b.dtype());
    if (a.dtype() != dtype) a = a.astype(dtype, left.where);
    if (b.dtype() != dtype) b = b.astype(dtype, left.where);
    if (dtype != DType::float32) how = nullptr;
    if (a.ndim() == 2 && b.ndim() == 2) {  // which need nothing of what follows, and are small and many
        std::array<Tensor, 2> matrices{std::move(a), std::move(b)};
        return take_node(matmul_operation, matrices, std::move(how), left.where);
    }
    if (row) a = expand_dims(a, 0);
    if (column) b = expand_dims(b, 1);
    std::optional<Shape> batch = broadcast(batch_of(a.shape()), batch_of(b.shape()));
    if (!batch)
        throw ShapeError(text("matmul: the batches ", batch_of(a.shape()), " of ", a.shape(), " and ",
                              batch_of(b.shape()), " of ", b.shape(), " do not broadcast", place(left.where)));
    Tensor result = make_node(matmul_operation, {with_batch(a, *batch), with_batch(b, *batch)}, how, left.where);
    if (row) result = squeeze(result, {-2});
    if (column) result = squeeze(result, {-1});
    return result;
}

}  // namespace

Tensor matmul(Operand a, Operand b) { return product(std::move(a), std::move(b), nullptr); }
Tensor matmul(Operand a, Operand b, MatmulPrecision precision) {
    return product(std::move(a), std::move(b), attributes(ProductAttributes{precision}));
}
Tensor product_like(const Node& node, Operand a, Operand b) {
    return product(std::move(a), std::move(b), node.attributes);
}
MatmulPrecision precision_of(const Node& product) {
    return product.attributes ? product.attributes_as<ProductAttributes>().precision : MatmulPrecision::float32;
}

Tensor tensordot(const Operand& left, const Operand& right, const Axes& axes_a, const Axes& axes_b) {
    LineScope line(left.where);
    Tensor a = left.as_tensor(), b = right.as_tensor();
    if (axes_a.size() != axes_b.size())
        throw ValueError(text("tensordot: axes ", axes_a, " and ", axes_b, " differ in number", place(left.where)));
    Axes joined_a, joined_b, order_a, order_b;
    Size inner = 1;
    for (std::size_t i = 0; i < axes_a.size(); ++i) {
        joined_a.push_back(normalize_axis(axes_a[i], a.ndim(), "tensordot"));
        joined_b.push_back(normalize_axis(axes_b[i], b.ndim(), "tensordot"));
        Size na = a.shape()[static_cast<std::size_t>(joined_a[i])],
             nb = b.shape()[static_cast<std::size_t>(joined_b[i])];
        if (!may_equal(na, nb)) {
            throw ShapeError(text("tensordot: axis ", axes_a[i], " of ", a.shape(), " has size ", na, ", axis ",
                                  axes_b[i], " of ", b.shape(), " has ", nb, place(left.where)));
        }
        inner = inner * na;
    }
    Shape shape;
    auto rest = [&](const Tensor& x, const Axes& joined, Axes& order) {
        Size count = 1;
        for (std::size_t i = 0; i < x.ndim(); ++i) {
            if (std::find(joined.begin(), joined.end(), static_cast<std::int64_t>(i)) != joined.end()) continue;
            order.push_back(static_cast<std::int64_t>(i));
            shape.push_back(x.shape()[i]);
            count = count * x.shape()[i];
        }
        return count;
    };
    Size rows = rest(a, joined_a, order_a), columns = rest(b, joined_b, order_b);
    for (std::int64_t axis : joined_a) order_a.push_back(axis);
    Axes front = joined_b;
    for (std::int64_t axis : order_b) front.push_back(axis);
    return reshape(matmul(Operand(reshape(permute_dims(a, order_a), {rows, inner}), left.where),
                          reshape(permute_dims(b, front), {inner, columns})),
                   shape);
}

Tensor tensordot(const Operand& left, const Operand& right, std::int64_t axes) {
    LineScope line(left.where);
    std::int64_t ndim = static_cast<std::int64_t>(left.as_tensor().ndim());
    if (axes < 0 || axes > ndim)
        throw ValueError(text("tensordot: ", axes, " axes of a tensor that has ", ndim, place(left.where)));
    Axes a, b;
    for (std::int64_t i = 0; i < axes; ++i) a.push_back(ndim - axes + i), b.push_back(i);
    return tensordot(left, right, a, b);
}

Tensor vecdot(const Operand& a, const Operand& b) { return sum(a * b, -1); }
Tensor outer(const Operand& a, const Operand& b) { return expand_dims(ravel(a), 1) * expand_dims(ravel(b), 0); }

}  // namespace weft
