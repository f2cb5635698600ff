// Sampling at any point, and the grids of affine maps (Jaderberg et al., 2015).
#include <vector>

#include "weft/nn/functional/common.h"
#include "weft/nn/functional/image.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"

namespace weft::nn::functional {
namespace {

enum class Outside { zeros, border, reflection };

// A coordinate that leaves [low / 2, high / 2] comes back from the nearer end.
Tensor reflected(const Tensor& x, std::int64_t low, std::int64_t high) {
    if (low == high) return x * 0;
    double least = static_cast<double>(low) / 2, span = static_cast<double>(high - low) / 2;
    Tensor distance = abs(x - least), turns = stop_gradient(floor(distance / span));
    Tensor rest = distance - turns * span;
    return where(remainder(turns, 2) == 0, rest + least, span - rest + least);
}

// One spatial axis of the image.
struct Along {
    std::int64_t size;
    Outside outside;
    bool corners;

    Tensor unnormalized(const Tensor& x) const {
        double n = static_cast<double>(size);
        return corners ? (x + 1) * ((n - 1) / 2) : ((x + 1) * n - 1) / 2;
    }
    // Held inside as the padding mode says; outside stays outside for zeros.
    Tensor held(Tensor x) const {
        x = where(isnan(x), -1, x);
        if (outside == Outside::zeros) return x;
        if (outside == Outside::reflection)
            x = corners ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1);
        return clip(x, 0, size - 1);
    }
};

// An element along one axis and its weight: indices inside the axis, of a weight of 0 where they were not.
struct Tap {
    Tensor index, weight;
};

Tap tap(const Along& along, const Tensor& place, const Tensor& weight) {
    Tensor whole = stop_gradient(place);
    Tensor inside = (whole >= 0) & (whole <= along.size - 1);
    Tensor index = astype(clip(where(isnan(whole), 0, whole), 0, along.size - 1), DType::int64);
    return {index, where(inside, weight, 0)};
}

std::vector<Tap> taps_of(const Along& along, const Tensor& coordinate, std::string_view mode) {
    Tensor x = along.unnormalized(coordinate);
    if (mode == "bicubic") {
        Tensor low = stop_gradient(floor(x)), t = x - low;
        constexpr double a = -0.75;
        auto near = [&](const Tensor& d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
        auto far = [&](const Tensor& d) { return (((d - 5) * d + 8) * d - 4) * a; };
        Tensor weights[4] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
        std::vector<Tap> taps;
        for (int k = 0; k < 4; ++k) taps.push_back(tap(along, along.held(low + (k - 1)), weights[k]));
        return taps;
    }
    x = along.held(x);
    if (mode == "nearest") return {tap(along, round(x), ones_like(x))};
    Tensor low = stop_gradient(floor(x)), part = x - low;
    return {tap(along, low, 1 - part), tap(along, low + 1, part)};
}

void check_grid(const Operand& x, const Tensor& image, const Tensor& grid, std::string_view mode) {
    std::size_t spatial = image.ndim() - 2;
    bool fits = (spatial == 2 || spatial == 3) && grid.ndim() == image.ndim() &&
                may_equal(grid.shape()[0], image.shape()[0]) && may_equal(grid.shape().back(), Size(spatial));
    if (!fits)
        refuse_shape(x, text("grid_sample: an input of shape ", image.shape(), " and a grid of shape ", grid.shape(),
                             "; they must be (N, C, H, W) and (N, h, w, 2), or (N, C, D, H, W) and (N, d, h, w, 3)"));
    if (mode != "bilinear" && mode != "nearest" && mode != "bicubic")
        refuse(x, text("grid_sample: mode is 'bilinear', 'nearest' or 'bicubic', not '", mode, "'"));
}

}  // namespace

Tensor grid_sample(const Operand& x, const Operand& grid, std::string_view mode, std::string_view padding_mode,
                   bool align_corners) {
    LineScope line(x.where);
    Tensor image = floating(x), points = floating(grid);
    if (image.ndim() < 3) refuse_shape(x, text("grid_sample: the input has shape ", image.shape()));
    check_grid(x, image, points, mode);
    if (padding_mode != "zeros" && padding_mode != "border" && padding_mode != "reflection")
        refuse(x, text("grid_sample: padding_mode is 'zeros', 'border' or 'reflection', not '", padding_mode, "'"));
    Outside outside = padding_mode == "zeros"    ? Outside::zeros
                      : padding_mode == "border" ? Outside::border
                                                 : Outside::reflection;
    std::size_t spatial = image.ndim() - 2;
    Size count = 1;
    for (std::size_t i = 0; i < spatial; ++i) count = count * points.shape()[i + 1];
    points = reshape(points, {points.shape()[0], count, spatial});
    Tensor flat = flatten(image, 2);
    // Combinations of one tap of each axis, with the place in the plane so far.
    std::vector<Tap> all;
    for (std::size_t i = 0; i < spatial; ++i) {
        Along along{known_size("grid_sample", image, i + 2), outside, align_corners};
        if (along.size < 1)
            refuse_shape(x, text("grid_sample: the input has shape ", image.shape(), ", without pixels"));
        Tensor coordinate = squeeze(slice(points, {0, 0, spatial - 1 - i}, {points.shape()[0], count, 1}), {2});
        std::vector<Tap> here = taps_of(along, coordinate, mode), joined;
        for (const Tap& before : all)
            for (const Tap& tap : here)
                joined.push_back({before.index * along.size + tap.index, before.weight * tap.weight});
        all = all.empty() ? here : joined;
    }
    Tensor result;
    for (const Tap& tap : all) {
        Tensor value = take_along_axis(flat, expand_dims(tap.index, 1), 2);
        Tensor part = value * expand_dims(tap.weight, 1);
        result = result ? result + part : part;
    }
    Shape shape = {image.shape()[0], image.shape()[1]};
    for (std::size_t i = 0; i < spatial; ++i) shape.push_back(grid.as_tensor().shape()[i + 1]);
    return reshape(result, shape);
}

Tensor affine_grid(const Operand& theta, const Dims& size, bool align_corners) {
    LineScope line(theta.where);
    Tensor map = floating(theta);
    std::size_t spatial = size.size() < 2 ? 0 : size.size() - 2;
    Shape wanted = {size.empty() ? Size(0) : Size(size[0]), Size(spatial), Size(spatial + 1)};
    if ((spatial != 2 && spatial != 3) || map.ndim() != 3 || map.shape() != wanted)
        refuse_shape(theta, text("affine_grid: theta has shape ", map.shape(), " for a size of ", size,
                                 "; they must be (N, 2, 3) and (N, C, H, W), or (N, 3, 4) and (N, C, D, H, W)"));
    for (std::int64_t n : size)
        if (n < 1) refuse(theta, text("affine_grid: the size ", size, " must be above 0"));
    Shape shape(size.begin() + 2, size.end());
    std::vector<Tensor> columns;
    for (std::size_t i = spatial; i-- > 0;) {  // x is the last axis
        std::int64_t n = size[i + 2];
        Shape row(spatial, Size(1));
        row[i] = n;
        double last = align_corners ? 1 : static_cast<double>(n - 1) / static_cast<double>(n);
        Tensor places = n == 1 ? zeros({1}, map.dtype()) : linspace(-last, last, n, map.dtype());
        columns.push_back(broadcast_to(reshape(places, row), shape));
    }
    columns.push_back(ones(shape, map.dtype()));
    Size count = element_count(shape);
    Tensor base = reshape(stack(columns, -1), {count, spatial + 1});
    Shape result = {size[0]};
    for (Size n : shape) result.push_back(n);
    result.push_back(spatial);
    return reshape(matmul(base, matrix_transpose(map)), result);
}

}  // namespace weft::nn::functional
