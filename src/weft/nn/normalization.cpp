#include "weft/nn/normalization.h"

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/functional/normalization.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/nn/training.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

// A number for each channel, along axis 1 of a value with `ndim` axes.
Tensor along_channels(const Tensor& values, std::size_t ndim) {
    Shape shape(ndim, Size(1));
    shape[1] = values.shape()[0];
    return reshape(values, shape);
}

Tensor affine(Tensor y, const std::optional<Parameter>& weight, const std::optional<Parameter>& bias,
              std::size_t ndim) {
    if (weight) y = y * along_channels(*weight, ndim);
    if (bias) y = y + along_channels(*bias, ndim);
    return y;
}

struct Moments {
    Tensor centred, mean, variance;  // mean and variance keep their axes
};
Moments moments(const Operand& x, const Axes& axes) {
    Moments m;
    m.mean = mean(x, axes, true);
    m.centred = x - m.mean;
    m.variance = mean(square(m.centred), axes, true);
    return m;
}

}  // namespace

BatchNorm::BatchNorm(std::size_t spatial, std::int64_t num_features, BatchNormOptions options)
    : spatial_(spatial), num_features_(num_features), options_(options) {
    check_positive(name(), "num_features", num_features);
    if (options.affine) {
        weight = Parameter(init::ones({num_features}, options.dtype));
        bias = Parameter(init::zeros({num_features}, options.dtype));
    }
    if (!options.track_running_stats) return;
    running_mean = Parameter(init::zeros({num_features}, options.dtype), "", false);
    running_var = Parameter(init::ones({num_features}, options.dtype), "", false);
    num_batches_tracked = Parameter(Tensor(Array::scalar(std::int64_t{0})), "", false);
}

std::string_view BatchNorm::name() const {
    constexpr std::string_view names[] = {"BatchNorm1d", "BatchNorm2d", "BatchNorm3d"};
    return names[spatial_ - 1];
}

Tensor BatchNorm::operator()(const Operand& operand) const {
    LineScope line(operand.where);
    ModuleScope scope(weight ? layer_name(*weight, name()) : running_mean ? layer_name(*running_mean, name()) : name());
    if (spatial_ == 1)
        check_ndim(name(), operand, {"(N, C)", "(N, C, L)"});
    else if (spatial_ == 2)
        check_ndim(name(), operand, {"(N, C, H, W)"});
    else
        check_ndim(name(), operand, {"(N, C, D, H, W)"});
    check_axis(name(), operand, 2, 1, num_features_, "channels");
    Operand x(operand.as_tensor(), operand.where);
    std::size_t ndim = x.tensor.ndim();
    if (!training() && running_mean) {
        auto value = [](const std::optional<Parameter>& parameter) {
            return parameter ? parameter->value() : Tensor();
        };
        return functional::batch_norm(x, value(running_mean), value(running_var), value(weight), value(bias), false, 0,
                                      options_.eps)
            .value;
    }
    Axes axes = {0};
    for (std::size_t axis = 2; axis < ndim; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    Size count = 1;
    for (std::int64_t axis : axes) count = count * x.tensor.shape()[static_cast<std::size_t>(axis)];
    if (training() && count == Size(1)) {
        throw ShapeError(text(name(), ": the input has shape ", x.tensor.shape(),
                              ", one number a channel, whose variance says nothing; train with more", place(x.where)));
    }
    Moments m = moments(x, axes);
    if (training() && running_mean) track(m.mean, m.variance, count);
    return affine(m.centred * rsqrt(m.variance + options_.eps), weight, bias, ndim);
}

void BatchNorm::track(const Tensor& mean, const Tensor& variance, Size count) const {
    Parameter means = *running_mean, variances = *running_var, batches = *num_batches_tracked;
    Tensor number = batches.value() + 1;
    batches.set(number);
    DType dtype = options_.dtype;
    Tensor n = size_as_tensor(count, dtype), unbiased = variance * (n / (n - 1));
    Tensor weight = options_.momentum ? constant(*options_.momentum, dtype) : 1 / astype(number, dtype);
    auto move = [&](Parameter& cell, const Tensor& now) {
        Tensor before = cell.value();
        cell.set(before + weight * (astype(reshape(stop_gradient(now), {num_features_}), dtype) - before));
    };
    move(means, mean);
    move(variances, unbiased);
}

LayerNorm::LayerNorm(const Dims& normalized_shape, LayerNormOptions options)
    : shape_(normalized_shape), eps_(options.eps) {
    if (shape_.empty()) throw ShapeError("LayerNorm: normalized_shape is (), but must have at least one axis");
    for (std::int64_t size : shape_) check_positive("LayerNorm", "a size of normalized_shape", size);
    if (!options.elementwise_affine) return;
    weight = Parameter(init::ones(shape_, options.dtype));
    if (options.bias) bias = Parameter(init::zeros(shape_, options.dtype));
}

Tensor LayerNorm::operator()(const Operand& operand) const {
    LineScope line(operand.where);
    ModuleScope scope(weight ? layer_name(*weight, "LayerNorm") : "LayerNorm");
    Operand x(operand.as_tensor(), operand.where);
    const Shape& shape = x.tensor.shape();
    std::size_t ndim = shape.size(), n = shape_.size();
    if (ndim < n || !may_be_equal(Shape(shape.end() - n, shape.end()), shape_of(shape_))) {
        throw ShapeError(
            text("LayerNorm: the input has shape ", shape, ", but its last axes must be ", shape_, place(x.where)));
    }
    return functional::layer_norm(x, shape_, weight ? weight->value() : Tensor(), bias ? bias->value() : Tensor(),
                                  eps_);
}

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels, GroupNormOptions options)
    : groups_(num_groups), channels_(num_channels), eps_(options.eps) {
    check_positive("GroupNorm", "num_groups", num_groups);
    check_positive("GroupNorm", "num_channels", num_channels);
    if (num_channels % num_groups != 0) {
        throw ValueError(
            text("GroupNorm: num_channels ", num_channels, " must be a multiple of num_groups, which is ", num_groups));
    }
    if (!options.affine) return;
    weight = Parameter(init::ones({num_channels}, options.dtype));
    bias = Parameter(init::zeros({num_channels}, options.dtype));
}

Tensor GroupNorm::operator()(const Operand& operand) const {
    LineScope line(operand.where);
    ModuleScope scope(weight ? layer_name(*weight, "GroupNorm") : "GroupNorm");
    check_axis("GroupNorm", operand, 2, 1, channels_, "channels");
    Operand x(operand.as_tensor(), operand.where);
    return functional::group_norm(x, groups_, weight ? weight->value() : Tensor(), bias ? bias->value() : Tensor(),
                                  eps_);
}

}  // namespace weft::nn
