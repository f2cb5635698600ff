#include "weft/ops/pad_modes.h"

#include <algorithm>
#include <array>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/quantile.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;

struct NamedMode {
    std::string_view name;
    PadMode mode;
};
constexpr std::array modes{NamedMode{"constant", PadMode::constant}, NamedMode{"edge", PadMode::edge},
                           NamedMode{"reflect", PadMode::reflect},   NamedMode{"symmetric", PadMode::symmetric},
                           NamedMode{"wrap", PadMode::wrap},         NamedMode{"linear_ramp", PadMode::linear_ramp},
                           NamedMode{"maximum", PadMode::maximum},   NamedMode{"minimum", PadMode::minimum},
                           NamedMode{"mean", PadMode::mean},         NamedMode{"median", PadMode::median}};

/// One axis that is padded.
struct Along {
    Tensor x;
    std::size_t axis;
    std::int64_t size, before, after;

    Tensor part(std::int64_t start, std::int64_t length) const { return slice_along(x, axis, start, length); }
    Tensor first() const { return part(0, 1); }
    Tensor last() const { return part(size - 1, 1); }
    /// Whole numbers along this axis, in x's rank; where x has no sign they wrap.
    Tensor along(const std::vector<std::int64_t>& values) const {
        Shape shape(x.ndim(), 1);
        shape[axis] = static_cast<std::int64_t>(values.size());
        return astype(reshape(Tensor::of(values, {static_cast<std::int64_t>(values.size())}), shape), x.dtype());
    }
};

/// Which element stands at each place from -before on, and how many whole reaches of the array the place is away from it: a mirror with
/// the edge counted once has a period of size - 1, one with the edge twice of size.
struct Source {
    std::int64_t element, periods;
    bool mirrored;
};

Source source_of(std::int64_t place, std::int64_t size, PadMode mode) {
    if (mode == PadMode::edge) return {std::clamp<std::int64_t>(place, 0, size - 1), 0, false};
    std::int64_t period = mode == PadMode::reflect ? std::max<std::int64_t>(size - 1, 1) : size;
    std::int64_t periods = place / period - (place % period < 0), rest = place - periods * period;
    if (mode == PadMode::reflect && size == 1) return {0, periods, false};
    bool mirrored = mode != PadMode::wrap && periods % 2 != 0;
    return {mirrored ? period - rest - (mode == PadMode::symmetric) : rest, periods, mirrored};
}

Tensor repeated(const Along& a, const Tensor& one, std::int64_t count) {
    Shape shape = a.x.shape();
    shape[a.axis] = count;
    return broadcast_to(one, shape);
}

Tensor by_places(const Along& a, PadMode mode, bool odd) {
    std::vector<std::int64_t> elements;
    std::vector<std::int64_t> reaches, signs;
    for (std::int64_t place = -a.before; place < a.size + a.after; ++place) {
        Source from = source_of(place, a.size, mode);
        elements.push_back(from.element);
        signs.push_back(from.mirrored ? -1 : 1);
        reaches.push_back(from.periods);
    }
    Tensor taken = take_stretches(a.x, elements, static_cast<std::int64_t>(a.axis));
    if (!odd || mode == PadMode::wrap || mode == PadMode::edge || a.size == 1) return taken;
    // Mirrored at both ends again and again, an even number k of times: x + k (last - first); an odd one: (k + 1) last - (k - 1) first - x.
    std::vector<std::int64_t> of_last, of_first;
    for (std::size_t i = 0; i < signs.size(); ++i) {
        bool mirrored = signs[i] < 0;
        of_last.push_back(mirrored ? reaches[i] + 1 : reaches[i]);
        of_first.push_back(mirrored ? 1 - reaches[i] : -reaches[i]);
    }
    return taken * a.along(signs) + a.along(of_last) * a.last() + a.along(of_first) * a.first();
}

/// Numbers of double precision in a whole type, which wrap where it has no sign; of bool: whether they are not 0.
Tensor whole(const Tensor& exact, DType dtype, Tensor (*rounding)(const Operand&)) {
    if (dtype == DType::bool_) return astype(exact, dtype);
    return astype(astype(rounding(exact), DType::int64), dtype);
}

Tensor ramp(const Along& a, const Tensor& edge, double end, std::int64_t count, bool rising) {
    std::vector<double> share;  // of the way from the end to the edge
    for (std::int64_t i = 0; i < count; ++i)
        share.push_back(static_cast<double>(rising ? i : count - 1 - i) / static_cast<double>(count));
    Shape shape(a.x.ndim(), 1);
    shape[a.axis] = count;
    Tensor way = reshape(Tensor::of(share, {count}), shape);
    DType dtype = a.x.dtype();
    if (is_inexact(dtype)) return end + (edge - end) * astype(way, dtype);
    return whole(end + (astype(edge, DType::float64) - end) * way, dtype, floor);
}

Tensor statistic(const Tensor& part, std::size_t axis, PadMode mode) {
    Axes along{static_cast<std::int64_t>(axis)};
    if (mode == PadMode::maximum) return max(part, along, true);
    if (mode == PadMode::minimum) return min(part, along, true);
    bool exact = is_inexact(part.dtype());
    Tensor wide = exact ? part : astype(part, DType::float64);
    Tensor found = mode == PadMode::mean ? mean(wide, along, true) : median(wide, along, true);
    return exact ? found : whole(found, part.dtype(), round);
}

