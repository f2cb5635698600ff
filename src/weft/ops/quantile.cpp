#include "weft/ops/quantile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using enum QuantileMethod;

struct NamedMethod {
    std::string_view name;
    QuantileMethod method;
};
constexpr std::array methods{NamedMethod{"inverted_cdf", inverted_cdf},
                             NamedMethod{"averaged_inverted_cdf", averaged_inverted_cdf},
                             NamedMethod{"closest_observation", closest_observation},
                             NamedMethod{"interpolated_inverted_cdf", interpolated_inverted_cdf},
                             NamedMethod{"hazen", hazen},
                             NamedMethod{"weibull", weibull},
                             NamedMethod{"linear", linear},
                             NamedMethod{"median_unbiased", median_unbiased},
                             NamedMethod{"normal_unbiased", normal_unbiased},
                             NamedMethod{"lower", lower},
                             NamedMethod{"higher", higher},
                             NamedMethod{"midpoint", midpoint},
                             NamedMethod{"nearest", nearest}};

/// Where in the n sorted elements, counted from 0, the quantile lies: n q + alpha + q (1 - alpha - beta) - 1 (Hyndman & Fan, 1996).
Tensor place_between(const Tensor& n, const Tensor& q, double alpha, double beta) {
    if (alpha == 1 && beta == 1) return (n - 1) * q;  // which is whole where it should be
    return n * q + alpha + q * (1 - alpha - beta) - 1;
}

/// An element that stands before the place, how far the place is behind it in [0, 1].
struct Place {
    Tensor below, part;
};

Place place_of(const Tensor& n, const Tensor& q, QuantileMethod method) {
    auto between = [&](double alpha, double beta) {
        Tensor at = minimum(maximum(place_between(n, q, alpha, beta), 0), n - 1);
        return Place{floor(at), at - floor(at)};
    };
    auto whole = [](const Tensor& at) { return Place{at, zeros_like(at)}; };
    switch (method) {
        case inverted_cdf:
            return whole(maximum(ceil(n * q) - 1, 0));
        case averaged_inverted_cdf: {
            Tensor at = n * q;
            Tensor below = ceil(at) - 1;
            return {maximum(below, 0), where(logical_and(equal(at, floor(at)), at > 0), 0.5, zeros_like(at))};
        }
        case closest_observation:
            return whole(maximum(round(n * q) - 1, 0));  // counted from 1: the even one
        case interpolated_inverted_cdf:
            return between(0, 1);
        case hazen:
            return between(0.5, 0.5);
        case weibull:
            return between(0, 0);
        case linear:
            return between(1, 1);
        case median_unbiased:
            return between(1.0 / 3, 1.0 / 3);
        case normal_unbiased:
            return between(3.0 / 8, 3.0 / 8);
        case lower:
            return whole(floor((n - 1) * q));
        case higher:
            return whole(ceil((n - 1) * q));
        case midpoint: {
            Tensor at = (n - 1) * q;
            return {floor(at), where(equal(at, floor(at)), zeros_like(at), 0.5)};
        }
        case nearest:
            return whole(round((n - 1) * q));
    }
    __builtin_unreachable();
}

/// The axes joined at the end, as one.
Tensor joined_last(const Tensor& x, const Axes& joined, const std::source_location& where) {
    Axes order;
    Shape shape;
    Size count = 1;
    auto is_joined = [&](std::size_t i) {
        return std::find(joined.begin(), joined.end(), static_cast<std::int64_t>(i)) != joined.end();
    };
    for (std::size_t i = 0; i < x.ndim(); ++i) {
        if (is_joined(i))
            count = count * x.shape()[i];
        else
            order.push_back(static_cast<std::int64_t>(i)), shape.push_back(x.shape()[i]);
    }
    for (std::int64_t axis : joined) order.push_back(axis);
    shape.push_back(count);
    return reshape(Operand(permute_dims(Operand(x, where), order), where), shape);
}

void refuse_outside(const Tensor& q, double top, const std::source_location& where) {
    if (!has_numbers(q)) return;
    if (!all(logical_and(greater_equal(q, 0), less_equal(q, top)), all_axes(q.ndim())).item<bool>())
        throw ValueError(text("quantile: shares lie in [0, ", top, "]; given are ", q, place(where)));
}

/// The element below a place, and that above, as far from both as `part` says. Between equals, infinite ones too, lies what they are; from
/// the nearer end the error is the smaller.
Tensor between(const Tensor& below, const Tensor& above, const Tensor& part) {
    Tensor step = above - below;
    Tensor found = where(less(part, 0.5), below + step * part, above - step * (1 - part));
    return where(logical_or(equal(part, 0), equal(below, above)), below, found);
}

/// One linear quantile, a plain number's, along a last axis of known size: two neighbours among the sorted elements, which are selected.
/// Its place is what place_of would say.
Tensor one_along_last(const Tensor& x, double q) {
    std::int64_t size = x.shape()[x.ndim() - 1].value();
    auto n = static_cast<double>(size);
    double at = std::min((n - 1) * q, n - 1), below = std::floor(at), part = at - below;
    auto first = static_cast<std::int64_t>(below);
    if (part == 0) return sorted_part(x, first, 1);
    Tensor both = sorted_part(x, first, 2);
    std::size_t last = x.ndim() - 1;
    return between(slice_along(both, last, 0, 1), slice_along(both, last, 1, 1), full({}, part, x.dtype()));
}

