// Resampling: each axis by itself is a sum of a few of its elements, weighted. Which, and the weights, are known when the expression is
// written.
#include <algorithm>
#include <cmath>

#include "weft/nn/functional/common.h"
#include "weft/nn/functional/image.h"
#include "weft/nn/functional/pooling.h"
#include "weft/ops/gather.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::nn::functional {
namespace {

// Element i of the result is the sum over k < taps of weights[i][k] * x[indices[i][k]].
struct Taps {
    std::int64_t count, taps;
    std::vector<std::int64_t> indices;
    std::vector<double> weights;
    void add(std::int64_t index, double weight) { indices.push_back(index), weights.push_back(weight); }
};

// Along an axis: `from` elements become `to`, `step` elements of the source apart.
struct Axis {
    std::int64_t from, to;
    double step;
    bool corners = false;
    double place(std::int64_t i) const {  // in the source, of the centre of element i
        return corners ? static_cast<double>(i) * step : (static_cast<double>(i) + 0.5) * step - 0.5;
    }
    std::int64_t held(std::int64_t i) const { return std::clamp<std::int64_t>(i, 0, from - 1); }
};

Taps nearest(const Axis& axis, bool exact) {
    Taps taps{axis.to, 1, {}, {}};
    for (std::int64_t i = 0; i < axis.to; ++i) {
        double at = exact ? (static_cast<double>(i) + 0.5) * axis.step : static_cast<double>(i) * axis.step;
        taps.add(axis.held(static_cast<std::int64_t>(std::floor(static_cast<float>(at)))), 1);
    }
    return taps;
}

Taps linear_taps(const Axis& axis) {
    Taps taps{axis.to, 2, {}, {}};
    for (std::int64_t i = 0; i < axis.to; ++i) {
        double at = std::max(axis.place(i), 0.0);
        std::int64_t low = axis.held(static_cast<std::int64_t>(at));
        double part = std::clamp(at - static_cast<double>(low), 0.0, 1.0);
        taps.add(low, 1 - part), taps.add(axis.held(low + 1), part);
    }
    return taps;
}

// The cubic convolution kernel (Keys, 1981).
double cubic(double x, double a) {
    x = std::abs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

Taps cubic_taps(const Axis& axis) {
    Taps taps{axis.to, 4, {}, {}};
    for (std::int64_t i = 0; i < axis.to; ++i) {
        double at = axis.place(i), low = std::floor(at);
        for (int k = -1; k <= 2; ++k)
            taps.add(axis.held(static_cast<std::int64_t>(low) + k), cubic(at - low - k, -0.75));
    }
    return taps;
}

// A kernel (triangle or cubic) as wide as a step of the result, where that is larger than one of the source.
Taps antialiased(const Axis& axis, bool is_cubic) {
    double stretch = std::max(axis.step, 1.0), reach = (is_cubic ? 2.0 : 1.0) * stretch;
    auto most = static_cast<std::int64_t>(std::ceil(reach)) * 2 + 1;
    Taps taps{axis.to, most, {}, {}};
    for (std::int64_t i = 0; i < axis.to; ++i) {
        double centre = axis.step * (static_cast<double>(i) + 0.5), total = 0;
        auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - reach + 0.5), 0);
        auto last = std::min<std::int64_t>(static_cast<std::int64_t>(centre + reach + 0.5), axis.from);
        std::vector<double> weights;
        for (std::int64_t j = first; j < last; ++j) {
            double x = (static_cast<double>(j) - centre + 0.5) / stretch;
            weights.push_back(is_cubic ? cubic(x, -0.5) : std::max(1 - std::abs(x), 0.0));
            total += weights.back();
        }
        for (std::int64_t k = 0; k < most; ++k) {
            bool inside = k < last - first;
            taps.add(axis.held(first + k), inside && total != 0 ? weights[at(k)] / total : 0);
        }
    }
    return taps;
}

// Each number `count` times, one after the other: what `take` gives for these indices, but read and differentiated in order.
Tensor repeated(const Tensor& x, std::size_t axis, std::int64_t count) {
    Shape wide = x.shape(), joined = x.shape();
    wide.insert(axis + 1, Size(count));
    joined[axis] = joined[axis] * Size(count);
    return reshape(broadcast_to(expand_dims(x, static_cast<std::int64_t>(axis) + 1), wide), joined);
}

Tensor resampled(const Tensor& x, std::size_t axis, const Taps& taps) {
    auto along = static_cast<std::int64_t>(axis);
    if (taps.taps == 1) return take(x, Tensor::of(taps.indices, {taps.count}), along);
    Shape column(x.ndim(), Size(1));
    column[axis] = taps.count;
    Tensor result;
    for (std::int64_t k = 0; k < taps.taps; ++k) {
        std::vector<std::int64_t> indices;
        std::vector<double> weights;
        for (std::int64_t i = 0; i < taps.count; ++i) {
            indices.push_back(taps.indices[at(i * taps.taps + k)]);
            weights.push_back(taps.weights[at(i * taps.taps + k)]);
        }
        Tensor part = take(x, Tensor::of(indices, {taps.count}), along) *
                      reshape(astype(Tensor::of(weights, {taps.count}), x.dtype()), column);
        result = result ? result + part : part;
    }
    return result;
}

