#include "weft/nn/functional/normalization.h"

#include <limits>

#include "weft/nn/functional/common.h"
#include "weft/ops/creation.h"
#include "weft/ops/half_types.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/window.h"

namespace weft::nn::functional {
namespace {

struct Moments {
    Tensor mean, variance, centred;  // mean and variance keep their axes
};
Moments moments(const Tensor& x, const Axes& axes) {
    Moments m;
    m.mean = mean(x, axes, true);
    m.centred = x - m.mean;
    m.variance = mean(square(m.centred), axes, true);
    return m;
}

Tensor affine(Tensor y, const Tensor& weight, const Tensor& bias) {
    if (weight) y = y * along_channels(weight, y.ndim());
    if (bias) y = y + along_channels(bias, y.ndim());
    return y;
}

Size count_of(const Tensor& x, const Axes& axes) {
    Size count = 1;
    for (std::int64_t axis : axes) count = count * x.shape()[at(axis)];
    return count;
}

// Channels of (N, C, ...) in groups of neighbours. What is joined are first the places of each channel, then the channels of a group: the
// first without turning pictures that lie channels last, and neither needs them in another shape.
struct Groups {
    Groups(const Tensor& x, std::int64_t num_groups)
        : sizes{x.shape()[0], num_groups, x.shape()[1] / num_groups},
          members(sizes[2]),
          places(last_axes(x, x.ndim() - 2)) {
        count = members * count_of(x, places);
        channels = {x.shape()[0], x.shape()[1]};
        channels.resize(x.ndim(), Size(1));
    }

    // (N, groups, 1)
    Tensor mean(const Tensor& x) const {
        Tensor sums = places.empty() ? x : sum(x, places);
        return sum(reshape(sums, sizes), {2}, true) / size_as_tensor(count, x.dtype());
    }

    // Of (N, groups, 1 or members) what stands beside each channel of x.
    Tensor along_channels(const Tensor& values) const { return reshape(broadcast_to(values, sizes), channels); }

    Shape sizes, channels;
    Size members, count;
    Axes places;
};

void check_channels(std::string_view name, const Operand& x, const Tensor& values, std::string_view what) {
    const Tensor tensor = x.as_tensor();
    if (!values || (values.ndim() == 1 && may_equal(values.shape()[0], tensor.shape()[1]))) return;
    refuse_shape(x, text(name, ": ", what, " has shape ", values.shape(), "; it needs one number for each of the ",
                         tensor.shape()[1], " channels of shape ", tensor.shape()));
}

// (1 - momentum) before + momentum now, where there is a statistic.
Tensor moved(const Tensor& before, const Tensor& now, double momentum) {
    if (!before) return {};
    Tensor value = astype(reshape(stop_gradient(now), before.shape()), before.dtype());
    return before * (1 - momentum) + value * momentum;
}

void check_normalized_shape(std::string_view name, const Operand& x, const Dims& shape) {
    const Shape& sizes = x.tensor.shape();
    bool fits = !shape.empty() && sizes.size() >= shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i)
        fits = may_equal(sizes[sizes.size() - shape.size() + i], shape[i]);
    if (!fits)
        refuse_shape(
            x, text(name, ": the input has shape ", sizes, ", but its last axes must be normalized_shape, ", shape));
}

void check_affine_shape(std::string_view name, const Operand& x, const Tensor& values, const Dims& shape) {
    if (!values || values.shape() == shape_of(shape)) return;
    refuse_shape(x, text(name, ": the weight or bias has shape ", values.shape(), ", not normalized_shape, ", shape));
}

void check_batch(std::string_view name, const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                 const Tensor& weight, const Tensor& bias) {
    check_channels(name, x, running_mean, "running_mean");
    check_channels(name, x, running_var, "running_var");
    check_channels(name, x, weight, "the weight");
    check_channels(name, x, bias, "the bias");
}

Normalized narrowed(Normalized found, const Operand& x) {
    found.value = narrowed(found.value, x);
    return found;
}

}  // namespace

