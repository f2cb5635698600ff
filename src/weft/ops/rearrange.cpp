#include "weft/ops/rearrange.h"

#include <algorithm>

#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/scatter.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Form = Tensor (*)(const Operand&);

Tensor joined(std::span<const Tensor> tensors, Form form, std::int64_t axis) {
    std::vector<Tensor> formed;
    for (const Tensor& tensor : tensors) formed.push_back(form(tensor));
    return concatenate(formed, axis);
}

std::int64_t size_along(const Operand& x, std::int64_t& axis, std::string_view name) {
    Tensor tensor = x.as_tensor();
    axis = checked_axis(x, axis, tensor.ndim(), name);
    return tensor.shape()[static_cast<std::size_t>(axis)].value();
}

constexpr std::int64_t most_parts = std::int64_t{1} << 28;  // a list of so many takes gigabytes

/// Cut before the places, which are held between 0 and the size; what would go backwards is empty.
std::vector<Tensor> cut(const Tensor& x, std::size_t axis, const Dims& places) {
    std::int64_t size = x.shape()[axis].value(), from = 0;
    std::vector<Tensor> parts;
    auto held = [&](std::int64_t place) { return std::clamp<std::int64_t>(place < 0 ? place + size : place, 0, size); };
    for (std::size_t i = 0; i <= places.size(); ++i) {
        std::int64_t to = i < places.size() ? held(places[i]) : size;
        parts.push_back(slice_along(x, axis, from, std::max<std::int64_t>(to - from, 0)));
        from = to;
    }
    return parts;
}

std::int64_t place_within(const Operand& x, std::int64_t place, std::int64_t size, std::int64_t end,
                          std::string_view name) {
    std::int64_t from_front = place < 0 ? place + size : place;
    if (from_front < 0 || from_front >= end)
        throw IndexError(text(name, ": place ", place, " of an axis of size ", size, weft::place(x.where)));
    return from_front;
}

}  // namespace

Tensor atleast_1d(const Operand& x) {
    Tensor tensor = x.as_tensor();
    return tensor.ndim() == 0 ? reshape(x, {1}) : tensor;
}

Tensor atleast_2d(const Operand& x) {
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() == 0) return reshape(x, {1, 1});
    return tensor.ndim() == 1 ? expand_dims(x, 0) : tensor;
}

Tensor atleast_3d(const Operand& x) {
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() == 0) return reshape(x, {1, 1, 1});
    if (tensor.ndim() == 1) return expand_dims(x, Axes{0, 2});
    return tensor.ndim() == 2 ? expand_dims(x, -1) : tensor;
}

Tensor hstack(std::span<const Tensor> tensors) {
    bool vectors = !tensors.empty() && tensors[0].ndim() < 2;
    return joined(tensors, atleast_1d, vectors ? 0 : 1);
}

Tensor vstack(std::span<const Tensor> tensors) { return joined(tensors, atleast_2d, 0); }
Tensor dstack(std::span<const Tensor> tensors) { return joined(tensors, atleast_3d, 2); }

Tensor column_stack(std::span<const Tensor> tensors) {
    return joined(
        tensors,
        [](const Operand& x) {
            return x.as_tensor().ndim() < 2 ? reshape(x, {-1, 1}) : x.as_tensor();
        },
        1);
}

std::vector<Tensor> array_split(const Operand& x, std::int64_t parts, std::int64_t axis) {
    LineScope line(x.where);
    std::int64_t size = size_along(x, axis, "array_split");
    if (parts < 1) throw ValueError(text("array_split: into ", parts, " parts", place(x.where)));
    if (parts > most_parts) throw OutOfMemory(text("array_split: into ", parts, " parts", place(x.where)));
    Dims places;
    for (std::int64_t i = 1; i < parts; ++i) places.push_back(i * (size / parts) + std::min(i, size % parts));
    return cut(x.as_tensor(), static_cast<std::size_t>(axis), places);
}

std::vector<Tensor> split(const Operand& x, std::int64_t parts, std::int64_t axis) {
    LineScope line(x.where);
    std::int64_t size = size_along(x, axis, "split");
    if (parts < 1 || size % parts != 0)
        throw ValueError(text("split: an axis of size ", size, " has no ", parts,
                              " parts of one size; array_split takes uneven ones", place(x.where)));
    return array_split(x, parts, axis);
}

