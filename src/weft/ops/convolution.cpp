#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

using detail::of, detail::spatial_of;

// The primitives check nothing: who makes them has.
Meta infer_forward(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    Shape shape{inputs[0].shape()[0], inputs[1].shape()[0]};
    for (Size size : of(attributes).result) shape.push_back(size);
    return {shape, inputs[0].dtype()};
}
Meta infer_input_gradient(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    Shape shape{inputs[0].shape()[0], inputs[1].shape()[1] * of(attributes).groups};
    for (Size size : of(attributes).result) shape.push_back(size);
    return {shape, inputs[0].dtype()};
}
Meta infer_weight_gradient(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    Shape shape{inputs[1].shape()[1], inputs[0].shape()[1] / of(attributes).groups};
    for (Size size : of(attributes).result) shape.push_back(size);
    return {shape, inputs[0].dtype()};
}

Tensor make(const Operation& operation, WindowKind kind, const Tensor& a, const Tensor& b, WindowAttributes window,
            const Shape& result, std::source_location where) {
    window.kind = kind;
    window.result = result;
    return make_node(operation, {a, b}, attributes(std::move(window)), where);
}

// y = convolution(x, w), its input gradient x' = (g, w) and its weight gradient w' = (x, g) are linear in each operand, and each
// one's transpose is another of the three.
Tensor forward_like(const Tensor& result, const Tensor& x, const Tensor& w, const Tensor& like_y) {
    return make(convolution_operation, WindowKind::convolution, x, w, of(result), spatial_of(like_y),
                result.node()->where);
}
Tensor input_gradient_like(const Tensor& result, const Tensor& g, const Tensor& w, const Tensor& like_x) {
    return make(convolution_input_gradient_operation, WindowKind::convolution_input_gradient, g, w, of(result),
                spatial_of(like_x), result.node()->where);
}
Tensor weight_gradient_like(const Tensor& result, const Tensor& x, const Tensor& g, const Tensor& like_w) {
    return make(convolution_weight_gradient_operation, WindowKind::convolution_weight_gradient, x, g, of(result),
                spatial_of(like_w), result.node()->where);
}

Tensor transpose_forward(const Tensor& y, std::size_t i, const Tensor& cotangent) {
    Tensor x = input_of(y, 0), w = input_of(y, 1);
    return i == 0 ? input_gradient_like(y, cotangent, w, x) : weight_gradient_like(y, x, cotangent, w);
}
Tensor transpose_input_gradient(const Tensor& x, std::size_t i, const Tensor& cotangent) {
    Tensor g = input_of(x, 0), w = input_of(x, 1);
    return i == 0 ? forward_like(x, cotangent, w, g) : weight_gradient_like(x, cotangent, g, w);
}
Tensor transpose_weight_gradient(const Tensor& w, std::size_t i, const Tensor& cotangent) {
    Tensor x = input_of(w, 0), g = input_of(w, 1);
    return i == 0 ? input_gradient_like(w, g, cotangent, x) : forward_like(w, x, cotangent, g);
}