Normalized batch_norm(const Operand& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                      const Tensor& bias, bool training, double momentum, double eps) {
    LineScope line(x.where);
    if (is_narrow(x))
        return narrowed(batch_norm(widened(x), running_mean, running_var, weight, bias, training, momentum, eps), x);
    Tensor tensor = floating(x);
    if (tensor.ndim() < 2)
        refuse_shape(x, text("batch_norm: the input has shape ", tensor.shape(), ", but must be (N, C, ...)"));
    check_batch("batch_norm", x, running_mean, running_var, weight, bias);
    if (!training) {
        if (!running_mean || !running_var)
            refuse(x, "batch_norm: running_mean and running_var are needed, unless training is True");
        Tensor centred = tensor - along_channels(running_mean, tensor.ndim());
        Tensor scale = rsqrt(running_var + eps);
        if (weight) scale = scale * weight;
        return {affine(centred * along_channels(scale, tensor.ndim()), {}, bias), running_mean, running_var};
    }
    Axes axes = {0};
    for (std::size_t axis = 2; axis < tensor.ndim(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    Size count = count_of(tensor, axes);
    if (count == Size(1))
        refuse(x, text("batch_norm: the input has shape ", tensor.shape(),
                       ", one number a channel, whose variance says nothing; train with more"));
    Moments m = moments(tensor, axes);
    Tensor n = size_as_tensor(count, tensor.dtype());
    return {affine(m.centred * rsqrt(m.variance + eps), weight, bias), moved(running_mean, m.mean, momentum),
            moved(running_var, m.variance * (n / (n - 1)), momentum)};
}

Normalized instance_norm(const Operand& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                         const Tensor& bias, bool use_input_stats, double momentum, double eps) {
    LineScope line(x.where);
    if (is_narrow(x))
        return narrowed(
            instance_norm(widened(x), running_mean, running_var, weight, bias, use_input_stats, momentum, eps), x);
    Tensor tensor = floating(x);
    if (tensor.ndim() < 3)
        refuse_shape(x,
                     text("instance_norm: the input has shape ", tensor.shape(), ", but must be (N, C, spatial...)"));
    check_batch("instance_norm", x, running_mean, running_var, weight, bias);
    if (!use_input_stats) return batch_norm(tensor, running_mean, running_var, weight, bias, false, momentum, eps);
    Axes axes = last_axes(tensor, tensor.ndim() - 2);
    Size count = count_of(tensor, axes);
    if (count == Size(1))
        refuse(x, text("instance_norm: the input has shape ", tensor.shape(),
                       ", one number a channel, whose variance says nothing"));
    Moments m = moments(tensor, axes);
    Tensor n = size_as_tensor(count, tensor.dtype());
    return {affine(m.centred * rsqrt(m.variance + eps), weight, bias), moved(running_mean, mean(m.mean, {0}), momentum),
            moved(running_var, mean(m.variance, {0}) * (n / (n - 1)), momentum)};
}

Tensor layer_norm(const Operand& x, const Dims& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(layer_norm(widened(x), normalized_shape, weight, bias, eps), x);
    Operand given(floating(x), x.where);
    check_normalized_shape("layer_norm", given, normalized_shape);
    check_affine_shape("layer_norm", given, weight, normalized_shape);
    check_affine_shape("layer_norm", given, bias, normalized_shape);
    Moments m = moments(given.tensor, last_axes(given.tensor, normalized_shape.size()));
    Tensor y = m.centred * rsqrt(m.variance + eps);
    if (weight) y = y * weight;
    return bias ? y + bias : y;
}

Tensor rms_norm(const Operand& x, const Dims& normalized_shape, const Tensor& weight, std::optional<double> eps) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(rms_norm(widened(x), normalized_shape, weight, eps), x);
    Operand given(floating(x), x.where);
    check_normalized_shape("rms_norm", given, normalized_shape);
    check_affine_shape("rms_norm", given, weight, normalized_shape);
    DType dtype = given.tensor.dtype();
    double least = dtype == DType::float64 ? std::numeric_limits<double>::epsilon()
                                           : static_cast<double>(std::numeric_limits<float>::epsilon());
    Tensor squares = mean(square(given.tensor), last_axes(given.tensor, normalized_shape.size()), true);
    Tensor y = given.tensor * rsqrt(squares + eps.value_or(least));
    return weight ? y * weight : y;
}

Tensor group_norm(const Operand& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(group_norm(widened(x), num_groups, weight, bias, eps), x);
    Tensor tensor = floating(x);
    if (tensor.ndim() < 2)
        refuse_shape(x, text("group_norm: the input has shape ", tensor.shape(), ", but must be (N, C, ...)"));
    Size channels = tensor.shape()[1];
    if (num_groups < 1 || (channels.known() && channels.value() % num_groups != 0))
        refuse(x, text("group_norm: the ", channels, " channels of shape ", tensor.shape(), " do not make ", num_groups,
                       " groups"));
    check_channels("group_norm", x, weight, "the weight");
    check_channels("group_norm", x, bias, "the bias");
    Groups groups(tensor, num_groups);
    if (groups.count == Size(0))
        refuse_shape(x, text("group_norm: the input has shape ", tensor.shape(), ", whose groups have no elements"));
    Tensor centred = tensor - groups.along_channels(groups.mean(tensor));
    Tensor scale = rsqrt(groups.mean(square(centred)) + eps);
    if (weight) scale = scale * reshape(weight, {1, num_groups, groups.members});
    Tensor y = centred * groups.along_channels(scale);
    return bias ? y + along_channels(bias, y.ndim()) : y;
}

namespace {

// Means of `size` channels around each, zeros beyond the ends among them.
Tensor mean_of_neighbours(const Tensor& x, std::int64_t size) {
    constexpr std::int64_t most = 16;  // that one loop reads at once
    Dims before(x.ndim(), 0), behind(x.ndim(), 0);
    before[1] = size / 2, behind[1] = (size - 1) / 2;
    if (size > most) {
        Size rest = count_of(x, last_axes(x, x.ndim() - 2));
        Tensor padded = reshape(pad(x, before, behind), {x.shape()[0], 1, x.shape()[1] + (size - 1), rest});
        return reshape(avg_pool(padded, {size, 1}, {.stride = {1}}), x.shape());
    }
    Tensor padded = pad(x, before, behind), sum;
    for (std::int64_t i = 0; i < size; ++i) {
        Shape start(x.ndim(), Size(0));
        start[1] = i;
        Tensor neighbours = slice(padded, start, x.shape());
        sum = sum ? sum + neighbours : neighbours;
    }
    return sum / static_cast<double>(size);
}

}  // namespace

Tensor local_response_norm(const Operand& x, std::int64_t size, double alpha, double beta, double k) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(local_response_norm(widened(x), size, alpha, beta, k), x);
    Tensor tensor = floating(x);
    if (tensor.ndim() < 3)
        refuse_shape(
            x, text("local_response_norm: the input has shape ", tensor.shape(), ", but must be (N, C, spatial...)"));
    if (size < 1) refuse(x, text("local_response_norm: size is ", size, "; it must be at least 1"));
    return tensor / pow(mean_of_neighbours(square(tensor), size) * alpha + k, beta);
}

}  // namespace weft::nn::functional
