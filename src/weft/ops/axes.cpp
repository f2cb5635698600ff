// Views made of reshape and permute_dims: those that add, drop, join and exchange axes.
#include <algorithm>

#include "weft/ops/declare.h"
#include "weft/ops/view.h"

namespace weft {

Tensor expand_dims(const Operand& x, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    std::int64_t at = checked(x, [&] { return normalize_axis(axis, tensor.ndim() + 1, "expand_dims"); });
    Shape shape = tensor.shape();
    shape.insert(static_cast<std::size_t>(at), 1);
    return reshape(x, shape);
}

Tensor expand_dims(const Operand& x, const Axes& axes) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Axes normal = checked(x, [&] { return normalize_axes(axes, tensor.ndim() + axes.size(), "expand_dims"); });
    Shape shape = tensor.shape();
    for (std::int64_t axis : normal) shape.insert(static_cast<std::size_t>(axis), 1);
    return reshape(x, shape);
}

Tensor squeeze(const Operand& x, const Axes& axes) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Axes normal = checked(x, [&] { return normalize_axes(axes, tensor.ndim(), "squeeze"); });
    Shape shape;
    for (std::size_t i = 0; i < tensor.ndim(); ++i) {
        bool gone = std::find(normal.begin(), normal.end(), static_cast<std::int64_t>(i)) != normal.end();
        if (!gone)
            shape.push_back(tensor.shape()[i]);
        else if (!(tensor.shape()[i] == Size(1))) {
            throw ShapeError(text("squeeze: axis ", i, " of ", tensor.shape(), " has size ", tensor.shape()[i],
                                  ", not 1", place(x.where)));
        }
    }
    return reshape(x, shape);
}

Tensor squeeze(const Operand& x) {
    LineScope line(x.where);
    Axes ones;
    Tensor tensor = x.as_tensor();
    for (std::size_t i = 0; i < tensor.ndim(); ++i) {
        if (tensor.shape()[i] == Size(1)) ones.push_back(static_cast<std::int64_t>(i));
    }
    return squeeze(x, ones);
}

Tensor flatten(const Operand& x, std::int64_t start_axis, std::int64_t end_axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() == 0) return reshape(x, {1});
    auto start =
        checked(x, [&] { return static_cast<std::size_t>(normalize_axis(start_axis, tensor.ndim(), "flatten")); });
    auto end = checked(x, [&] { return static_cast<std::size_t>(normalize_axis(end_axis, tensor.ndim(), "flatten")); });
    if (end < start)
        throw AxisError(
            text("flatten: the end axis ", end_axis, " stands before the start axis ", start_axis, place(x.where)));
    Shape shape;
    Size joined = 1;
    for (std::size_t i = 0; i < tensor.ndim(); ++i) {
        if (i < start || i > end)
            shape.push_back(tensor.shape()[i]);
        else
            joined = joined * tensor.shape()[i];
        if (i == end) shape.push_back(joined);
    }
    return reshape(x, shape);
}

Tensor ravel(const Operand& x) { return reshape(x, {element_count(x.as_tensor().shape())}); }

Tensor swapaxes(const Operand& x, std::int64_t a, std::int64_t b) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Axes axes = all_axes(tensor.ndim());
    auto i = checked(x, [&] { return static_cast<std::size_t>(normalize_axis(a, tensor.ndim(), "swapaxes")); });
    auto j = checked(x, [&] { return static_cast<std::size_t>(normalize_axis(b, tensor.ndim(), "swapaxes")); });
    std::swap(axes[i], axes[j]);
    return permute_dims(x, axes);
}

Tensor moveaxis(const Operand& x, std::int64_t from, std::int64_t to) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    auto i = checked(x, [&] { return normalize_axis(from, tensor.ndim(), "moveaxis"); });
    auto j = checked(x, [&] { return normalize_axis(to, tensor.ndim(), "moveaxis"); });
    Axes axes = all_axes(tensor.ndim());
    axes.erase(static_cast<std::size_t>(i));
    axes.insert(static_cast<std::size_t>(j), i);
    return permute_dims(x, axes);
}

Tensor moveaxis(const Operand& x, const Axes& from, const Axes& to) {
    LineScope line(x.where);
    std::size_t ndim = x.as_tensor().ndim();
    if (from.size() != to.size())
        throw ValueError(text("moveaxis: ", from.size(), " axes are moved to ", to.size(), " places", place(x.where)));
    auto normal = [&](const Axes& axes) {
        Axes list;
        (void)checked(x, [&] { return normalize_axes(axes, ndim, "moveaxis"); });  // each once
        for (std::int64_t axis : axes) list.push_back(axis < 0 ? axis + static_cast<std::int64_t>(ndim) : axis);
        return list;
    };
    Axes sources = normal(from), places = normal(to), order(ndim, -1);
    for (std::size_t i = 0; i < sources.size(); ++i) order[static_cast<std::size_t>(places[i])] = sources[i];
    std::int64_t next = 0;
    for (std::int64_t& axis : order) {
        if (axis >= 0) continue;
        while (std::find(sources.begin(), sources.end(), next) != sources.end()) ++next;
        axis = next++;
    }
    return permute_dims(x, order);
}

Tensor matrix_transpose(const Operand& x) { return swapaxes(x, -1, -2); }

}  // namespace weft