// vmap: images of all examples are images of one call, where the weights are the same for all; else the examples are groups.
// Of (n, N, C, ...): the examples become further channels.
Tensor as_channels(const Tensor& x) {
    Shape shape{x.shape()[1], x.shape()[0] * x.shape()[2]};
    for (std::size_t i = 3; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    return reshape(moveaxis(x, 0, 1), shape);
}
// Back, where channels of one example come to `result`'s.
Tensor from_channels(const Tensor& x, const Batch& batch, const Tensor& result) {
    Shape shape = result.shape();
    shape.insert(1, batch.size);
    return moveaxis(reshape(x, shape), 1, 0);
}
// The examples of a first axis one behind the other: (n, N, ...) as (n N, ...).
Tensor as_images(const Tensor& x) { return detail::joined_front(x); }

AttributesHandle grouped(const Tensor& result, const Batch& batch) {
    WindowAttributes window = of(result);
    window.groups *= batch.size.value();
    return attributes(std::move(window));
}

// Of a convolution and its input gradient alike: (N, channels, ...) with weights.
Tensor batch_images(const Tensor& result, const Batch& batch) {
    if (!batch.batched[1]) {
        Tensor inputs[] = {as_images(batch.inputs[0]), batch.inputs[1]};
        return reshape(batch.like(result, inputs), batch.shape(result.shape()));
    }
    if (!batch.size.known() || batch.size.value() == 0) return {};
    Tensor inputs[] = {as_channels(batch.all(0)), as_images(batch.inputs[1])};
    return from_channels(batch.like(result, inputs, grouped(result, batch)), batch, result);
}
Tensor batch_weight_gradient(const Tensor& result, const Batch& batch) {
    if (!batch.size.known() || batch.size.value() == 0) return {};
    Tensor inputs[] = {as_channels(batch.all(0)), as_channels(batch.all(1))};
    return reshape(batch.like(result, inputs, grouped(result, batch)), batch.shape(result.shape()));
}

// Of plain windows of three, one spatial axis: a sample of the weight gradient alone.
Tensor weight_gradient_of(const Tensor& x, const Tensor& g) {
    WindowAttributes window;
    window.stride = window.dilation = {1}, window.low = window.high = {0};
    return make(convolution_weight_gradient_operation, WindowKind::convolution_weight_gradient, x, g, window, {3}, {});
}

[[noreturn]] void refuse(const Operand& x, std::string message) { throw ShapeError(message + place(x.where)); }

// x (N, C, spatial...) and w (O, C / groups, kernel...) of one dtype, and the attributes without the result's size.
struct Prepared {
    Tensor x, w;
    WindowAttributes window;
};

Prepared prepare(std::string_view name, const Operand& left, const Operand& right, const ConvolutionOptions& options,
                 bool transposed) {
    Tensor x = left.as_tensor(), w = right.as_tensor();
    if (x.ndim() < 3 || x.ndim() > 5 || w.ndim() != x.ndim()) {
        refuse(left, text(name, ": x of shape ", x.shape(), " and weights of shape ", w.shape(),
                          " do not fit: x is (N, C, 1 to 3 spatial axes), the weights have as many axes"));
    }
    std::size_t count = x.ndim() - 2;
    WindowAttributes window;
    try {
        window.stride = detail::for_each_axis(name, "stride", options.stride, count, 1);
        window.dilation = detail::for_each_axis(name, "dilation", options.dilation, count, 1);
        window.low = detail::for_each_axis(name, "padding", options.padding, count, 0);
        window.high = options.padding_high.empty()
                          ? window.low
                          : detail::for_each_axis(name, "padding_high", options.padding_high, count, 0);
        if (options.groups < 1)
            throw ValueError(text(name, ": ", options.groups, " groups; there must be at least one"));
    } catch (Error& error) {
        error.add(place(left.where));
        throw;
    }
    window.groups = options.groups;
    Size channels = x.shape()[1], first = w.shape()[0], second = w.shape()[1];
    // The weights' channels: of a convolution the second axis times groups, of a transposed one the first.
    Size wanted = transposed ? first : second * options.groups;
    if (!may_equal(channels, wanted)) {
        refuse(left,
               text(name, ": x of shape ", x.shape(), " has ", channels, " channels, weights of shape ", w.shape(),
                    " in ", options.groups, options.groups == 1 ? " group" : " groups", " take ", wanted));
    }
    if (first.known() && first.value() % options.groups != 0) {
        refuse(left, text(name, ": the first size of the weights' shape ", w.shape(), " is not a multiple of the ",
                          options.groups, " groups"));
    }
    DType dtype = promote(x.dtype(), w.dtype());
    return {x.astype(dtype, left.where), w.astype(dtype, left.where), std::move(window)};
}

Tensor with_bias(const Tensor& y, const Tensor& bias, std::string_view name, const Operand& x) {
    if (!bias) return y;
    if (bias.ndim() != 1 || !may_equal(bias.shape()[0], y.shape()[1])) {
        refuse(x, text(name, ": the bias has shape ", bias.shape(), "; it needs one number for each of the ",
                       y.shape()[1], " output channels"));
    }
    Shape shape(y.ndim() - 1, 1);
    shape[0] = y.shape()[1];
    return add(Operand(y, x.where), reshape(bias, shape));
}

void check_axes(std::string_view name, const Operand& x, std::size_t spatial) {
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() != spatial + 2)
        refuse(x, text(name, ": x has shape ", tensor.shape(), "; it needs ", spatial + 2, " axes (N, C, ", spatial,
                       " spatial)"));
}

}  // namespace

