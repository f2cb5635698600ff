#include "weft/nn/functional/convolution.h"

#include "weft/nn/functional/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/scatter.h"
#include "weft/ops/window.h"

namespace weft::nn::functional {
namespace {

using weft::detail::for_each_axis;

// Zeros at the lower and upper ends.
std::pair<Dims, Dims> ends_of(const Operand& x, const Padding& padding, const Dims& kernel, const Dims& stride,
                              const Dims& dilation) {
    if (const Dims* both = std::get_if<Dims>(&padding)) {
        Dims ends = for_each_axis("conv", "padding", *both, kernel.size(), 0);
        return {ends, ends};
    }
    const std::string& name = std::get<std::string>(padding);
    Dims low(kernel.size(), 0), high(kernel.size(), 0);
    if (name == "valid") return {low, high};
    if (name != "same") refuse(x, text("conv: padding is a number, or 'valid' or 'same', not '", name, "'"));
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        if (stride[i] != 1) refuse(x, text("conv: padding='same' needs stride 1, not ", stride));
        std::int64_t both = dilation[i] * (kernel[i] - 1);
        low[i] = both / 2, high[i] = both - both / 2;
    }
    return {low, high};
}

Dims kernel_of(const Operand& x, const Tensor& weight, std::size_t spatial) {
    if (weight.ndim() != spatial + 2)
        refuse_shape(
            x, text("conv", spatial, "d: the weight has shape ", weight.shape(), "; it needs ", spatial + 2, " axes"));
    Dims kernel;
    for (std::size_t i = 0; i < spatial; ++i) kernel.push_back(known_size("conv", weight, i + 2));
    return kernel;
}

void check_bias(const Operand& x, const Tensor& weight, const Tensor& bias) {
    if (!bias || bias.dtype() == promote(x.as_tensor().dtype(), weight.dtype())) return;
    throw DTypeError(text("conv: the input is ", x.as_tensor().dtype(), ", the weight ", weight.dtype(),
                          ", but the bias ", bias.dtype(), "; convert it with astype", place(x.where)));
}

// Along one axis: the element that element k of window i reads, (kernel, windows).
struct Windows {
    std::int64_t kernel, count;
    std::vector<std::int64_t> indices;
};
Windows windows_of(const Operand& x, std::int64_t size, std::int64_t kernel, std::int64_t dilation,
                   std::int64_t stride) {
    std::int64_t covered = dilation * (kernel - 1) + 1;
    if (size < covered)
        refuse_shape(x, text("unfold: a window covers ", covered, " elements, the padded axis has only ", size));
    Windows windows{kernel, (size - covered) / stride + 1, {}};
    for (std::int64_t k = 0; k < kernel; ++k)
        for (std::int64_t i = 0; i < windows.count; ++i) windows.indices.push_back(i * stride + k * dilation);
    return windows;
}

struct Layout {
    Dims kernel, dilation, padding, stride;
};
Layout layout(std::string_view name, const Dims& kernel, const Dims& dilation, const Dims& padding,
              const Dims& stride) {
    return {for_each_axis(name, "kernel_size", kernel, 2, 1), for_each_axis(name, "dilation", dilation, 2, 1),
            for_each_axis(name, "padding", padding, 2, 0), for_each_axis(name, "stride", stride, 2, 1)};
}

}  // namespace

Padding no_padding() { return Dims{0}; }

Tensor conv(const Operand& x, std::size_t spatial, const Operand& weight, const Tensor& bias, const Dims& stride,
            const Padding& padding, const Dims& dilation, std::int64_t groups) {
    LineScope line(x.where);
    Tensor w = weight.as_tensor();
    Dims kernel = kernel_of(x, w, spatial);
    check_bias(x, w, bias);
    Dims strides = for_each_axis("conv", "stride", stride, spatial, 1);
    Dims dilations = for_each_axis("conv", "dilation", dilation, spatial, 1);
    auto [low, high] = ends_of(x, padding, kernel, strides, dilations);
    auto* convolve = spatial == 1 ? weft::conv1d : spatial == 2 ? weft::conv2d : weft::conv3d;
    return batched("conv", x, spatial, [&](const Tensor& batch) {
        return convolve(Operand(batch, x.where), w, bias, {strides, low, dilations, groups, high});
    });
}

