#include "weft/ops/signal.h"

#include <algorithm>
#include <cmath>

#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

void refuse_none(const Tensor& x, std::string_view name, const std::source_location& where) {
    if (x.ndim() != 1) throw ShapeError(text(name, ": takes vectors, not the shape ", x.shape(), place(where)));
    if (x.shape()[0] == Size(0)) throw ValueError(text(name, ": of a vector without elements", place(where)));
}

/// sum_m a[n + m] v[m] for the places where v lies within a, which is as long at least.
Tensor slid(const Tensor& a, const Tensor& v) {
    if (is_floating(a.dtype()))
        return reshape(convolution(reshape(a, {1, 1, a.shape()[0]}), reshape(v, {1, 1, v.shape()[0]})), {-1});
    Tensor at = iota(a.shape()[0].value() - v.shape()[0].value() + 1), step = iota(v.shape()[0]);
    Tensor windows = take(a, expand_dims(at, 1) + step, 0);
    return a.dtype() == DType::bool_ ? any(logical_and(windows, v), {1}) : astype(sum(windows * v, {1}), a.dtype());
}

/// sum_m a[n + m] v[m]: v slides over a, which is at least as long, as far as the mode says.
Tensor overlapping(const Tensor& a, const Tensor& v, Overlap mode) {
    std::int64_t more = v.shape()[0].value() - 1;
    if (mode == Overlap::valid || more == 0) return slid(a, v);
    std::int64_t front = mode == Overlap::full ? more : more - more / 2;
    return slid(pad(a, {front}, {mode == Overlap::full ? more : more / 2}), v);
}

std::pair<Tensor, Tensor> met(const Operand& a, const Operand& v, std::string_view name) {
    Tensor x = a.as_tensor(), y = v.as_tensor();
    if (x.ndim() == 0) x = reshape(x, {1});  // a number is a vector of one
    if (y.ndim() == 0) y = reshape(y, {1});
    refuse_none(x, name, a.where), refuse_none(y, name, v.where);
    DType meet = promote(x.dtype(), y.dtype());
    return {astype(x, meet), astype(y, meet)};
}

/// A vector of numbers along one axis of x.
Tensor laid_along(const Tensor& vector, const Tensor& x, std::size_t axis) {
    Shape shape(x.ndim(), 1);
    shape[axis] = vector.shape()[0];
    return reshape(vector, shape);
}

}  // namespace

Overlap overlap_named(std::string_view name) {
    if (name == "full") return Overlap::full;
    if (name == "same") return Overlap::same;
    if (name == "valid") return Overlap::valid;
    throw ValueError(text("convolve: there is no mode '", name, "'; known are full, same, valid"));
}

Tensor convolve(const Operand& a, const Operand& v, Overlap mode) {
    LineScope line(a.where);
    auto [x, y] = met(a, v, "convolve");
    if (x.shape()[0].value() < y.shape()[0].value()) std::swap(x, y);
    return overlapping(x, flip(y), mode);
}

Tensor correlate(const Operand& a, const Operand& v, Overlap mode) {
    LineScope line(a.where);
    auto [x, y] = met(a, v, "correlate");
    if (is_complex(y.dtype())) y = conj(y);
    if (x.shape()[0].value() >= y.shape()[0].value()) return overlapping(x, y, mode);
    return flip(overlapping(y, x, mode));  // the longer stays in place: the places are then counted the other way
}

Tensor interp(const Operand& x, const Operand& xp, const Operand& fp, const InterpOptions& options) {
    LineScope line(x.where);
    Tensor points = xp.as_tensor(), values = fp.as_tensor(), at = x.as_tensor();
    if (points.ndim() != 1 || values.ndim() != 1 || points.shape() != values.shape())
        throw ShapeError(text("interp: points and values are vectors of one size, not ", points.shape(), " and ",
                              values.shape(), place(xp.where)));
    refuse_none(points, "interp", xp.where);
    DType meet = inexact(promote(points.dtype(), at.dtype()));
    points = astype(points, meet), at = astype(at, meet),
    values = astype(values, promote(inexact(values.dtype()), meet));
    if (options.period) {
        double period = *options.period;
        if (period == 0) throw ValueError(text("interp: a period of 0", place(x.where)));
        points = remainder(points, std::abs(period)), at = remainder(at, std::abs(period));
        Tensor order = argsort(points);
        points = take(points, order), values = take(values, order);
        points = concatenate(
            {points[{slice(-1, {})}] - std::abs(period), points, points[{slice({}, 1)}] + std::abs(period)});
        values = concatenate({values[{slice(-1, {})}], values, values[{slice({}, 1)}]});
    }
    std::int64_t n = points.shape()[0].value();
    Tensor right = minimum(maximum(searchsorted(points, at, true), std::min<std::int64_t>(n - 1, 1)), n - 1);
    Tensor left = maximum(right - 1, 0);
    Tensor x0 = take(points, left), x1 = take(points, right), y0 = take(values, left), y1 = take(values, right);
    Tensor step = where(equal(x0, x1), 1, x1 - x0);
    Tensor found = y0 + (y1 - y0) * ((at - x0) / step);
    Tensor first = options.left ? full({}, *options.left, found.dtype()) : values[0];
    Tensor last = options.right ? full({}, *options.right, found.dtype()) : values[-1];
    if (options.period) return found;
    return where(isnan(at), at,
                 where(less(at, points[0]), first,
                       where(greater(at, points[-1]), last, where(equal(at, points[-1]), values[-1], found))));
}

