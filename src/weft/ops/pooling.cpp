#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

using detail::of, detail::spatial_of;

Meta infer_pool(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    if (&operation == &max_pool_gradient_operation && !is_floating(inputs.back().dtype())) {
        throw DTypeError(text(operation.name, ": there is no gradient of ", inputs.back().dtype(),
                              " values; convert them to a floating type first"));
    }
    Shape shape{inputs[0].shape()[0], inputs[0].shape()[1]};
    for (Size size : of(attributes).result) shape.push_back(size);
    return {shape, inputs.back().dtype()};
}

Tensor make(const Operation& operation, WindowKind kind, std::initializer_list<Tensor> inputs, WindowAttributes window,
            const Shape& result, std::source_location where) {
    window.kind = kind;
    window.result = result;
    return make_node(operation, inputs, attributes(std::move(window)), where);
}

// select(x, .) and gradient(x, .) are each other's transposes; x only says which element of each window is chosen.
Tensor select_like(const Tensor& result, const Tensor& x, const Tensor& t, const Tensor& like_y) {
    return make(max_pool_select_operation, WindowKind::max_pool_select, {x, t}, of(result), spatial_of(like_y),
                result.node()->where);
}
Tensor gradient_like(const Tensor& result, const Tensor& x, const Tensor& g) {
    return make(max_pool_gradient_operation, WindowKind::max_pool_gradient, {x, g}, of(result), spatial_of(x),
                result.node()->where);
}

Tensor jvp_max(const Tensor& y, std::span<const Tensor> tangents) {
    return select_like(y, input_of(y, 0), tangents[0], y);
}
Tensor transpose_gradient(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    return i == 0 ? Tensor() : select_like(result, input_of(result, 0), cotangent, input_of(result, 1));
}
Tensor jvp_gradient(const Tensor& result, std::span<const Tensor> tangents) {
    return tangents[1] ? gradient_like(result, input_of(result, 0), tangents[1]) : Tensor();
}
Tensor transpose_select(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    return i == 0 ? Tensor() : gradient_like(result, input_of(result, 0), cotangent);
}
Tensor jvp_select(const Tensor& result, std::span<const Tensor> tangents) {
    return tangents[1] ? select_like(result, input_of(result, 0), tangents[1], result) : Tensor();
}

Tensor transpose_average(const Tensor& y, std::size_t, const Tensor& cotangent) {
    return make(avg_pool_gradient_operation, WindowKind::avg_pool_gradient, {cotangent}, of(y),
                spatial_of(input_of(y, 0)), y.node()->where);
}
Tensor transpose_average_gradient(const Tensor& x, std::size_t, const Tensor& cotangent) {
    return make(avg_pool_operation, WindowKind::avg_pool, {cotangent}, of(x), spatial_of(input_of(x, 0)),
                x.node()->where);
}

// vmap: the images of all examples are images of one call.
Tensor batch_pool(const Tensor& result, const Batch& batch) {
    std::vector<Tensor> inputs;
    for (const Tensor& input : batch.all()) inputs.push_back(detail::joined_front(input));
    return reshape(batch.like(result, inputs), batch.shape(result.shape()));
}

Size pooled_size(std::string_view name, const Tensor& x, std::size_t axis, const WindowAttributes& w, bool ceil_mode) {
    Size padded = x.shape()[axis + 2] + w.low[axis] + w.high[axis];
    std::int64_t covered = (w.kernel[axis] - 1) * w.dilation[axis] + 1, stride = w.stride[axis];
    if (padded.known() && padded.value() < covered) {
        throw ShapeError(text(name, ": along spatial axis ", axis, " the window covers ", covered,
                              " elements, the padded input of shape ", x.shape(), " has only ", padded));
    }
    if (!ceil_mode) return (padded - covered) / stride + 1;
    if (!padded.known())
        throw ShapeError(text(name, ": ceil_mode needs known sizes, and spatial axis ", axis, " of ", x.shape(),
                              " is not known yet"));
    std::int64_t count = (padded.value() - covered + stride - 1) / stride + 1;
    bool starts_inside = (count - 1) * stride < padded.value() - w.high[axis];
    return starts_inside ? count : count - 1;
}

WindowAttributes window_of(std::string_view name, const Tensor& x, const Dims& kernel, const PoolOptions& options) {
    std::size_t count = x.ndim() - 2;
    WindowAttributes window;
    window.kernel = detail::for_each_axis(name, "kernel", kernel, count, 1);
    window.stride =
        options.stride.empty() ? window.kernel : detail::for_each_axis(name, "stride", options.stride, count, 1);
    window.low = window.high = detail::for_each_axis(name, "padding", options.padding, count, 0);
    window.dilation = detail::for_each_axis(name, "dilation", options.dilation, count, 1);
    window.count_padding = options.count_include_pad;
    for (std::size_t i = 0; i < count; ++i) {
        if (2 * window.low[i] > window.kernel[i]) {
            throw ValueError(
                text(name, ": padding ", window.low, " must be at most half of the kernel ", window.kernel));
        }
        window.result.push_back(pooled_size(name, x, i, window, options.ceil_mode));
    }
    return window;
}

