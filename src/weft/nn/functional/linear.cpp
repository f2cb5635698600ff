#include "weft/nn/functional/linear.h"

#include <algorithm>

#include "weft/nn/functional/common.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/einsum.h"
#include "weft/ops/gather.h"
#include "weft/ops/linalg.h"
#include "weft/ops/reduce.h"

namespace weft::nn::functional {

Tensor linear(const Operand& x, const Operand& weight, const Tensor& bias) {
    LineScope line(x.where);
    Tensor input = x.as_tensor(), w = weight.as_tensor();
    if (w.ndim() < 1 || w.ndim() > 2 || input.ndim() == 0 || !may_equal(input.shape().back(), w.shape().back()))
        refuse_shape(x, text("linear: the input has shape ", input.shape(), ", the weight ", w.shape(),
                             "; the last sizes must agree, (..., in) and (out, in)"));
    Tensor y = w.ndim() == 2 ? matmul(input, matrix_transpose(w)) : matmul(input, w);
    if (!bias) return y;
    if (!broadcasts_to(bias.shape(), y.shape()))
        refuse_shape(x, text("linear: the bias has shape ", bias.shape(), ", the result ", y.shape()));
    return y + bias;
}

Tensor bilinear(const Operand& a, const Operand& b, const Operand& weight, const Tensor& bias) {
    LineScope line(a.where);
    Tensor x = a.as_tensor(), y = b.as_tensor(), w = weight.as_tensor();
    bool fits = w.ndim() == 3 && x.ndim() > 0 && x.ndim() == y.ndim() && may_equal(x.shape().back(), w.shape()[1]) &&
                may_equal(y.shape().back(), w.shape()[2]);
    for (std::size_t axis = 0; fits && axis + 1 < x.ndim(); ++axis) fits = may_equal(x.shape()[axis], y.shape()[axis]);
    if (!fits)
        refuse_shape(a, text("bilinear: inputs of shapes ", x.shape(), " and ", y.shape(), " and a weight of shape ",
                             w.shape(), "; they must be (..., in1), (..., in2) and (out, in1, in2)"));
    Tensor result = einsum("...i,oij,...j->...o", {x, w, y}, a.where);
    return bias ? result + bias : result;
}

Tensor one_hot(const Operand& labels, std::int64_t num_classes) {
    LineScope line(labels.where);
    Tensor tensor = labels.as_tensor();
    if (!is_integer(tensor.dtype()))
        throw DTypeError(
            text("one_hot: the labels are ", tensor.dtype(), "; class numbers must be integers", place(labels.where)));
    if (num_classes < -1 || num_classes == 0)
        refuse(labels,
               text("one_hot: num_classes is ", num_classes, "; it must be above 0, or -1: the largest label + 1"));
    if (tensor.node()->symbolic) {
        if (num_classes == -1)
            refuse(labels, "one_hot: the labels are not known while a function is traced; say num_classes");
        return weft::one_hot(tensor, num_classes, DType::int64);
    }
    std::vector<std::int64_t> values = astype(tensor, DType::int64).to_vector<std::int64_t>();
    if (values.empty() && num_classes == -1) refuse(labels, "one_hot: without labels num_classes must be said");
    for (std::int64_t value : values) {
        if (value < 0 || (num_classes > 0 && value >= num_classes))
            refuse(labels, text("one_hot: the label ", value, " is not one of ",
                                num_classes > 0 ? text(num_classes, " classes") : "the classes, which begin at 0"));
    }
    if (num_classes == -1) num_classes = *std::max_element(values.begin(), values.end()) + 1;
    return weft::one_hot(tensor, num_classes, DType::int64);
}

Tensor cosine_similarity(const Operand& a, const Operand& b, std::int64_t axis, double eps) {
    LineScope line(a.where);
    Tensor x = floating(a), y = floating(b);
    std::optional<Shape> shape = broadcast(x.shape(), y.shape());
    if (!shape) refuse_shape(a, text("cosine_similarity: shapes ", x.shape(), " and ", y.shape(), " do not broadcast"));
    if (shape->empty()) shape = Shape{1};  // a number is a vector of one
    x = broadcast_to(x, *shape), y = broadcast_to(y, *shape);
    axis = normalize_axis(axis, shape->size(), "cosine_similarity");
    auto norm = [&](const Tensor& t) {
        Tensor size = linalg::vector_norm(t, Axes{axis}, false, 2);
        return where(size < eps, eps, size);
    };
    return sum(x * y, axis) / (norm(x) * norm(y));
}

Tensor pairwise_distance(const Operand& a, const Operand& b, double p, double eps, bool keepdims) {
    LineScope line(a.where);
    Tensor x = floating(a), y = floating(b);
    if (!broadcast(x.shape(), y.shape()))
        refuse_shape(a, text("pairwise_distance: shapes ", x.shape(), " and ", y.shape(), " do not broadcast"));
    Tensor difference = x - y + eps;
    if (difference.ndim() == 0) refuse_shape(a, "pairwise_distance: numbers without axes have no last axis");
    return linalg::vector_norm(difference, Axes{-1}, keepdims, p);
}

Tensor pdist(const Operand& x, double p) {
    LineScope line(x.where);
    Tensor tensor = floating(x);
    if (tensor.ndim() != 2)
        refuse_shape(x, text("pdist: the input has shape ", tensor.shape(), ", but must be (rows, features)"));
    if (!(p >= 0)) refuse(x, text("pdist: p is ", p, "; it must be at least 0"));
    std::int64_t rows = known_size("pdist", tensor, 0);
    // Of all pairs, in order and not: rows beside rows pass by in step, where those of chosen pairs would be looked up one by one.
    Tensor difference = expand_dims(tensor, 1) - expand_dims(tensor, 0);
    Tensor itself = expand_dims(equal(arange(rows), expand_dims(arange(rows), 1)), 2);
    difference = where(itself, 0, difference);  // of an infinity it would be NaN, and in the derivative reach others
    Tensor all = flatten(linalg::vector_norm(difference, Axes{-1}, false, p));
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = i + 1; j < rows; ++j) places.push_back(i * rows + j);
    auto count = static_cast<std::int64_t>(places.size());
    return take(all, Tensor::of(places, {count}), 0);
}

}  // namespace weft::nn::functional
