#include "weft/ops/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/quantile.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scatter.h"
#include "weft/ops/sort.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// How much falls into each place: `amounts` (one a place, or one for all) added up.
Tensor collected(const Tensor& places, const Tensor& amounts, std::int64_t count) {
    return scatter(zeros({count}, amounts.dtype()), places, broadcast_to(amounts, places.shape()), 0, ScatterMode::add);
}

/// The bin of each element between rising edges, and whether it has one.
struct Binned {
    Tensor bin, inside;
};

Binned binned(const Tensor& x, const Tensor& edges, std::int64_t bins) {
    Tensor last = edges[bins], first = edges[0];
    Tensor bin = searchsorted(edges, x, true) - 1;
    bin = where(equal(x, last), bins - 1, bin);  // the last bin holds its end
    return {minimum(maximum(bin, 0), bins - 1), logical_and(greater_equal(x, first), less_equal(x, last))};
}

/// Of neighbours whether the second is less, or greater; their difference might not fit the type.
Tensor falls(const Tensor& edges) {
    Size steps = edges.shape()[0] - 1;
    return less(slice(edges, {1}, {steps}), slice(edges, {0}, {steps}));
}
Tensor rises(const Tensor& edges) {
    Size steps = edges.shape()[0] - 1;
    return greater(slice(edges, {1}, {steps}), slice(edges, {0}, {steps}));
}

std::int64_t bins_of(const Tensor& edges, const std::source_location& where) {
    if (edges.ndim() != 1 || edges.shape()[0].value() < 2)
        throw ShapeError(text("histogram: edges are one axis of at least 2, not ", edges.shape(), place(where)));
    if (has_numbers(edges) && any(falls(edges), {0}).item<bool>())
        throw ValueError(text("histogram: edges must not fall; given are ", edges, place(where)));
    return edges.shape()[0].value() - 1;
}

Tensor amounts_of(const HistogramOptions& options, const Tensor& x, const std::source_location& where) {
    if (!options.weights) return Tensor(1, DType::int64);
    if (options.weights.shape() != x.shape())
        throw ShapeError(text("histogram: weights of shape ", options.weights.shape(), " for elements of shape ",
                              x.shape(), place(where)));
    return ravel(options.weights);
}

Tensor ordered(const Operand& given, std::string_view name) {
    Tensor x = given.as_tensor();
    if (is_complex(x.dtype()))
        throw DTypeError(text(name, ": complex numbers have no order; x is ", x.dtype(), place(given.where)));
    return x.dtype() == DType::bool_ ? astype(x, DType::uint8) : x;
}

/// The ends of the range as float64 tensors: never of the same place.
std::pair<Tensor, Tensor> ends(const Tensor& x, const HistogramOptions& options, const std::source_location& where) {
    Tensor low, high;
    if (options.range) {
        auto [from, to] = *options.range;
        if (!(from <= to) || !std::isfinite(from) || !std::isfinite(to))
            throw ValueError(text("histogram: the range (", from, ", ", to, ") is not one", place(where)));
        low = Tensor(from, DType::float64), high = Tensor(to, DType::float64);
    } else if (x.size() == Size(0)) {
        low = Tensor(0.0, DType::float64), high = Tensor(1.0, DType::float64);
    } else {
        low = astype(min(x, all_axes(x.ndim())), DType::float64),
        high = astype(max(x, all_axes(x.ndim())), DType::float64);
        if (has_numbers(x) && !logical_and(isfinite(low), isfinite(high)).item<bool>())
            throw ValueError(text("histogram: the elements reach from ", low, " to ", high,
                                  "; say a range of finite numbers", place(where)));
    }
    Tensor half = weft::where(equal(low, high), 0.5, zeros_like(low));
    return {low - half, high + half};
}

Tensor edges_between(const Tensor& low, const Tensor& high, std::int64_t bins, DType dtype) {
    Tensor k = astype(iota(bins + 1), DType::float64);
    return astype(where(equal(k, bins), high, low + k * ((high - low) / bins)), dtype);
}