Tensor pool(const Operation& operation, WindowKind kind, const Operand& x, const Dims& kernel,
            const PoolOptions& options) {
    Tensor tensor = x.as_tensor();
    try {
        if (tensor.ndim() < 3 || tensor.ndim() > 5) {
            throw ShapeError(
                text(operation.name, ": x has shape ", tensor.shape(), "; it needs (N, C, 1 to 3 spatial axes)"));
        }
        if (is_complex(tensor.dtype()) && kind == WindowKind::max_pool) {
            throw DTypeError(text(operation.name, ": complex numbers have no order (", tensor.dtype(), ")"));
        }
        if (kind == WindowKind::avg_pool) tensor = tensor.astype(inexact(tensor.dtype()), x.where);
        WindowAttributes window = window_of(operation.name, tensor, kernel, options);
        Shape result = window.result;
        return make(operation, kind, {tensor}, std::move(window), result, std::source_location());
    } catch (Error& error) {
        error.add(place(x.where));
        throw;
    }
}

// With the spatial axes counted: (C, spatial...) is a batch of one.
template <class Pool>
Tensor pool_of(std::string_view name, std::size_t spatial, const Operand& x, Pool pool) {
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() == spatial + 1)
        return squeeze(pool(Operand(expand_dims(Operand(tensor, x.where), 0), x.where)), {0});
    if (tensor.ndim() == spatial + 2) return pool(Operand(tensor, x.where));
    throw ShapeError(text(name, ": x has shape ", tensor.shape(), "; it needs (N, C, ", spatial, " spatial) or (C, ",
                          spatial, " spatial)", place(x.where)));
}

}  // namespace

const Operation max_pool_operation{
    .name = "max_pool",
    .family = Family::window,
    .doc = "The largest of each window.",
    .torch = "nn.functional.max_pool2d",
    .infer = infer_pool,
    .jvp = jvp_max,
    .batch = batch_pool,
    .samples = {{{{2, 3, 8}},
                 [](auto x) { return max_pool(x[0], {2}); },
                 "np.lib.stride_tricks.sliding_window_view(x0, 2, 2)[:, :, ::2].max(-1)"},
                {{{2, 2, 7, 9}},
                 [](auto x) {
                     return max_pool(x[0], {3, 2}, {.stride = {2, 3}});
                 },
                 "np.lib.stride_tricks.sliding_window_view(x0, (3, 2), (2, 3))[:, :, ::2, ::3].max((-2, -1))"},
                {{{1, 2, 10}},
                 [](auto x) { return max_pool(x[0], {3}, {.stride = {1}, .dilation = {2}}); },
                 "np.lib.stride_tricks.sliding_window_view(x0, 5, 2)[..., ::2].max(-1)"},
                {{{1, 2, 4, 5, 6}}, [](auto x) { return max_pool(x[0], {2}, {.padding = {1}, .ceil_mode = true}); }}}};
const Operation max_pool_gradient_operation{
    .name = "max_pool_gradient",
    .family = Family::window,
    .arity = 2,
    .doc = "What max_pool does to its cotangent.",
    .infer = infer_pool,
    .transpose = transpose_gradient,
    .jvp = jvp_gradient,
    .batch = batch_pool,
    .samples = {{{{2, 3, 8}, {2, 3, 4}},
                 [](auto x) { return gradient_like(max_pool(x[0], {2}), x[0], x[1]); },
                 "np.stack([np.where(x0[:, :, ::2] >= x0[:, :, 1::2], x1, 0 * x1), np.where(x0[:, :, ::2] >= x0[:, :, "
                 "1::2], 0 * x1, x1)], -1).reshape(x0.shape)"},
                {{{1, 2, 5, 6}, {1, 2, 3, 5}}, [](auto x) {
                     return gradient_like(max_pool(x[0], {3, 2}, {.stride = {1}}), x[0], x[1]);
                 }}}};
const Operation max_pool_select_operation{
    .name = "max_pool_select",
    .family = Family::window,
    .arity = 2,
    .doc = "The second operand where the first has the first maximum of each window.",
    .infer = infer_pool,
    .transpose = transpose_select,
    .jvp = jvp_select,
    .batch = batch_pool,
    .samples = {{{{2, 3, 8}, {2, 3, 8}},
                 [](auto x) {
                     Tensor y = max_pool(x[0], {2});
                     return select_like(y, x[0], x[1], y);
                 },
                 "np.where(x0[:, :, ::2] >= x0[:, :, 1::2], x1[:, :, ::2], x1[:, :, 1::2])"}}};