namespace {

Tensor trapezoids(const Tensor& y, const Tensor& steps, std::size_t axis) {
    std::int64_t n = std::max<std::int64_t>(y.shape()[axis].value() - 1, 0);
    Tensor left = slice_along(y, axis, 0, n), right = slice_along(y, axis, n == 0 ? 0 : 1, n);
    return sum(steps * (left + right) / 2, Axes{static_cast<std::int64_t>(axis)});
}

}  // namespace

Tensor trapezoid(const Operand& y, double dx, std::int64_t axis) {
    LineScope line(y.where);
    Tensor tensor = astype(y, inexact(y.as_tensor().dtype()));
    auto at = static_cast<std::size_t>(checked_axis(y, axis, tensor.ndim(), "trapezoid"));
    return trapezoids(tensor, full({}, dx, tensor.dtype()), at);
}

Tensor trapezoid(const Operand& y, const Operand& x, std::int64_t axis) {
    LineScope line(y.where);
    Tensor tensor = astype(y, inexact(y.as_tensor().dtype())), points = astype(x, inexact(x.as_tensor().dtype()));
    auto at = static_cast<std::size_t>(checked_axis(y, axis, tensor.ndim(), "trapezoid"));
    if (points.ndim() == 1) {
        if (!may_equal(points.shape()[0], tensor.shape()[at]))
            throw ShapeError(
                text("trapezoid: ", points.shape(), " points for axis ", axis, " of ", tensor.shape(), place(x.where)));
        return trapezoids(tensor, laid_along(diff(points), tensor, at), at);
    }
    return trapezoids(tensor, diff(points, axis), at);
}

Tensor differences(const Operand& given, const Operand& spacing, std::int64_t axis, int edge_order) {
    LineScope line(given.where);
    Tensor f = astype(given, inexact(given.as_tensor().dtype()));
    auto at = static_cast<std::size_t>(checked_axis(given, axis, f.ndim(), "gradient"));
    std::int64_t n = f.shape()[at].value();
    if (edge_order != 1 && edge_order != 2)
        throw ValueError(text("gradient: edge_order is 1 or 2, not ", edge_order, place(given.where)));
    if (n < edge_order + 1)
        throw ValueError(text("gradient: axis ", axis, " has ", n, " points; edge_order ", edge_order, " wants ",
                              edge_order + 1, place(given.where)));
    Tensor step = spacing.weak() ? spacing.as(f.dtype()) : spacing.tensor;
    if (step.ndim() > 1 || (step.ndim() == 1 && !may_equal(step.shape()[0], n)))
        throw ShapeError(text("gradient: distances of shape ", step.shape(), " for the ", n, " points of axis ", axis,
                              place(spacing.where)));
    Tensor h = astype(step.ndim() == 0 ? broadcast_to(step, {n - 1}) : diff(step), f.dtype());
    step = astype(step, f.dtype());
    auto distance = [&](std::int64_t i) { return h[i < 0 ? n - 1 + i : i]; };
    auto point = [&](std::int64_t i) { return slice_along(f, at, i < 0 ? n + i : i, 1); };
    std::vector<Tensor> pieces;
    auto edge = [&](std::int64_t side) {  // 0: first, -1: last
        std::int64_t inner = side == 0 ? 1 : -2, third = side == 0 ? 2 : -3;
        double sign = side == 0 ? 1 : -1;
        Tensor a = distance(side);
        if (edge_order == 1) return (point(inner) - point(side)) * sign / a;
        Tensor b = distance(inner);
        Tensor outer = -(2 * a + b) / (a * (a + b)), middle = (a + b) / (a * b), last = -a / (b * (a + b));
        return sign * (outer * point(side) + middle * point(inner) + last * point(third));
    };
    pieces.push_back(edge(0));
    if (n > 2) {
        Tensor a = laid_along(h[{slice({}, -1)}], f, at), b = laid_along(h[{slice(1, {})}], f, at);
        Tensor left = slice_along(f, at, 0, n - 2), middle = slice_along(f, at, 1, n - 2),
               right = slice_along(f, at, 2, n - 2);
        Tensor inside = step.ndim() == 0
                            ? (right - left) / (2 * step)
                            : -b / (a * (a + b)) * left + (b - a) / (a * b) * middle + a / (b * (a + b)) * right;
        pieces.push_back(inside);
    }
    pieces.push_back(edge(-1));
    return concatenate(pieces, static_cast<std::int64_t>(at));
}