Tensor padded(const Along& a, PadMode mode, const PadOptions& options) {
    auto axis = static_cast<std::int64_t>(a.axis);
    std::pair<double, double> values =
        a.axis < options.values.size() ? options.values[a.axis] : std::pair<double, double>{0, 0};
    if (mode == PadMode::constant) {
        auto filled = [&](double value, std::int64_t count) {
            return repeated(a, astype(Tensor(value, DType::float64), a.x.dtype()), count);
        };
        return concatenate({filled(values.first, a.before), a.x, filled(values.second, a.after)}, axis);
    }
    if (mode == PadMode::linear_ramp)
        return concatenate(
            {ramp(a, a.first(), values.first, a.before, true), a.x, ramp(a, a.last(), values.second, a.after, false)},
            axis);
    if (mode >= PadMode::maximum) {
        Pair length = a.axis < options.lengths.size() ? options.lengths[a.axis] : Pair{a.size, a.size};
        std::int64_t front = std::min(length.first, a.size), back = std::min(length.second, a.size);
        return concatenate({repeated(a, statistic(a.part(0, front), a.axis, mode), a.before), a.x,
                            repeated(a, statistic(a.part(a.size - back, back), a.axis, mode), a.after)},
                           axis);
    }
    return by_places(a, mode, options.odd);
}

void check(const Tensor& x, const Dims& before, const Dims& after, const PadOptions& options,
           const std::source_location& where) {
    if (before.size() != x.ndim() || after.size() != x.ndim())
        throw ShapeError(text("pad: widths for ", before.size(), " and ", after.size(), " axes; x has shape ",
                              x.shape(), place(where)));
    for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i] < 0 || after[i] < 0)
            throw ValueError(text("pad: the widths of axis ", i, " are ", before[i], " and ", after[i],
                                  "; they must not be negative", place(where)));
    for (auto [front, back] : options.lengths)
        if (front < 1 || back < 1)
            throw ValueError(
                text("pad: statistics of ", front, " and ", back, " elements; there must be one", place(where)));
}

}  // namespace

// A picture mirrored at its edges is three stretches; picking its columns one by one took eight times as long.
Tensor take_stretches(const Tensor& x, const std::vector<std::int64_t>& places, std::int64_t axis) {
    constexpr std::size_t most = 8;
    auto count = static_cast<std::int64_t>(places.size());
    Along along{x, static_cast<std::size_t>(axis), x.shape()[static_cast<std::size_t>(axis)].value(), 0, 0};
    std::vector<Tensor> stretches;
    for (std::size_t i = 0, end = 0; i < places.size() && stretches.size() <= most; i = end) {
        std::int64_t step = i + 1 < places.size() ? places[i + 1] - places[i] : 1;
        if (step < -1 || step > 1) step = 1;
        for (end = i + 1; end < places.size() && places[end] - places[end - 1] == step;) ++end;
        // Where it turns is part of what rises: so that is all of x, which may be computed where it belongs.
        if (step <= 0 && end - i > 1 && end < places.size() && places[end] - places[end - 1] == 1) --end;
        auto length = static_cast<std::int64_t>(end - i);
        stretches.push_back(step > 0   ? along.part(places[i], length)
                            : step < 0 ? flip(along.part(places[end - 1], length), {axis})
                                       : repeated(along, along.part(places[i], 1), length));
    }
    bool few = !stretches.empty() && stretches.size() <= most;
    return few ? concatenate(stretches, axis) : take(x, Tensor::of(places, {count}), axis);
}

PadMode pad_mode_named(std::string_view name) {
    std::string list;
    for (const NamedMode& known : modes) {
        if (known.name == name) return known.mode;
        list += (list.empty() ? "" : ", ") + std::string(known.name);
    }
    throw ValueError(text("pad: there is no mode '", name, "'; known are ", list));
}

Tensor pad(const Operand& given, const Dims& before, const Dims& after, PadMode mode, const PadOptions& options) {
    LineScope line(given.where);
    Tensor x = given.as_tensor();
    check(x, before, after, options, given.where);
    for (std::size_t axis = 0; axis < before.size(); ++axis) {
        if (before[axis] == 0 && after[axis] == 0) continue;
        if (!x.shape()[axis].known())
            throw ShapeError(
                text("pad: the size of axis ", axis, " of ", x.shape(), " is not known yet", place(given.where)));
        Along along{x, axis, x.shape()[axis].value(), before[axis], after[axis]};
        if (along.size == 0 && mode != PadMode::constant)
            throw ValueError(text("pad: axis ", axis, " of ", x.shape(),
                                  " has no element to go on from; only constants can be added", place(given.where)));
        x = padded(along, mode, options);
    }
    return x;
}

WEFT_RECORD(pad_mode, "Continued beyond its ends.", "pad", "nn.functional.pad",
            {{{{3, 4}},
              [](auto x) {
                  return pad(x[0], {2, 9}, {3, 1}, PadMode::reflect);
              },
              "np.pad(x0, [(2, 3), (9, 1)], 'reflect')"},
             {{{2, 3}},
              [](auto x) {
                  return pad(x[0], {0, 7}, {3, 4}, PadMode::symmetric, {.odd = true});
              },
              "np.pad(x0, [(0, 3), (7, 4)], 'symmetric', reflect_type='odd')"},
             {{{5}},
              [](auto x) {
                  return pad(x[0], {3}, {2}, PadMode::linear_ramp, {.values = {{1, -2}}});
              },
              "np.pad(x0, (3, 2), 'linear_ramp', end_values=[(1, -2)])"},
             {{{4, 3}},
              [](auto x) {
                  return pad(x[0], {1, 2}, {2, 0}, PadMode::mean, {.lengths = {{2, 3}, {2, 2}}});
              },
              "np.pad(x0, [(1, 2), (2, 0)], 'mean', stat_length=[(2, 3), (2, 2)])"},
             {{{4, 3}},
              [](auto x) {
                  return pad(x[0], {1, 4}, {6, 5}, PadMode::wrap);
              },
              "np.pad(x0, [(1, 6), (4, 5)], 'wrap')"}})

}  // namespace weft