/// How many bins a rule wants for these elements (rising) between the ends of their range.
std::int64_t bins_by(std::string_view rule, const std::vector<double>& x, double low, double high, bool whole) {
    auto n = static_cast<double>(x.size());
    double mean = 0, spread = 0, skew = 0;
    for (double value : x) mean += value / n;
    for (double value : x) spread += (value - mean) * (value - mean) / n;
    double deviation = std::sqrt(spread);
    for (double value : x) skew += deviation > 0 ? std::pow((value - mean) / deviation, 3) / n : 0;
    auto quantile_at = [&](double q) {
        double at = q * (n - 1);
        auto i = static_cast<std::size_t>(at);
        return i + 1 < x.size() ? x[i] + (x[i + 1] - x[i]) * (at - static_cast<double>(i)) : x[i];
    };
    double reach = x.back() - x.front(), width = 0;
    double sturges = reach / (std::log2(n) + 1), root = reach / std::sqrt(n);
    double fd = 2 * (quantile_at(0.75) - quantile_at(0.25)) / std::cbrt(n);
    if (rule == "sturges") width = sturges;
    if (rule == "sqrt") width = root;
    if (rule == "rice") width = reach / (2 * std::cbrt(n));
    if (rule == "scott") width = std::cbrt(24 * std::sqrt(3.14159265358979323846) / n) * deviation;
    if (rule == "fd") width = fd;
    if (rule == "auto") width = std::min(std::max(fd, root / 2), sturges);
    if (rule == "doane" && n > 2 && deviation > 0)
        width =
            reach / (1 + std::log2(n) + std::log2(1 + std::abs(skew) / std::sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))));
    if (width == 0) return 1;
    if (whole && width < 1) width = 1;
    return static_cast<std::int64_t>(std::ceil((high - low) / width));
}

std::vector<double> elements_within(const Tensor& x, double low, double high) {
    std::vector<double> kept;
    for (double value : astype(x, DType::float64).to_vector<double>())
        if (value >= low && value <= high) kept.push_back(value);
    std::sort(kept.begin(), kept.end());
    return kept;
}

Tensor counted(const Tensor& bin, const Tensor& inside, const Tensor& amounts, std::int64_t bins) {
    return collected(bin, where(inside, amounts, zeros({}, amounts.dtype())), bins);
}

}  // namespace

Tensor bincount(const Operand& given, const Tensor& weights, std::int64_t minlength) {
    LineScope line(given.where);
    Tensor x = given.as_tensor();
    if (x.shape() == Shape{0}) x = astype(x, DType::int64);  // of nothing, whatever its type
    if (!is_integer(x.dtype()) && x.dtype() != DType::bool_)
        throw DTypeError(text("bincount: counts whole numbers, not ", x.dtype(), place(given.where)));
    if (x.ndim() != 1)
        throw ShapeError(text("bincount: takes one axis, not the shape ", x.shape(), place(given.where)));
    if (minlength < 0)
        throw ValueError(text("bincount: minlength is ", minlength, "; it must not be negative", place(given.where)));
    if (weights && weights.shape() != x.shape())
        throw ShapeError(text("bincount: weights of shape ", weights.shape(), " for ", x.shape(), place(given.where)));
    if (!has_numbers(x))
        throw ValueError(text(
            "bincount: how many places there are is not known before x is computed, and here it is only declared; ",
            "sum(one_hot(x, places), 0) says how many", place(given.where)));
    std::int64_t most = -1, least = 0;
    for (std::int64_t value : astype(x, DType::int64).to_vector<std::int64_t>())
        most = std::max(most, value), least = std::min(least, value);
    if (least < 0) throw ValueError(text("bincount: ", least, " is negative", place(given.where)));
    if (most > (std::int64_t{1} << 40))
        throw OutOfMemory(text("bincount: of numbers up to ", most, place(given.where)));
    Tensor amounts = weights ? astype(weights, inexact(weights.dtype())) : Tensor(1, DType::int64);
    return collected(astype(x, DType::int64), amounts, std::max(most + 1, minlength));
}

Tensor digitize(const Operand& given, const Operand& bins, bool right) {
    LineScope line(given.where);
    Tensor x = ordered(given, "digitize"), edges = ordered(bins, "digitize");
    if (edges.ndim() != 1)
        throw ShapeError(text("digitize: bins are one axis, not ", edges.shape(), place(bins.where)));
    DType meet = promote(x.dtype(), edges.dtype());
    x = astype(x, meet), edges = astype(edges, meet);
    Size count = edges.shape()[0];
    if (count.known() && count.value() < 2) return searchsorted(edges, x, !right);
    if (!has_numbers(edges)) {  // which way they go is seen when they are there
        Tensor number = size_as_tensor(count, DType::int64), at = iota(count);
        auto edge = [&](const Tensor& where_it_stands) { return sum(where(where_it_stands, edges, 0)); };  // of none: 0
        Tensor fall = less(edge(at == number - 1), edge(at == 0));
        Tensor place = searchsorted(where(fall, flip(edges), edges), x, !right);
        return where(fall, number - place, place);
    }
    if (!any(falls(edges), {0}).item<bool>()) return searchsorted(edges, x, !right);
    if (any(rises(edges), {0}).item<bool>())
        throw ValueError(text("digitize: bins must rise or fall; given are ", edges, place(bins.where)));
    return count.value() - searchsorted(flip(edges), x, !right);
}

Tensor histogram_bin_edges(const Operand& given, std::int64_t bins, const HistogramOptions& options) {
    LineScope line(given.where);
    Tensor x = ordered(given, "histogram");
    if (bins < 1) throw ValueError(text("histogram: ", bins, " bins; there must be one", place(given.where)));
    auto [low, high] = ends(x, options, given.where);
    return edges_between(low, high, bins, inexact(x.dtype()));
}