std::vector<Tensor> split(const Operand& x, const Dims& places, std::int64_t axis) {
    LineScope line(x.where);
    size_along(x, axis, "split");
    return cut(x.as_tensor(), static_cast<std::size_t>(axis), places);
}

Tensor rot90(const Operand& x, std::int64_t k, std::int64_t axis1, std::int64_t axis2) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    axis1 = checked_axis(x, axis1, tensor.ndim(), "rot90"), axis2 = checked_axis(x, axis2, tensor.ndim(), "rot90");
    if (axis1 == axis2) throw AxisError(text("rot90: axis ", axis1, " is named twice", place(x.where)));
    switch ((k % 4 + 4) % 4) {
        case 1:
            return swapaxes(flip(x, Axes{axis2}), axis1, axis2);
        case 2:
            return flip(x, Axes{axis1, axis2});
        case 3:
            return flip(Operand(swapaxes(x, axis1, axis2), x.where), Axes{axis2});
        default:
            return tensor;
    }
}

Tensor remove(const Operand& x, const Dims& places, std::int64_t axis) {
    LineScope line(x.where);
    std::int64_t size = size_along(x, axis, "delete");
    std::vector<bool> gone(static_cast<std::size_t>(size));
    for (std::int64_t place : places)
        gone[static_cast<std::size_t>(place_within(x, place, size, size, "delete"))] = true;
    std::vector<std::int64_t> kept;
    for (std::int64_t i = 0; i < size; ++i)
        if (!gone[static_cast<std::size_t>(i)]) kept.push_back(i);
    return take(x, Tensor::of(kept, {static_cast<std::int64_t>(kept.size())}), axis);
}

Tensor insert(const Operand& x, const Dims& places, const Operand& given, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor(), values = astype(given, tensor.dtype());
    std::int64_t size = size_along(x, axis, "insert");
    auto at = static_cast<std::size_t>(axis);
    Shape shape = tensor.shape();
    auto count = static_cast<std::int64_t>(places.size());
    if (count == 1 && values.ndim() == tensor.ndim())
        count = values.shape()[at].value();  // one place takes all of them
    shape[at] = count;
    if (!broadcasts_to(values.shape(), shape))
        throw ShapeError(text("insert: values of shape ", values.shape(), " at ", places.size(), " places of axis ",
                              axis, " of ", tensor.shape(), place(given.where)));
    // Which of the elements, the new ones after the old, stands where.
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (std::int64_t i = 0; i < count; ++i)
        order.emplace_back(
            place_within(x, places[places.size() == 1 ? 0 : static_cast<std::size_t>(i)], size, size + 1, "insert"),
            size + i);
    std::stable_sort(order.begin(), order.end(), [](auto a, auto b) { return a.first < b.first; });
    std::vector<std::int64_t> from;
    auto next = order.begin();
    for (std::int64_t i = 0; i <= size; ++i) {
        for (; next != order.end() && next->first == i; ++next) from.push_back(next->second);
        if (i < size) from.push_back(i);
    }
    Tensor all = concatenate({tensor, broadcast_to(values, shape)}, axis);
    return take(all, Tensor::of(from, {size + count}), axis);
}

Tensor diag(const Operand& x, std::int64_t k) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() == 2) return diagonal(x, k);
    if (tensor.ndim() != 1)
        throw ShapeError(text("diag: takes a vector or a matrix, not the shape ", tensor.shape(), place(x.where)));
    std::int64_t n = tensor.shape()[0].value(), size = n + std::abs(k);
    Tensor rows = iota(n) + std::max<std::int64_t>(-k, 0), columns = iota(n) + std::max<std::int64_t>(k, 0);
    std::vector<Tensor> places{rows, columns};
    return scatter(zeros({size, size}, tensor.dtype()), places, tensor);
}

Tensor diagflat(const Operand& x, std::int64_t k) {
    LineScope line(x.where);
    return diag(Operand(ravel(x), x.where), k);
}