namespace detail {

const WindowAttributes& of(const Tensor& result) { return result.node()->attributes_as<WindowAttributes>(); }
Tensor joined_front(const Tensor& x) {
    Shape shape(x.shape().begin() + 1, x.shape().end());
    shape[0] = x.shape()[0] * shape[0];
    return reshape(x, shape);
}
Shape spatial_of(const Tensor& x) { return Shape(x.shape().begin() + 2, x.shape().end()); }

Dims for_each_axis(std::string_view operation, std::string_view what, const Dims& list, std::size_t count,
                   std::int64_t least) {
    if (list.size() != 1 && list.size() != count) {
        throw ValueError(text(operation, ": ", what, " ", list, " must hold one number, or one for each of the ", count,
                              " spatial axes"));
    }
    Dims result = list;
    while (result.size() < count) result.push_back(list[0]);
    for (std::int64_t number : result) {
        if (number < least) throw ValueError(text(operation, ": ", what, " ", list, " must not be below ", least));
    }
    return result;
}

}  // namespace detail

const Operation convolution_operation{
    .name = "convolution",
    .family = Family::window,
    .arity = 2,
    .doc = "Cross-correlation of (N, C, spatial...) with (O, C / groups, kernel...).",
    .torch = "nn.functional.conv2d",
    .infer = infer_forward,
    .transpose = transpose_forward,
    .batch = batch_images,
    .samples = {{{{2, 3, 7}, {4, 3, 3}},
                 [](auto x) { return convolution(x[0], x[1]); },
                 "np.einsum('ncik,ock->noi', np.lib.stride_tricks.sliding_window_view(x0, 3, 2), x1)"},
                {{{2, 3, 6, 8}, {4, 3, 3, 2}},
                 [](auto x) {
                     return convolution(x[0], x[1], {.stride = {2, 1}, .padding = {1, 0}});
                 },
                 "np.einsum('ncijkl,ockl->noij', np.lib.stride_tricks.sliding_window_view(np.pad(x0, ((0, 0), (0, 0), "
                 "(1, 1), (0, 0))), (3, 2), (2, 3))[:, :, ::2], x1)"},
                {{{1, 4, 9}, {6, 2, 3}},
                 [](auto x) {
                     return convolution(x[0], x[1],
                                        {.padding = {2}, .dilation = {2}, .groups = 2, .padding_high = {1}});
                 },
                 "np.concatenate([np.einsum('ncik,ock->noi', np.lib.stride_tricks.sliding_window_view(np.pad(x0, ((0, "
                 "0), (0, 0), (2, 1))), 5, 2)[:, 2*g:2*g+2, :, ::2], x1[3*g:3*g+3]) for g in range(2)], 1)"},
                {{{1, 2, 4, 5, 3}, {3, 2, 2, 2, 2}},
                 [](auto x) { return convolution(x[0], x[1]); },
                 "np.einsum('zcijklmn,oclmn->zoijk', np.lib.stride_tricks.sliding_window_view(x0, (2, 2, 2), (2, 3, "
                 "4)), x1)"}}};
const Operation convolution_input_gradient_operation{
    .name = "convolution_input_gradient",
    .family = Family::window,
    .arity = 2,
    .doc = "The transposed convolution: what convolution does to its input's cotangent.",
    .torch = "nn.functional.conv_transpose2d",
    .infer = infer_input_gradient,
    .transpose = transpose_input_gradient,
    .batch = batch_images,
    .samples = {
        {{{1, 1, 5}, {1, 1, 3}},
         [](auto x) { return convolution_transpose(x[0], x[1]); },
         "np.convolve(x0[0, 0], x1[0, 0])[None, None]"},
        {{{2, 4, 3, 4}, {4, 3, 2, 3}}, [](auto x) {
             return convolution_transpose(x[0], x[1], {.stride = {2, 1}, .padding = {1}, .output_padding = {1, 0}});
         }}}};