Tensor histogram_bin_edges(const Operand& given, std::string_view rule, const HistogramOptions& options) {
    LineScope line(given.where);
    constexpr std::array rules{"auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"};
    Tensor x = ordered(given, "histogram");
    if (std::find(rules.begin(), rules.end(), rule) == rules.end())
        throw ValueError(text("histogram: there is no rule '", rule,
                              "'; known are auto, doane, fd, rice, scott, sqrt, sturges", place(given.where)));
    if (options.weights)
        throw ValueError(text("histogram: rules count elements, not weights; say how many bins", place(given.where)));
    auto [low, high] = ends(x, options, given.where);
    double from = low.item<double>(), to = high.item<double>();
    std::vector<double> kept = elements_within(x, from, to);
    std::int64_t bins = kept.empty() ? 1 : bins_by(rule, kept, from, to, is_integer(x.dtype()));
    return edges_between(low, high, bins, inexact(x.dtype()));
}

std::pair<Tensor, Tensor> histogram(const Operand& given, const Operand& limits, const HistogramOptions& options) {
    LineScope line(given.where);
    Tensor x = ordered(given, "histogram"), edges = ordered(limits, "histogram"),
           amounts = amounts_of(options, x, given.where);
    std::int64_t bins = bins_of(edges, limits.where);
    DType meet = promote(x.dtype(), edges.dtype());
    auto [bin, inside] = binned(astype(ravel(x), meet), astype(edges, meet), bins);
    Tensor counts = counted(bin, inside, amounts, bins);
    if (!options.density) return {counts, edges};
    Tensor widths = diff(astype(edges, inexact(edges.dtype())));
    return {astype(counts, promote(widths.dtype(), inexact(counts.dtype()))) / sum(counts, {0}) / widths, edges};
}

std::pair<Tensor, Tensor> histogram(const Operand& x, std::int64_t bins, const HistogramOptions& options) {
    return histogram(x, Operand(histogram_bin_edges(x, bins, options), x.where), options);
}

Tensor histogramdd(const Operand& given, std::span<const Tensor> edges, const HistogramOptions& options) {
    LineScope line(given.where);
    Tensor sample = ordered(given, "histogramdd");
    if (sample.ndim() != 2 || !(sample.shape()[1] == Size(static_cast<std::int64_t>(edges.size()))))
        throw ShapeError(text("histogramdd: points of shape (N, ", edges.size(), ") for as many edges, not ",
                              sample.shape(), place(given.where)));
    std::int64_t count = 1;
    Tensor at = zeros({sample.shape()[0]}, DType::int64), inside = astype(ones({sample.shape()[0]}), DType::bool_);
    Shape shape;
    Tensor volume(1.0F);
    for (std::size_t d = 0; d < edges.size(); ++d) {
        std::int64_t bins = bins_of(edges[d], given.where);
        DType meet = promote(sample.dtype(), edges[d].dtype());
        Tensor column = sample[{slice(), static_cast<std::int64_t>(d)}];
        auto [bin, within] = binned(astype(column, meet), astype(edges[d], meet), bins);
        at = at * bins + bin, inside = logical_and(inside, within);
        count *= bins;
        shape.push_back(bins);
        volume = expand_dims(volume, -1) * diff(astype(edges[d], inexact(edges[d].dtype())));
    }
    Tensor amounts = options.weights ? astype(amounts_of(options, sample[{slice(), 0}], given.where),
                                              inexact(options.weights.dtype()))
                                     : Tensor(1.0F);
    Tensor counts = reshape(counted(at, inside, amounts, count), shape);
    return options.density ? counts / sum(counts, all_axes(counts.ndim())) / volume : counts;
}

WEFT_RECORD(digitize, "The number of the bin that holds each element.", "digitize", "bucketize",
            {{{{3, 4}},
              [](auto x) {
                  return digitize(x[0], Tensor::of<float>({-1, 0, 2}));
              },
              "np.digitize(x0, [-1, 0, 2])"},
             {{{9}},
              [](auto x) {
                  return digitize(x[0], Tensor::of<float>({2, 0, -1}), true);
              },
              "np.digitize(x0, [2, 0, -1], right=True)"}})
WEFT_RECORD(histogram, "How many elements lie in each bin.", "histogram", "histogram",
            {{{{30}}, [](auto x) { return histogram(x[0], 4).first; }, "np.histogram(x0, 4)[0]"},
             {{{5, 6}},
              [](auto x) {
                  return histogram(x[0], Tensor::of<float>({-2, 0.5, 1, 3})).first;
              },
              "np.histogram(x0, [-2, 0.5, 1, 3])[0]"}})

}  // namespace weft