/// A plain number in [0, top], as a part of top; nothing of others.
std::optional<double> plain_number(const Operand& q, double top) {
    if (!q.weak()) return std::nullopt;
    auto number = q.literal.as<double>();
    if (!(number >= 0 && number <= top)) return std::nullopt;
    return number / top;
}

/// q-quantiles along the last axis of x, sorted: (..., number of q).
Tensor along_last(const Tensor& x, const Tensor& q, const QuantileOptions& options) {
    Tensor sorted = sort(x, -1);
    DType wide = DType::float64;  // places of large arrays are no float32
    Tensor size = size_as_tensor(x.shape()[x.ndim() - 1], wide);
    Tensor count = options.ignore_nan ? sum(astype(logical_not(isnan(x)), wide), -1, true) : size;
    Place at = place_of(count, q, options.method);
    Tensor last = maximum(count - 1, 0);
    auto element = [&](const Tensor& index) {
        Tensor held = astype(minimum(maximum(index, 0), last), DType::int64);
        if (!options.ignore_nan) return take(sorted, held, -1);
        Shape shape = sorted.shape();
        shape[shape.size() - 1] = q.size();
        return take_along_axis(sorted, broadcast_to(held, shape), -1);
    };
    Tensor below = element(at.below), above = element(at.below + 1), part = astype(at.part, x.dtype());
    Tensor found = between(below, above, part);
    double nan = std::numeric_limits<double>::quiet_NaN();
    if (options.ignore_nan) return where(equal(count, 0), nan, found);
    return where(any(isnan(x), -1, true), nan, found);
}

/// `plain`: q, where it is a plain number.
Tensor quantile_of(const Operand& given, const Tensor& q, std::optional<double> plain, const Axes& axes,
                   const QuantileOptions& options) {
    Tensor x = given.as_tensor();
    if (is_complex(x.dtype()))
        throw DTypeError(text("quantile: complex numbers have no order; x is ", x.dtype(), place(given.where)));
    x = astype(given, inexact(x.dtype()));
    Axes joined = checked(given, [&] { return normalize_axes(axes, x.ndim(), "quantile"); });
    Tensor last = joined_last(x, joined, given.where);
    Shape shape = q.shape();
    for (std::size_t i = 0; i < x.ndim(); ++i) {
        bool gone = std::find(joined.begin(), joined.end(), static_cast<std::int64_t>(i)) != joined.end();
        if (!gone)
            shape.push_back(x.shape()[i]);
        else if (options.keepdims)
            shape.push_back(1);
    }
    if (last.shape()[last.ndim() - 1] == Size(0))  // of nothing: no number, as the mean
        return full(shape, std::numeric_limits<double>::quiet_NaN(), last.dtype());
    if (plain && last.shape()[last.ndim() - 1].known() && options.method == linear && !options.ignore_nan)
        return reshape(one_along_last(last, *plain), shape);
    return reshape(moveaxis(along_last(last, ravel(q), options), -1, 0), shape);
}

}  // namespace

QuantileMethod quantile_method_named(std::string_view name) {
    std::string list;
    for (const NamedMethod& known : methods) {
        if (known.name == name) return known.method;
        list += (list.empty() ? "" : ", ") + std::string(known.name);
    }
    throw ValueError(text("quantile: there is no method '", name, "'; known are ", list));
}

Tensor quantile(const Operand& x, const Operand& q, const Axes& axes, const QuantileOptions& options) {
    LineScope line(x.where);
    Tensor shares = q.weak() ? q.as(DType::float64) : astype(q, DType::float64);
    std::optional<double> plain = plain_number(q, 1);
    if (!plain) refuse_outside(shares, 1, q.where);
    return quantile_of(x, shares, plain, axes, options);
}

Tensor percentile(const Operand& x, const Operand& q, const Axes& axes, const QuantileOptions& options) {
    LineScope line(x.where);
    Tensor shares = q.weak() ? q.as(DType::float64) : astype(q, DType::float64);
    std::optional<double> plain = plain_number(q, 100);
    if (!plain) refuse_outside(shares, 100, q.where);
    return quantile_of(x, shares / 100, plain, axes, options);
}

Tensor median(const Operand& x, const Axes& axes, bool keepdims) {
    return quantile(x, Operand(0.5, x.where), axes, {.keepdims = keepdims});
}

Tensor nanmedian(const Operand& x, const Axes& axes, bool keepdims) {
    return quantile(x, Operand(0.5, x.where), axes, {.keepdims = keepdims, .ignore_nan = true});
}

WEFT_RECORD(quantile, "Numbers below which a share of the elements along axes lies.", "quantile", "quantile",
            {{{{3, 5}},
              [](auto x) {
                  return quantile(x[0], Tensor::of<double>({0, 0.3, 1}), {1});
              },
              "np.quantile(x0 + np.uint8(0), [0, 0.3, 1], axis=1)"},
             {{{3, 4, 2}},
              [](auto x) {
                  return quantile(x[0], 0.45, {0, 2}, {.method = hazen, .keepdims = true});
              },
              "np.quantile(x0 + np.uint8(0), 0.45, axis=(0, 2), method='hazen', keepdims=True)"}})
WEFT_RECORD(percentile, "Numbers below which so many of a hundred elements lie.", "percentile", "",
            {{{{7}},
              [](auto x) {
                  return percentile(x[0], Tensor::of<double>({12, 99}), {0});
              },
              "np.percentile(x0 + np.uint8(0), [12, 99])"}})
WEFT_RECORD(median, "The middle along axes.", "median", "",
            {{{{3, 4}}, [](auto x) { return median(x[0], {1}); }, "np.median(x0, axis=1)"}})

}  // namespace weft