Tensor unwrap(const Operand& x, std::int64_t axis, double period, std::optional<double> discont) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    bool whole = is_integer(tensor.dtype()) && period == std::trunc(period);
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), "unwrap"));
    if (tensor.shape()[at].value() < 2) return tensor;
    if (!whole) tensor = astype(tensor, inexact(tensor.dtype()));
    Tensor step = diff(tensor, axis);
    auto number = [&](double value) { return full({}, value, tensor.dtype()); };
    Tensor half = number(period / 2), nearest = remainder(step + half, number(period)) - half;
    nearest = where(logical_and(equal(nearest, -half), greater(step, 0)), half, nearest);
    Tensor correction = where(less(abs(step), discont.value_or(period / 2)), zeros_like(step), nearest - step);
    return concatenate({slice_along(tensor, at, 0, 1),
                        slice_along(tensor, at, 1, tensor.shape()[at].value() - 1) + cumulative_sum(correction, axis)},
                       static_cast<std::int64_t>(at));
}

WEFT_RECORD(convolve, "Sums of products with the second vector reversed, at every shift.", "convolve", "",
            {{{{7}, {3}}, [](auto x) { return convolve(x[0], x[1]); }, "np.convolve(x0, x1)"},
             {{{7}, {4}}, [](auto x) { return convolve(x[0], x[1], Overlap::same); }, "np.convolve(x0, x1, 'same')"},
             {{{3}, {5}}, [](auto x) { return convolve(x[0], x[1], Overlap::valid); }, "np.convolve(x0, x1, 'valid')"}})
WEFT_RECORD(correlate, "Sums of products at every shift.", "correlate", "",
            {{{{7}, {3}}, [](auto x) { return correlate(x[0], x[1]); }, "np.correlate(x0, x1)"},
             {{{3}, {6}}, [](auto x) { return correlate(x[0], x[1], Overlap::same); }, "np.correlate(x0, x1, 'same')"},
             {{{4}, {7}}, [](auto x) { return correlate(x[0], x[1], Overlap::same); }, "np.correlate(x0, x1, 'same')"},
             {{{4}, {3}}, [](auto x) { return correlate(x[0], x[1], Overlap::full); }, "np.correlate(x0, x1, 'full')"}})
WEFT_RECORD(interp, "The broken line through points.", "interp", "",
            {{{{9}, {4}},
              [](auto x) {
                  return interp(x[0], Tensor::of<float>({-2, -1, 1.25, 2}), x[1]);
              },
              "np.interp(x0, [-2, -1, 1.25, 2], x1)"}})
WEFT_RECORD(
    trapezoid, "The integral by the trapezoidal rule.", "trapezoid", "trapezoid",
    {{{{3, 5}}, [](auto x) { return trapezoid(x[0], 0.5); }, "(0.5 * (x0[:, 1:] + 0.0 + x0[:, :-1]) / 2).sum(-1)"},
     {{{3, 5}, {3}},
      [](auto x) { return trapezoid(x[0], x[1], 0); },
      "(np.diff(x1 + 0.0)[:, None] * (x0[1:] + 0.0 + x0[:-1]) / 2).sum(0)"}})
WEFT_RECORD(differences, "The derivative of what is known at points.", "gradient", "gradient",
            {{{{3, 5}}, [](auto x) { return differences(x[0], 0.5, 1); }, "np.gradient(x0 + np.uint8(0), 0.5, axis=1)"},
             {{{5, 2}},
              [](auto x) {
                  return differences(x[0], Tensor::of<float>({0, 1, 3, 3.5, 6}), 0, 2);
              },
              "np.gradient(x0, np.array([0, 1, 3, 3.5, 6]), axis=0, edge_order=2)"}})
WEFT_RECORD(unwrap, "Without jumps of whole periods.", "unwrap", "",
            {{{{3, 5}}, [](auto x) { return unwrap(4.0 * x[0]); }, "np.unwrap(4.0 * x0)"}})

}  // namespace weft
