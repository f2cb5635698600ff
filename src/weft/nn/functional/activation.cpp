#include "weft/nn/functional/activation.h"

#include "weft/nn/functional/common.h"
#include "weft/ops/creation.h"
#include "weft/ops/linalg.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft::nn::functional {
namespace {

// The axis of a softmax, counted from the front; a single number is taken for a row of one.
template <class F>
Tensor along(std::string_view name, const Operand& x, std::optional<std::int64_t> axis, std::optional<DType> dtype,
             F f) {
    LineScope line(x.where);
    Tensor tensor = dtype ? astype(x, *dtype) : floating(x);
    std::size_t ndim = tensor.ndim();
    std::int64_t chosen = axis.value_or(ndim == 0 || ndim == 1 || ndim == 3 ? 0 : 1);
    if (ndim > 0) {
        chosen = normalize_axis(chosen, ndim, name);
        return element_count(tensor.shape()) == Size(0) ? tensor : f(tensor, chosen);
    }
    (void)normalize_axis(chosen, 1, name);
    return reshape(f(reshape(tensor, {1}), 0), {});
}

}  // namespace

Tensor elu(const Operand& x, double alpha) {
    LineScope line(x.where);
    return weft::elu(floating(x), alpha);
}

Tensor celu(const Operand& x, double alpha) {
    LineScope line(x.where);
    if (alpha == 0) refuse(x, "celu: alpha is 0, and what is divided by it is not defined; take another");
    Tensor tensor = floating(x), below = where(tensor > 0, 0, tensor);
    return where(tensor > 0, tensor, alpha * expm1(below / alpha));
}

Tensor leaky_relu(const Operand& x, double negative_slope) {
    LineScope line(x.where);
    return weft::leaky_relu(floating(x), negative_slope);
}

Tensor prelu(const Operand& x, const Tensor& weight) {
    LineScope line(x.where);
    Tensor tensor = floating(x);
    Size count = element_count(weight.shape());
    if (weight.ndim() > 1)
        refuse_shape(x, text("prelu: the weight has shape ", weight.shape(), "; it is one number, or one a channel"));
    if (count == Size(1)) return weft::leaky_relu(tensor, reshape(weight, {}));
    Size channels = tensor.ndim() > 1 ? tensor.shape()[1] : Size(1);
    if (!may_equal(count, channels))
        refuse_shape(
            x, text("prelu: ", count, " weights for ", channels, " channels (axis 1 of shape ", tensor.shape(), ")"));
    return weft::leaky_relu(tensor, along_channels(weight, tensor.ndim()));
}

Tensor rrelu(const Operand& x, double lower, double upper, bool training, const Tensor& key) {
    LineScope line(x.where);
    if (!(lower <= upper)) refuse(x, text("rrelu: lower, ", lower, ", is above upper, ", upper));
    Tensor tensor = floating(x);
    if (!training) return weft::leaky_relu(tensor, (lower + upper) / 2);
    return weft::leaky_relu(tensor, random::uniform(tensor.shape(), lower, upper, key, tensor.dtype()));
}

Tensor glu(const Operand& x, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = floating(x);
    if (tensor.ndim() == 0) refuse_shape(x, "glu: a number without axes has no halves");
    std::size_t along = at(normalize_axis(axis, tensor.ndim(), "glu"));
    Size size = tensor.shape()[along];
    if (size.known() && size.value() % 2 != 0)
        refuse_shape(x, text("glu: axis ", axis, " of the shape ", tensor.shape(), " has ", size,
                             " elements, which are not two halves"));
    Shape start(tensor.ndim(), Size(0)), length = tensor.shape();
    length[along] = size / 2;
    Tensor first = slice(tensor, start, length);
    start[along] = size / 2;
    return first * sigmoid(slice(tensor, start, length));
}

Tensor gelu(const Operand& x, std::string_view approximate) {
    LineScope line(x.where);
    if (approximate == "none") return weft::gelu(floating(x));
    if (approximate == "tanh") return gelu_tanh(floating(x));
    refuse(x, text("gelu: approximate is 'none' or 'tanh', not '", approximate, "'"));
}

Tensor hardshrink(const Operand& x, double lambd) {
    LineScope line(x.where);
    Tensor tensor = floating(x);
    return where((tensor >= -lambd) & (tensor <= lambd), 0, tensor);
}

Tensor softshrink(const Operand& x, double lambd) {
    LineScope line(x.where);
    if (!(lambd >= 0)) refuse(x, text("softshrink: lambd is ", lambd, "; it must be at least 0"));
    Tensor tensor = floating(x);
    return where(tensor > lambd, tensor - lambd, where(tensor < -lambd, tensor + lambd, tensor * 0));
}

Tensor softplus(const Operand& x, double beta, double threshold) {
    LineScope line(x.where);
    Tensor tensor = floating(x), scaled = beta == 1 ? tensor : tensor * beta, value = weft::softplus(scaled);
    return where(scaled > threshold, tensor, beta == 1 ? value : value / beta);
}

Tensor hardtanh(const Operand& x, double min_val, double max_val) {
    LineScope line(x.where);
    if (min_val > max_val) refuse(x, text("hardtanh: min_val, ", min_val, ", is above max_val, ", max_val));
    Tensor tensor = floating(x);
    return where(tensor <= min_val, min_val, where(tensor >= max_val, max_val, tensor));
}

Tensor threshold(const Operand& x, double threshold, double value) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    return where(tensor <= threshold, constant(value, tensor.dtype()), tensor);
}

Tensor softmax(const Operand& x, std::optional<std::int64_t> axis, std::optional<DType> dtype) {
    return along("softmax", x, axis, dtype,
                 [](const Tensor& t, std::int64_t along) { return weft::softmax(t, along); });
}

Tensor softmin(const Operand& x, std::optional<std::int64_t> axis, std::optional<DType> dtype) {
    return along("softmin", x, axis, dtype,
                 [](const Tensor& t, std::int64_t along) { return weft::softmax(-t, along); });
}

Tensor log_softmax(const Operand& x, std::optional<std::int64_t> axis, std::optional<DType> dtype) {
    return along("log_softmax", x, axis, dtype,
                 [](const Tensor& t, std::int64_t along) { return weft::log_softmax(t, along); });
}

Tensor gumbel_softmax(const Operand& logits, double tau, bool hard, std::int64_t axis, const Tensor& key) {
    LineScope line(logits.where);
    Tensor x = floating(logits);
    Tensor soft = softmax((x + random::gumbel(x.shape(), key, x.dtype())) / tau, axis);
    if (!hard) return soft;
    std::int64_t along = normalize_axis(axis, std::max<std::size_t>(x.ndim(), 1), "gumbel_softmax");
    if (x.ndim() == 0) return ones_like(x) + (soft - stop_gradient(soft));
    Size count = x.shape()[at(along)];
    Tensor one = moveaxis(one_hot(argmax(soft, along), count, x.dtype()), -1, along);
    return one + (soft - stop_gradient(soft));
}

Tensor normalize(const Operand& x, double p, const Axes& axes, double eps) {
    LineScope line(x.where);
    Tensor tensor = floating(x);
    if (tensor.ndim() == 0) return reshape(normalize(reshape(tensor, {1}), p, axes, eps), {});
    Tensor norm = linalg::vector_norm(tensor, axes, true, p);
    return tensor / where(norm < eps, eps, norm);
}

}  // namespace weft::nn::functional
