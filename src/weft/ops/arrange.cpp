#include "weft/ops/arrange.h"

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
Tensor diagonal(const Operand& x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() < 2)
        throw ShapeError(text("diagonal: needs at least two axes, not shape ", tensor.shape(), place(x.where)));
    axis1 = checked_axis(x, axis1, tensor.ndim(), "diagonal"),
    axis2 = checked_axis(x, axis2, tensor.ndim(), "diagonal");
    if (axis1 == axis2) throw AxisError(text("diagonal: axis ", axis1, " is named twice", place(x.where)));
    Axes order;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(tensor.ndim()); ++i) {
        if (i != axis1 && i != axis2) order.push_back(i);
    }
    auto at = static_cast<std::int64_t>(order.size());
    order.push_back(axis1), order.push_back(axis2);
    Size rows = tensor.shape()[static_cast<std::size_t>(axis1)],
         columns = tensor.shape()[static_cast<std::size_t>(axis2)];
    Size count = rows;
    if (rows.known() && columns.known()) {
        count = std::max<std::int64_t>(0, std::min(rows.value() + std::min<std::int64_t>(offset, 0),
                                                   columns.value() - std::max<std::int64_t>(offset, 0)));
    } else if (!may_equal(rows, columns) || offset != 0) {
        throw ShapeError(
            text("diagonal: sizes ", rows, " and ", columns, " must be known, or equal with offset 0", place(x.where)));
    }
    Tensor k = iota(count);
    std::vector<Tensor> places{offset < 0 ? k - offset : k, offset > 0 ? k + offset : k};
    return take(Operand(permute_dims(Operand(tensor, x.where), order), x.where), places, at);
}

Tensor trace(const Operand& x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
    LineScope line(x.where);
    return sum(diagonal(x, offset, axis1, axis2), -1);
}

Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), "roll"));
    Size size = tensor.shape()[at];
    if (!size.known())
        throw ShapeError(
            text("roll: the size of axis ", axis, " of ", tensor.shape(), " is not known yet", place(x.where)));
    if (size.value() == 0 || (shift %= size.value()) == 0) return tensor;
    if (shift < 0) shift += size.value();
    Shape start(tensor.ndim(), 0), back = tensor.shape(), front = tensor.shape();
    start[at] = size.value() - shift;
    back[at] = shift, front[at] = size.value() - shift;
    return concatenate({slice(tensor, start, back), slice(tensor, Shape(tensor.ndim(), 0), front)}, axis, x.where);
}

Tensor roll(const Operand& x, std::int64_t shift) {
    LineScope line(x.where);
    return reshape(roll(Operand(ravel(x), x.where), shift, 0), x.as_tensor().shape());
}

Tensor repeat(const Operand& x, std::int64_t count, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), "repeat"));
    if (count < 0) throw ValueError(text("repeat: ", count, " times; the number must not be negative", place(x.where)));
    Shape wide = tensor.shape(), result = tensor.shape();
    wide.insert(at + 1, count);
    result[at] = result[at] * count;
    return reshape(broadcast_to(expand_dims(Operand(tensor, x.where), static_cast<std::int64_t>(at) + 1), wide),
                   result);
}

Tensor roll(const Operand& x, const Dims& shifts, const Axes& axes) {
    LineScope line(x.where);
    if (shifts.size() != axes.size() && shifts.size() != 1)
        throw ValueError(text("roll: ", shifts.size(), " shifts for ", axes.size(), " axes", place(x.where)));
    Tensor tensor = x.as_tensor();
    for (std::size_t i = 0; i < axes.size(); ++i)
        tensor = roll(Operand(tensor, x.where), shifts[shifts.size() == 1 ? 0 : i], axes[i]);
    return tensor;
}

Tensor repeat(const Operand& x, const Tensor& counts, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), "repeat"));
    if (!is_integer(counts.dtype()))
        throw DTypeError(text("repeat: counts are integers, not ", counts.dtype(), place(x.where)));
    std::int64_t size = tensor.shape()[at].value();
    if (counts.ndim() > 1 || !broadcasts_to(counts.shape(), {size}))
        throw ShapeError(text("repeat: counts of shape ", counts.shape(), " for the ", size, " elements of axis ", axis,
                              place(x.where)));
    std::vector<std::int64_t> each = broadcast_to(astype(counts, DType::int64), {size}).to_vector<std::int64_t>(),
                              places;
    for (std::size_t i = 0; i < each.size(); ++i) {
        if (each[i] < 0)
            throw ValueError(text("repeat: ", each[i], " times; the number must not be negative", place(x.where)));
        places.insert(places.end(), static_cast<std::size_t>(each[i]), static_cast<std::int64_t>(i));
    }
    return take(Operand(tensor, x.where), Tensor::of(places, {static_cast<std::int64_t>(places.size())}),
                static_cast<std::int64_t>(at));
}

