#include "weft/nn/functional/pooling.h"

#include "weft/nn/functional/batch.h"
#include "weft/nn/functional/common.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scatter.h"
#include "weft/ops/statistics.h"

namespace weft::nn::functional {
namespace {

Size plane_of(const Tensor& x, std::size_t spatial) {
    Size plane = 1;
    for (std::size_t axis = x.ndim() - spatial; axis < x.ndim(); ++axis) plane = plane * x.shape()[axis];
    return plane;
}

// The floating type of values and of as many positions: float32 holds whole numbers up to 2^24, float64 all positions that there are.
DType holding(DType values, const Size& count) {
    bool narrow = is_floating(values) && values != DType::float64 && count.known() && count.value() <= 1 << 24;
    return narrow ? DType::float32 : DType::float64;
}

// Where each element stands in its plane, in x's shape.
Tensor positions(const Tensor& x, std::size_t spatial, DType dtype) {
    Shape shape(x.shape().begin() + static_cast<std::ptrdiff_t>(x.ndim() - spatial), x.shape().end());
    return broadcast_to(reshape(astype(iota(plane_of(x, spatial)), dtype), shape), x.shape());
}

Tensor planes(const Tensor& x, std::size_t spatial) {
    return flatten(x, static_cast<std::int64_t>(x.ndim() - spatial), -1);
}

// How many elements behind the upper end (padding included) the last window of an axis may need.
std::int64_t hanging(Size size, std::int64_t kernel, std::int64_t stride, std::int64_t padding, Size out) {
    std::int64_t needed = (out.value() - 1) * stride + kernel - padding;
    return std::max<std::int64_t>(needed - size.value(), 0);
}

// One axis cut into parts: the elements of each part, the last of them again where a part is shorter than the longest.
struct Parts {
    std::int64_t count, longest;
    std::vector<std::int64_t> indices, lengths;
};
Parts parts_of(std::int64_t size, std::int64_t count) {
    Parts parts{count, 0, {}, {}};
    auto first = [&](std::int64_t i) { return i * size / count; };
    auto last = [&](std::int64_t i) { return ((i + 1) * size + count - 1) / count; };
    for (std::int64_t i = 0; i < count; ++i) parts.longest = std::max(parts.longest, last(i) - first(i));
    for (std::int64_t i = 0; i < count; ++i) {
        parts.lengths.push_back(last(i) - first(i));
        for (std::int64_t k = 0; k < parts.longest; ++k) parts.indices.push_back(std::min(first(i) + k, last(i) - 1));
    }
    return parts;
}

std::vector<Parts> all_parts(std::string_view name, const Tensor& x, std::size_t spatial, Dims sizes) {
    if (sizes.size() == 1) sizes = Dims(spatial, sizes[0]);
    if (sizes.size() != spatial)
        throw ValueError(text(name, ": output_size ", sizes, " must hold one number, or one for each of the ", spatial,
                              " spatial axes"));
    std::vector<Parts> parts;
    for (std::size_t i = 0; i < spatial; ++i) {
        std::int64_t size = known_size(name, x, x.ndim() - spatial + i);
        if (sizes[i] < -1) throw ValueError(text(name, ": output_size ", sizes, " must not be negative"));
        std::int64_t wanted = sizes[i] == -1 ? size : sizes[i];
        if (size == 0 && wanted > 0)
            throw ShapeError(text(name, ": the input has shape ", x.shape(), ", whose spatial axes must not be empty"));
        parts.push_back(parts_of(size, wanted));
    }
    return parts;
}

// Each spatial axis becomes (parts, elements of a part).
Tensor cut(Tensor x, std::size_t spatial, const std::vector<Parts>& parts) {
    std::size_t axis = x.ndim() - spatial;
    for (const Parts& along : parts) {
        x = take(x, Tensor::of(along.indices, {along.count, along.longest}), static_cast<std::int64_t>(axis));
        axis += 2;
    }
    return x;
}

void check_dtype(std::string_view name, const Operand& x) {
    DType dtype = x.as_tensor().dtype();
    if (is_complex(dtype)) throw DTypeError(text(name, ": complex numbers have no order", place(x.where)));
}

// Only the batch may be empty.
void check_elements(std::string_view name, const Operand& x, std::size_t spatial) {
    Tensor tensor = x.as_tensor();
    for (std::size_t axis = tensor.ndim() == spatial + 2 ? 1 : 0; axis < tensor.ndim(); ++axis) {
        if (tensor.shape()[axis] == Size(0))
            refuse_shape(x, text(name, ": the input has shape ", tensor.shape(), "; only a batch may be empty"));
    }
}

}  // namespace

Tensor max_pool(const Operand& x, std::size_t spatial, const Dims& kernel, const PoolOptions& options) {
    check_elements("max_pool", x, spatial);
    auto* pool = spatial == 1 ? max_pool1d : spatial == 2 ? max_pool2d : max_pool3d;
    return pool(x, kernel, options);
}

std::pair<Tensor, Tensor> max_pool_with_indices(const Operand& x, std::size_t spatial, const Dims& kernel,
                                                const PoolOptions& options) {
    LineScope line(x.where);
    check_dtype("max_pool", x);
    check_elements("max_pool", x, spatial);
    return batched2("max_pool", x, spatial, [&](const Tensor& batch) {
        Tensor values = weft::max_pool(batch, kernel, options);
        // The same windows pick positions where they pick values, in a type that holds both.
        DType both = holding(batch.dtype(), plane_of(batch, spatial));
        Tensor wide = weft::max_pool(astype(batch, both), kernel, options);
        WindowAttributes window = weft::detail::of(wide);
        window.kind = WindowKind::max_pool_select;
        Tensor places = make_node(max_pool_select_operation,
                                  {stop_gradient(weft::input_of(wide, 0)), positions(batch, spatial, both)},
                                  attributes(std::move(window)), x.where);
        return std::pair(values, astype(places, DType::int64));
    });
}

Tensor avg_pool(const Operand& x, std::size_t spatial, const Dims& kernel, const PoolOptions& options,
                std::optional<std::int64_t> divisor) {
    LineScope line(x.where);
    if (divisor == 0) refuse(x, "avg_pool: divisor_override is 0");
    return batched("avg_pool", x, spatial, [&](const Tensor& batch) {
        Tensor plain = weft::avg_pool(batch, kernel, options);
        if (!divisor) return plain;
        // Sums: means of whole windows, of what is padded by hand so that no window is cut short.
        Dims sizes = weft::detail::for_each_axis("avg_pool", "kernel", kernel, spatial, 1), before(2, 0), after(2, 0);
        Dims padding = weft::detail::for_each_axis("avg_pool", "padding", options.padding, spatial, 0);
        Dims stride = options.stride.empty()
                          ? sizes
                          : weft::detail::for_each_axis("avg_pool", "stride", options.stride, spatial, 1);
        double volume = 1;
        for (std::size_t i = 0; i < spatial; ++i) {
            volume *= static_cast<double>(sizes[i]);
            before.push_back(padding[i]);
            after.push_back(hanging(batch.shape()[i + 2], sizes[i], stride[i], padding[i], plain.shape()[i + 2]));
        }
        Tensor means = weft::avg_pool(weft::pad(floating(batch), before, after), sizes, {.stride = stride});
        Shape start(batch.ndim(), Size(0)), length = plain.shape();
        return slice(means, start, length) * (volume / static_cast<double>(*divisor));
    });
}

Tensor lp_pool(const Operand& x, std::size_t spatial, double p, const Dims& kernel, const Dims& stride,
               bool ceil_mode) {
    LineScope line(x.where);
    if (p == 0) refuse(x, "lp_pool: norm_type is 0, of which there is no root");
    double volume = 1;
    for (std::int64_t size : weft::detail::for_each_axis("lp_pool", "kernel", kernel, spatial, 1))
        volume *= static_cast<double>(size);
    Tensor powers = p == 2 ? square(floating(x)) : pow(floating(x), p);
    Tensor means = avg_pool(powers, spatial, kernel, {.stride = stride, .ceil_mode = ceil_mode});
    return pow(sign(means) * relu(abs(means)) * volume, 1 / p);
}

Tensor adaptive_avg_pool(const Operand& x, std::size_t spatial, const Dims& sizes) {
    LineScope line(x.where);
    return batched("adaptive_avg_pool", x, spatial, [&](const Tensor& batch) {
        Tensor y = floating(batch);
        std::vector<Parts> parts = all_parts("adaptive_avg_pool", y, spatial, sizes);
        auto size_of = [&](std::size_t i) { return y.shape()[2 + i].value(); };
        Dims counts;
        bool even = true;  // parts that do not overlap: means, of all there is where there is one
        for (std::size_t i = 0; i < spatial; ++i) {
            counts.push_back(parts[i].count);
            even &= counts[i] > 0 && size_of(i) % counts[i] == 0;
        }
        if (!even) return weft::avg_pool_of_parts(y, counts);
        for (std::size_t i = 0; i < spatial; ++i) {
            auto axis = static_cast<std::int64_t>(2 + i);
            Shape cut_axis = y.shape();
            cut_axis[at(axis)] = counts[i];
            cut_axis.insert(at(axis) + 1, Size(size_of(i) / counts[i]));
            y = mean(reshape(y, cut_axis), axis + 1);
        }
        return y;
    });
}

std::pair<Tensor, Tensor> adaptive_max_pool(const Operand& x, std::size_t spatial, const Dims& sizes) {
    LineScope line(x.where);
    check_dtype("adaptive_max_pool", x);
    return batched2("adaptive_max_pool", x, spatial, [&](const Tensor& batch) {
        std::vector<Parts> parts = all_parts("adaptive_max_pool", batch, spatial, sizes);
        // (N, C, parts..., elements...), and the same of the places in the plane
        Axes order = {0, 1};
        for (std::size_t i = 0; i < spatial; ++i) order.push_back(static_cast<std::int64_t>(2 + 2 * i));
        for (std::size_t i = 0; i < spatial; ++i) order.push_back(static_cast<std::int64_t>(3 + 2 * i));
        auto windows = [&](const Tensor& t) { return planes(permute_dims(cut(t, spatial, parts), order), spatial); };
        Shape one(batch.shape());
        one[0] = one[1] = 1;
        Tensor places = windows(reshape(iota(plane_of(batch, spatial)), one));
        Tensor elements = windows(stop_gradient(batch));
        Tensor best = expand_dims(argmax(elements, -1), -1);
        Shape shape = best.shape();
        shape.back() = places.shape().back();
        Tensor where_best = squeeze(take_along_axis(broadcast_to(places, shape), best, -1), {-1});
        Tensor flat = planes(batch, spatial);
        Tensor values = take_along_axis(flat, planes(where_best, spatial), -1);
        return std::pair(reshape(values, where_best.shape()), where_best);
    });
}

Tensor max_unpool(const Operand& x, const Operand& indices, std::size_t spatial, const Dims& kernel, const Dims& stride,
                  const Dims& padding, const Dims& size) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor(), places = indices.as_tensor();
    if (tensor.ndim() != spatial + 1 && tensor.ndim() != spatial + 2)
        refuse_shape(x, text("max_unpool", spatial, "d: the input has shape ", tensor.shape(), "; it needs ", spatial,
                             " spatial axes behind (N, C) or (C)"));
    if (!is_integer(places.dtype()))
        throw DTypeError(text("max_unpool: the indices are ", places.dtype(), place(x.where)));
    if (places.shape() != tensor.shape())
        refuse_shape(x, text("max_unpool: the input has shape ", tensor.shape(), ", its indices ", places.shape()));
    Dims kernels = weft::detail::for_each_axis("max_unpool", "kernel", kernel, spatial, 1);
    Dims strides = stride.empty() ? kernels : weft::detail::for_each_axis("max_unpool", "stride", stride, spatial, 1);
    Dims paddings = weft::detail::for_each_axis("max_unpool", "padding", padding, spatial, 0);
    std::size_t skipped = size.size() == spatial ? 0 : size.size() - spatial;
    if (!size.empty() && skipped != 0 && skipped != 1 && skipped != 2)
        refuse(x, text("max_unpool: output_size ", size, " must hold the ", spatial, " spatial sizes, or all"));
    Shape result = tensor.shape();
    Size plane = 1;
    for (std::size_t i = 0; i < spatial; ++i) {
        std::size_t axis = tensor.ndim() - spatial + i;
        Size usual = (tensor.shape()[axis] - 1) * strides[i] + kernels[i] - 2 * paddings[i];
        result[axis] = size.empty() ? usual : Size(size[skipped + i]);
        if (!size.empty() && usual.known() &&
            (size[skipped + i] <= usual.value() - strides[i] || size[skipped + i] >= usual.value() + strides[i]))
            refuse(x, text("max_unpool: output_size ", size, " at spatial axis ", i, " must be within ", strides[i],
                           " (the stride) of ", usual));
        plane = plane * result[axis];
    }
    Tensor flat = planes(tensor, spatial), to = astype(planes(places, spatial), DType::int64);
    Shape empty = flat.shape();
    empty.back() = plane;
    return reshape(put_along_axis(zeros(empty, tensor.dtype()), to, flat, -1), result);
}

}  // namespace weft::nn::functional