Tensor conv_transpose(const Operand& x, std::size_t spatial, const Operand& weight, const Tensor& bias,
                      const Dims& stride, const Dims& padding, const Dims& output_padding, std::int64_t groups,
                      const Dims& dilation) {
    LineScope line(x.where);
    check_bias(x, weight.as_tensor(), bias);
    auto* convolve = spatial == 1   ? weft::conv_transpose1d
                     : spatial == 2 ? weft::conv_transpose2d
                                    : weft::conv_transpose3d;
    return batched("conv_transpose", x, spatial, [&](const Tensor& batch) {
        return convolve(Operand(batch, x.where), weight, bias, {stride, padding, output_padding, dilation, groups});
    });
}

Tensor unfold(const Operand& x, const Dims& kernel_size, const Dims& dilation, const Dims& padding,
              const Dims& stride) {
    LineScope line(x.where);
    Layout l = layout("unfold", kernel_size, dilation, padding, stride);
    return batched("unfold", x, 2, [&](const Tensor& batch) {
        Tensor padded = pad(batch, {0, 0, l.padding[0], l.padding[1]}, {0, 0, l.padding[0], l.padding[1]});
        std::int64_t rows = known_size("unfold", padded, 2), columns = known_size("unfold", padded, 3);
        Windows down = windows_of(x, rows, l.kernel[0], l.dilation[0], l.stride[0]);
        Windows across = windows_of(x, columns, l.kernel[1], l.dilation[1], l.stride[1]);
        // (N, C, kernel, windows, W), then (N, C, kernel, windows, kernel, windows)
        Tensor y = take(padded, Tensor::of(down.indices, {down.kernel, down.count}), 2);
        y = take(y, Tensor::of(across.indices, {across.kernel, across.count}), 4);
        return reshape(permute_dims(y, {0, 1, 2, 4, 3, 5}),
                       {batch.shape()[0], batch.shape()[1] * (down.kernel * across.kernel), down.count * across.count});
    });
}

Tensor fold(const Operand& x, const Dims& output_size, const Dims& kernel_size, const Dims& dilation,
            const Dims& padding, const Dims& stride) {
    LineScope line(x.where);
    Layout l = layout("fold", kernel_size, dilation, padding, stride);
    Dims size = for_each_axis("fold", "output_size", output_size, 2, 1);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() != 2 && tensor.ndim() != 3)
        refuse_shape(x, text("fold: the input has shape ", tensor.shape(), ", but must be (N, columns, windows) or ",
                             "(columns, windows)"));
    Tensor batch = tensor.ndim() == 2 ? expand_dims(tensor, 0) : tensor;
    std::int64_t rows = size[0] + 2 * l.padding[0], columns = size[1] + 2 * l.padding[1];
    Windows down = windows_of(x, rows, l.kernel[0], l.dilation[0], l.stride[0]);
    Windows across = windows_of(x, columns, l.kernel[1], l.dilation[1], l.stride[1]);
    Size window = down.kernel * across.kernel, channels = batch.shape()[1] / window;
    if (!may_equal(channels * window, batch.shape()[1]) || !may_equal(batch.shape()[2], down.count * across.count))
        refuse_shape(x, text("fold: the input has shape ", tensor.shape(), "; columns must be a multiple of ", window,
                             " (the kernel's size), windows ", down.count * across.count));
    Tensor parts = reshape(batch, {batch.shape()[0], channels, down.kernel, across.kernel, down.count, across.count});
    Tensor to[2] = {Tensor::of(down.indices, {down.kernel, 1, down.count, 1}),
                    Tensor::of(across.indices, {1, across.kernel, 1, across.count})};
    Tensor padded =
        scatter(zeros({batch.shape()[0], channels, rows, columns}, batch.dtype()), to, parts, 2, ScatterMode::add);
    Tensor y = slice(padded, {0, 0, l.padding[0], l.padding[1]}, {batch.shape()[0], channels, size[0], size[1]});
    return tensor.ndim() == 2 ? squeeze(y, {0}) : y;
}

}  // namespace weft::nn::functional