std::vector<Tensor> unstack(const Operand& x, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), "unstack"));
    std::vector<Tensor> parts;
    Shape start(tensor.ndim(), 0), length = tensor.shape(), rest = tensor.shape();
    length[at] = 1;
    rest.erase(at);
    for (std::int64_t i = 0, size = tensor.shape()[at].value(); i < size; ++i) {
        start[at] = i;
        parts.push_back(reshape(slice(Operand(tensor, x.where), start, length), rest));
    }
    return parts;
}

std::vector<Tensor> meshgrid(std::span<const Tensor> vectors, bool ij) {
    Shape shape;
    for (const Tensor& vector : vectors) {
        if (vector.ndim() > 1) throw ShapeError(text("meshgrid: takes vectors, not the shape ", vector.shape()));
        shape.push_back(vector.size());
    }
    bool swapped = !ij && vectors.size() > 1;
    if (swapped) std::swap(shape[0], shape[1]);
    std::vector<Tensor> grids;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        Shape along(vectors.size(), 1);
        along[swapped && i < 2 ? 1 - i : i] = vectors[i].size();
        grids.push_back(broadcast_to(reshape(vectors[i], along), shape));
    }
    return grids;
}

Tensor diff(const Operand& x, std::int64_t axis, std::int64_t times) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), "diff"));
    if (times < 0) throw ValueError(text("diff: ", times, " times; the number must not be negative", place(x.where)));
    times = std::min(times, tensor.shape()[at].value());  // then nothing is left
    for (; times > 0; --times) {
        Shape start(tensor.ndim(), 0), next = start, length = tensor.shape();
        length[at] = std::max<std::int64_t>(length[at].value() - 1, 0), next[at] = length[at].value() > 0 ? 1 : 0;
        Tensor low = slice(tensor, start, length), high = slice(tensor, next, length);
        tensor = tensor.dtype() == DType::bool_ ? not_equal(high, low) : high - low;
    }
    return tensor;
}

Tensor tile(const Operand& x, const Dims& repetitions) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    while (tensor.ndim() < repetitions.size()) tensor = expand_dims(tensor, 0);
    Shape single, wide, result;
    for (std::size_t i = 0; i < tensor.ndim(); ++i) {
        std::size_t missing = tensor.ndim() - repetitions.size();
        std::int64_t count = i < missing ? 1 : repetitions[i - missing];
        if (count < 0)
            throw ValueError(text("tile: repetitions ", repetitions, " must not be negative", place(x.where)));
        single.push_back(1), single.push_back(tensor.shape()[i]);
        wide.push_back(count), wide.push_back(tensor.shape()[i]);
        result.push_back(tensor.shape()[i] * count);
    }
    return reshape(broadcast_to(reshape(tensor, single), wide), result);
}

WEFT_RECORD(diagonal, "The diagonal along two axes, as the last axis.", "diagonal", "diagonal",
            {{{{3, 4}}, [](auto x) { return diagonal(x[0]); }, "np.diagonal(x0)"},
             {{{2, 5, 4}}, [](auto x) { return diagonal(x[0], -1, 1, 2); }, "np.diagonal(x0, -1, 1, 2)"}})
WEFT_RECORD(trace, "The sum of the diagonal.", "trace", "trace",
            {{{{4, 4}}, [](auto x) { return trace(x[0]); }, "np.trace(x0)"}})
WEFT_RECORD(roll, "Shifted along an axis, what leaves enters at the other end.", "roll", "roll",
            {{{{2, 5}}, [](auto x) { return roll(x[0], 2, 1); }, "np.roll(x0, 2, 1)"},
             {{{2, 5}}, [](auto x) { return roll(x[0], -3); }, "np.roll(x0, -3)"}})
WEFT_RECORD(diff, "Differences of neighbours along an axis.", "diff", "diff",
            {{{{2, 5}}, [](auto x) { return diff(x[0]); }, "np.diff(x0)"},
             {{{4, 3}}, [](auto x) { return diff(x[0], 0, 2); }, "np.diff(x0, 2, 0)"}})
WEFT_RECORD(repeat, "Each element several times.", "repeat", "repeat_interleave",
            {{{{2, 3}}, [](auto x) { return repeat(x[0], 2, 1); }, "np.repeat(x0, 2, 1)"}})
WEFT_RECORD(tile, "The whole several times.", "tile", "tile",
            {{{{2, 3}},
              [](auto x) {
                  return tile(x[0], {2, 1, 2});
              },
              "np.tile(x0, (2, 1, 2))"}})

}  // namespace weft