Tensor fill_diagonal(const Operand& x, const Operand& given) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor(), values = astype(given, tensor.dtype());
    if (tensor.ndim() < 2)
        throw ShapeError(text("fill_diagonal: needs at least two axes, not ", tensor.shape(), place(x.where)));
    std::int64_t n = tensor.shape()[0].value();
    for (Size size : tensor.shape()) {
        if (tensor.ndim() > 2 && size.value() != n)
            throw ShapeError(text("fill_diagonal: of more than two axes all have one size; the shape is ",
                                  tensor.shape(), place(x.where)));
        n = std::min(n, size.value());
    }
    std::vector<Tensor> places(tensor.ndim(), iota(n));
    return scatter(x, places, broadcast_to(values, {n}));
}

Tensor resize(const Operand& x, const Dims& dims) {
    LineScope line(x.where);
    Tensor flat = ravel(x);
    Shape shape;
    for (std::int64_t size : dims) shape.push_back(size);
    std::int64_t count = element_count(shape).value(), have = flat.shape()[0].value();
    if (have == 0) return zeros(shape, flat.dtype());
    return reshape(take(flat, remainder(iota(count), have), 0), shape);
}

WEFT_RECORD(hstack, "Joined along the second axis.", "hstack", "hstack",
            {{{{2, 3}, {2, 1}}, [](auto x) { return hstack(x); }, "np.hstack([x0, x1])"}})
WEFT_RECORD(vstack, "Joined along the first axis.", "vstack", "vstack",
            {{{{3}, {2, 3}}, [](auto x) { return vstack(x); }, "np.vstack([x0, x1])"}})
WEFT_RECORD(dstack, "Joined along the third axis.", "dstack", "dstack",
            {{{{3}, {3}}, [](auto x) { return dstack(x); }, "np.dstack([x0, x1])"}})
WEFT_RECORD(column_stack, "Vectors as columns.", "column_stack", "column_stack",
            {{{{3}, {3, 2}}, [](auto x) { return column_stack(x); }, "np.column_stack([x0, x1])"}})
WEFT_RECORD(split, "Parts along an axis.", "split", "tensor_split",
            {{{{2, 6}}, [](auto x) { return split(x[0], 3, 1)[1]; }, "np.split(x0, 3, 1)[1]"},
             {{{7}}, [](auto x) { return array_split(x[0], 3)[0]; }, "np.array_split(x0, 3)[0]"},
             {{{7}},
              [](auto x) {
                  return split(x[0], Dims{2, -1})[1];
              },
              "np.split(x0, [2, -1])[1]"}})
WEFT_RECORD(rot90, "Turned by 90 degrees.", "rot90", "rot90",
            {{{{2, 3}}, [](auto x) { return rot90(x[0]); }, "np.rot90(x0)"},
             {{{2, 3, 2}}, [](auto x) { return rot90(x[0], -1, 2, 1); }, "np.rot90(x0, -1, (2, 1))"}})
WEFT_RECORD(remove, "Without some of the elements along an axis.", "delete", "",
            {{{{2, 5}},
              [](auto x) {
                  return remove(x[0], {1, -1}, 1);
              },
              "np.delete(x0, [1, -1], 1)"}})
WEFT_RECORD(insert, "With more elements along an axis.", "insert", "",
            {{{{3, 2}, {2, 2}},
              [](auto x) {
                  return insert(x[0], {1, 3}, x[1], 0);
              },
              "np.insert(x0, [1, 3], x1, 0)"},
             {{{5}, {3}}, [](auto x) { return insert(x[0], {-1}, x[1], 0); }, "np.insert(x0, -1, x1)"}})
WEFT_RECORD(diag, "A vector as a diagonal.", "diag", "diag",
            {{{{3}}, [](auto x) { return diag(x[0], -1); }, "np.diag(x0, -1)"}})
WEFT_RECORD(fill_diagonal, "With another main diagonal.", "", "fill_diagonal",
            {{{{3, 2}, {2}}, [](auto x) { return fill_diagonal(x[0], x[1]); }, ""}})
WEFT_RECORD(resize, "In another shape, again and again.", "resize", "",
            {{{{2, 3}},
              [](auto x) {
                  return resize(x[0], {4, 2});
              },
              "np.resize(x0, (4, 2))"}})

}  // namespace weft