struct Plan {
    Dims sizes;
    std::vector<double> factors;  // empty: places follow from the sizes
};

Plan plan_of(const Operand& x, const Tensor& tensor, const InterpolateOptions& options) {
    std::size_t spatial = tensor.ndim() - 2;
    if (options.size.empty() == options.scale_factor.empty())
        refuse(x, "interpolate: either size or scale_factor must be given, and not both");
    if (!options.size.empty()) {
        if (options.recompute_scale_factor)
            refuse(x, "interpolate: recompute_scale_factor needs scale_factor, but size is given");
        return {weft::detail::for_each_axis("interpolate", "size", options.size, spatial, 1), {}};
    }
    Plan plan{{}, options.scale_factor};
    if (plan.factors.size() == 1) plan.factors.resize(spatial, plan.factors[0]);
    if (plan.factors.size() != spatial)
        refuse(x,
               text("interpolate: scale_factor has ", plan.factors.size(), " numbers for ", spatial, " spatial axes"));
    for (std::size_t i = 0; i < spatial; ++i) {
        double size = std::floor(static_cast<double>(known_size("interpolate", tensor, i + 2)) * plan.factors[i]);
        if (!(size >= 1 && size < 9e15))
            refuse(x, text("interpolate: a scale_factor of ", plan.factors[i], " leaves no pixels of shape ",
                           tensor.shape()));
        plan.sizes.push_back(static_cast<std::int64_t>(size));
    }
    if (options.recompute_scale_factor) plan.factors.clear();
    return plan;
}

void check_mode(const Operand& x, const Tensor& tensor, const InterpolateOptions& options) {
    std::string_view mode = options.mode;
    std::size_t spatial = tensor.ndim() - 2;
    bool smooth = mode == "linear" || mode == "bilinear" || mode == "trilinear" || mode == "bicubic";
    if (!smooth && mode != "nearest" && mode != "nearest-exact" && mode != "area")
        refuse(x, text("interpolate: mode is nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area, "
                       "not '",
                       mode, "'"));
    std::size_t wanted = mode == "linear" ? 1 : mode == "trilinear" ? 3 : 2;
    if (smooth && spatial != wanted)
        refuse(x, text("interpolate: mode '", mode, "' is for ", wanted, " spatial axes; the input has shape ",
                       tensor.shape()));
    if (!smooth && options.align_corners)
        refuse(x, text("interpolate: align_corners is for the linear and cubic modes, not '", mode, "'"));
    if (options.antialias && mode != "bilinear" && mode != "bicubic")
        refuse(x, text("interpolate: antialias is for bilinear and bicubic, not '", mode, "'"));
}

}  // namespace

Tensor interpolate(const Operand& x, const InterpolateOptions& options) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() < 3 || tensor.ndim() > 5)
        refuse_shape(x, text("interpolate: the input has shape ", tensor.shape(), "; it needs (N, C, 1 to 3 spatial)"));
    check_mode(x, tensor, options);
    Plan plan = plan_of(x, tensor, options);
    std::size_t spatial = tensor.ndim() - 2;
    if (options.mode == "area") return adaptive_avg_pool(tensor, spatial, plan.sizes);
    bool is_nearest = options.mode == "nearest" || options.mode == "nearest-exact";
    if (!is_nearest) tensor = floating(tensor);
    bool corners = options.align_corners.value_or(false);
    for (std::size_t i = 0; i < spatial; ++i) {
        std::int64_t from = known_size("interpolate", tensor, i + 2), to = plan.sizes[i];
        if (from < 1) refuse_shape(x, text("interpolate: the input has shape ", tensor.shape(), ", without pixels"));
        double step = corners ? (to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0)
                      : !plan.factors.empty() ? 1 / plan.factors[i]
                                              : static_cast<double>(from) / static_cast<double>(to);
        Axis axis{from, to, step, corners};
        if (options.mode == "nearest" && to % from == 0 &&
            step * static_cast<double>(to) == static_cast<double>(from)) {
            tensor = repeated(tensor, i + 2, to / from);
            continue;
        }
        bool is_cubic = options.mode == "bicubic";
        Taps taps = is_nearest          ? nearest(axis, options.mode == "nearest-exact")
                    : options.antialias ? antialiased(axis, is_cubic)
                    : is_cubic          ? cubic_taps(axis)
                                        : linear_taps(axis);
        tensor = resampled(tensor, i + 2, taps);
    }
    return tensor;
}

}  // namespace weft::nn::functional
