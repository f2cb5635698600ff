// What the functions of this folder share. They take PyTorch's arguments in PyTorch's order with PyTorch's defaults, so that a face in
// another language only hands them on; an empty Tensor stands for None. Callers: functional/ alone.
#pragma once

#include <string_view>

#include "weft/graph/node.h"
#include "weft/graph/tensor.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft::nn::functional {

/// The operand as a tensor of floating numbers: integers become float32.
inline Tensor floating(const Operand& x) {
    Tensor tensor = x.as_tensor();
    return tensor.astype(inexact(tensor.dtype()), x.where);
}
inline std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }
/// ValueError that names the user's line.
[[noreturn]] inline void refuse(const Operand& x, std::string message) { throw ValueError(message + place(x.where)); }
[[noreturn]] inline void refuse_shape(const Operand& x, std::string message) {
    throw ShapeError(message + place(x.where));
}
/// The size of an axis, where a function is written for known sizes alone (resampling, folding): ShapeError for a named one.
inline std::int64_t known_size(std::string_view function, const Tensor& x, std::size_t axis) {
    Size size = x.shape()[axis];
    if (size.known()) return size.value();
    throw ShapeError(text(function, ": axis ", axis, " of the shape ", x.shape(), " must have a known size"));
}
/// The last `count` axes, counted from the front.
inline Axes last_axes(const Tensor& x, std::size_t count) {
    Axes axes;
    for (std::size_t axis = x.ndim() - count; axis < x.ndim(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    return axes;
}
/// `values` (one a channel) along axis 1 of a value with `ndim` axes (axis 0 where there is but one).
inline Tensor along_channels(const Tensor& values, std::size_t ndim) {
    Shape shape(std::max<std::size_t>(ndim, 1), Size(1));
    shape[ndim > 1 ? 1 : 0] = element_count(values.shape());
    return reshape(values, shape);
}

}  // namespace weft::nn::functional