const Operation convolution_weight_gradient_operation{
    .name = "convolution_weight_gradient",
    .family = Family::window,
    .arity = 2,
    .doc = "What convolution does to its weights' cotangent.",
    .infer = infer_weight_gradient,
    .transpose = transpose_weight_gradient,
    .batch = batch_weight_gradient,
    .samples = {{{{2, 3, 7}, {2, 4, 5}},
                 [](auto x) { return weight_gradient_of(x[0], x[1]); },
                 "np.einsum('ncik,noi->ock', np.lib.stride_tricks.sliding_window_view(x0, 3, 2), x1)"}}};
WEFT_REGISTER(convolution_operation);
WEFT_REGISTER(convolution_input_gradient_operation);
WEFT_REGISTER(convolution_weight_gradient_operation);

Tensor convolution(const Operand& left, const Operand& right, const ConvolutionOptions& options) {
    LineScope line(left.where);
    auto [x, w, window] = prepare("convolution", left, right, options, false);
    Shape result;
    for (std::size_t i = 0; i < window.stride.size(); ++i) {
        Size padded = x.shape()[i + 2] + window.low[i] + window.high[i],
             covered = (w.shape()[i + 2] - 1) * window.dilation[i] + 1;
        if ((w.shape()[i + 2].known() && w.shape()[i + 2].value() < 1) ||
            (padded.known() && covered.known() && padded.value() < covered.value())) {
            refuse(left, text("convolution: along spatial axis ", i, " the kernel covers ", covered,
                              " elements, the padded input of shape ", x.shape(), " has only ", padded));
        }
        result.push_back((padded - covered) / window.stride[i] + 1);
    }
    return make(convolution_operation, WindowKind::convolution, x, w, window, result, left.where);
}

Tensor convolution_transpose(const Operand& left, const Operand& right, const ConvolutionTransposeOptions& options) {
    LineScope line(left.where);
    constexpr std::string_view name = "convolution_transpose";
    auto [x, w, window] =
        prepare(name, left, right, {options.stride, options.padding, options.dilation, options.groups, {}}, true);
    Dims more = detail::for_each_axis(name, "output_padding", options.output_padding, window.stride.size(), 0);
    Shape result;
    for (std::size_t i = 0; i < window.stride.size(); ++i) {
        if (more[i] >= std::max(window.stride[i], window.dilation[i])) {
            throw ValueError(text(name, ": output_padding ", more, " must stay below the stride or the dilation",
                                  place(left.where)));
        }
        Size size = (x.shape()[i + 2] - 1) * window.stride[i] + (w.shape()[i + 2] - 1) * window.dilation[i] + 1 +
                    more[i] - window.low[i] - window.high[i];
        if (size.known() && size.value() < 0) {
            refuse(left, text(name, ": along spatial axis ", i, " padding ", window.low[i], " leaves ", size,
                              " elements of x of shape ", x.shape()));
        }
        result.push_back(size);
    }
    return make(convolution_input_gradient_operation, WindowKind::convolution_input_gradient, x, w, window, result,
                left.where);
}

#define WEFT_CONVOLUTION(axes)                                                                                        \
    Tensor conv##axes##d(const Operand& x, const Operand& w, const Tensor& bias, const ConvolutionOptions& options) { \
        check_axes("conv" #axes "d", x, axes);                                                                        \
        return with_bias(convolution(x, w, options), bias, "conv" #axes "d", x);                                      \
    }                                                                                                                 \
    Tensor conv_transpose##axes##d(const Operand& x, const Operand& w, const Tensor& bias,                            \
                                   const ConvolutionTransposeOptions& options) {                                      \
        check_axes("conv_transpose" #axes "d", x, axes);                                                              \
        return with_bias(convolution_transpose(x, w, options), bias, "conv_transpose" #axes "d", x);                  \
    }
WEFT_CONVOLUTION(1)
WEFT_CONVOLUTION(2)
WEFT_CONVOLUTION(3)
#undef WEFT_CONVOLUTION

}  // namespace weft
