#include "weft/nn/convolution.h"

#include <cmath>

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft::nn {
namespace {

constexpr std::string_view conv_names[] = {"Conv1d", "Conv2d", "Conv3d"};
constexpr std::string_view transpose_names[] = {"ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"};

void check_channels(std::string_view layer, std::int64_t in, std::int64_t out, std::int64_t groups) {
    check_positive(layer, "in_channels", in);
    check_positive(layer, "out_channels", out);
    check_positive(layer, "groups", groups);
    if (in % groups == 0 && out % groups == 0) return;
    throw ValueError(text(layer, ": in_channels ", in, " and out_channels ", out,
                          " must be multiples of groups, which is ", groups));
}

struct FirstValues {
    Tensor weight, bias;
};
FirstValues first_values(const Dims& shape, std::int64_t out_channels, bool bias, const Tensor& key, DType dtype) {
    TwoKeys keys = two_keys(key);
    double bound = 1 / std::sqrt(init::fan_of(shape).in);
    FirstValues values;
    values.weight = init::uniform(shape, -bound, bound, keys.first, dtype);
    if (bias) values.bias = init::uniform({out_channels}, -bound, bound, keys.second, dtype);
    return values;
}

Dims weight_shape(std::int64_t first, std::int64_t second, const Dims& kernel) {
    Dims shape = {first, second};
    for (std::int64_t size : kernel) shape.push_back(size);
    return shape;
}

// (C, spatial...) becomes a batch of one for the call.
template <class Call>
Tensor batched(std::string_view layer, const Operand& x, std::size_t spatial, std::int64_t channels, Call call) {
    std::size_t ndim = x.as_tensor().ndim();
    bool single = ndim == spatial + 1;
    if (!single)
        check_ndim(layer, x,
                   spatial == 1   ? std::initializer_list<std::string_view>{"(N, C, L)", "(C, L)"}
                   : spatial == 2 ? std::initializer_list<std::string_view>{"(N, C, H, W)", "(C, H, W)"}
                                  : std::initializer_list<std::string_view>{"(N, C, D, H, W)", "(C, D, H, W)"});
    check_axis(layer, x, spatial + 1, single ? 0 : 1, channels, "channels");
    if (!single) return call(x);
    return squeeze(call(Operand(expand_dims(x, 0), x.where)), {0});
}

}  // namespace

Convolution::Convolution(std::size_t spatial, std::int64_t in_channels, std::int64_t out_channels,
                         const PerAxis& kernel, ConvOptions options)
    : ConvolutionLayer(spatial, in_channels, out_channels, std::move(options)) {
    std::string_view name = conv_names[spatial - 1];
    check_channels(name, in_channels, out_channels, options_.groups);
    kernel_ = weft::detail::for_each_axis(name, "kernel_size", kernel.values, spatial, 1);
    Dims dilation = weft::detail::for_each_axis(name, "dilation", options_.dilation.values, spatial, 1);
    Dims stride = weft::detail::for_each_axis(name, "stride", options_.stride.values, spatial, 1);
    weft::detail::for_each_axis(name, "padding", options_.padding.values, spatial, 0);
    if (options_.same) {
        Dims low;
        for (std::size_t i = 0; i < spatial; ++i) {
            if (stride[i] != 1)
                throw ValueError(
                    text(name, ": padding that keeps sizes (same) needs stride 1, not ", options_.stride.values));
            std::int64_t both = dilation[i] * (kernel_[i] - 1);
            low.push_back(both / 2), padding_high_.push_back(both - both / 2);
        }
        options_.padding = low;
    }
    FirstValues values = first_values(weight_shape(out_channels, in_channels / options_.groups, kernel_), out_channels,
                                      options_.bias, options_.key, options_.dtype);
    weight = Parameter(values.weight);
    if (values.bias) bias = Parameter(values.bias);
}

Tensor Convolution::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(weight, conv_names[spatial_ - 1]));
    return batched(conv_names[spatial_ - 1], x, spatial_, in_channels_, [&](const Operand& batch) {
        ConvolutionOptions options{options_.stride.values, options_.padding.values, options_.dilation.values,
                                   options_.groups, padding_high_};
        auto* convolve = spatial_ == 1 ? conv1d : spatial_ == 2 ? conv2d : conv3d;
        return convolve(batch, weight, bias ? bias->value() : Tensor(), options);
    });
}

ConvolutionTranspose::ConvolutionTranspose(std::size_t spatial, std::int64_t in_channels, std::int64_t out_channels,
                                           const PerAxis& kernel, ConvTransposeOptions options)
    : ConvolutionLayer(spatial, in_channels, out_channels, std::move(options)) {
    std::string_view name = transpose_names[spatial - 1];
    check_channels(name, in_channels, out_channels, options_.groups);
    kernel_ = weft::detail::for_each_axis(name, "kernel_size", kernel.values, spatial, 1);
    FirstValues values = first_values(weight_shape(in_channels, out_channels / options_.groups, kernel_), out_channels,
                                      options_.bias, options_.key, options_.dtype);
    weight = Parameter(values.weight);
    if (values.bias) bias = Parameter(values.bias);
}

Tensor ConvolutionTranspose::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(weight, transpose_names[spatial_ - 1]));
    return batched(transpose_names[spatial_ - 1], x, spatial_, in_channels_, [&](const Operand& batch) {
        ConvolutionTransposeOptions options{options_.stride.values, options_.padding.values,
                                            options_.output_padding.values, options_.dilation.values, options_.groups};
        auto* convolve = spatial_ == 1 ? conv_transpose1d : spatial_ == 2 ? conv_transpose2d : conv_transpose3d;
        return convolve(batch, weight, bias ? bias->value() : Tensor(), options);
    });
}

}  // namespace weft::nn