const Operation avg_pool_operation{
    .name = "avg_pool",
    .family = Family::window,
    .doc = "The mean of each window.",
    .torch = "nn.functional.avg_pool2d",
    .infer = infer_pool,
    .transpose = transpose_average,
    .batch = batch_pool,
    .samples = {{{{2, 3, 8}},
                 [](auto x) { return avg_pool(x[0], {2}); },
                 "np.lib.stride_tricks.sliding_window_view(x0, 2, 2)[:, :, ::2].mean(-1)"},
                {{{2, 2, 7, 9}},
                 [](auto x) {
                     return avg_pool(x[0], {3, 2}, {.stride = {2, 1}, .padding = {1}});
                 },
                 "np.lib.stride_tricks.sliding_window_view(np.pad(x0, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 2), (2, "
                 "3))[:, :, ::2].mean((-2, -1))"},
                {{{1, 2, 7}},
                 [](auto x) {
                     return avg_pool(x[0], {3},
                                     {.stride = {2}, .padding = {1}, .ceil_mode = true, .count_include_pad = false});
                 }},
                {{{2, 2, 7, 4}}, [](auto x) {
                     return avg_pool_of_parts(x[0], {3, 5});
                 }}}};
const Operation avg_pool_gradient_operation{
    .name = "avg_pool_gradient",
    .family = Family::window,
    .doc = "What avg_pool does to its cotangent.",
    .infer = infer_pool,
    .transpose = transpose_average_gradient,
    .batch = batch_pool,
    .samples = {{{{2, 3, 4}},
                 [](auto x) {
                     Tensor g = astype(x[0], inexact(x[0].dtype()));
                     return transpose_average(avg_pool(input("like", {2, 3, 8}, g.dtype()), {2}), 0, g);
                 },
                 "np.repeat(x0, 2, 2) / 2"}}};
WEFT_REGISTER(max_pool_operation);
WEFT_REGISTER(max_pool_gradient_operation);
WEFT_REGISTER(max_pool_select_operation);
WEFT_REGISTER(avg_pool_operation);
WEFT_REGISTER(avg_pool_gradient_operation);

Tensor max_pool(const Operand& x, const Dims& kernel, const PoolOptions& options) {
    LineScope line(x.where);
    return pool(max_pool_operation, WindowKind::max_pool, x, kernel, options);
}
Tensor avg_pool(const Operand& x, const Dims& kernel, const PoolOptions& options) {
    LineScope line(x.where);
    for (std::int64_t dilation : options.dilation) {
        if (dilation != 1)
            throw ValueError(text("avg_pool: dilation ", options.dilation, "; only 1 is defined", place(x.where)));
    }
    return pool(avg_pool_operation, WindowKind::avg_pool, x, kernel, options);
}

Tensor avg_pool_of_parts(const Operand& x, const Dims& counts) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    tensor = tensor.astype(inexact(tensor.dtype()), x.where);
    if (tensor.ndim() != counts.size() + 2 || counts.empty() || counts.size() > 3)
        throw ShapeError(text("avg_pool: x has shape ", tensor.shape(), "; ", counts,
                              " parts need (N, C, as many spatial axes, 1 to 3)", place(x.where)));
    WindowAttributes window;
    window.stride = window.dilation = Dims(counts.size(), 1), window.low = window.high = Dims(counts.size(), 0);
    window.parts = true;
    Shape result;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        Size size = tensor.shape()[i + 2];
        if (!size.known() || counts[i] < 0 || (size.value() == 0 && counts[i] > 0))
            throw ShapeError(text("avg_pool: spatial axis ", i, " of shape ", tensor.shape(), " has no ", counts[i],
                                  " parts", place(x.where)));
        std::int64_t longest = 1;
        for (std::int64_t k = 0; k < counts[i]; ++k) {
            Part part = part_of(size.value(), counts[i], k);
            longest = std::max(longest, part.end - part.first);
        }
        window.kernel.push_back(longest);
        result.push_back(counts[i]);
    }
    return make(avg_pool_operation, WindowKind::avg_pool, {tensor}, std::move(window), result, std::source_location());
}

#define WEFT_POOL(axes)                                                                             \
    Tensor max_pool##axes##d(const Operand& x, const Dims& kernel, const PoolOptions& options) {    \
        return pool_of("max_pool" #axes "d", axes, x,                                               \
                       [&](const Operand& batched) { return max_pool(batched, kernel, options); }); \
    }                                                                                               \
    Tensor avg_pool##axes##d(const Operand& x, const Dims& kernel, const PoolOptions& options) {    \
        return pool_of("avg_pool" #axes "d", axes, x,                                               \
                       [&](const Operand& batched) { return avg_pool(batched, kernel, options); }); \
    }
WEFT_POOL(1)
WEFT_POOL(2)
WEFT_POOL(3)
#undef WEFT_POOL

}  // namespace weft
