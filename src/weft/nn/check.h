// What layers and losses ask of shapes before they write anything, so that the message speaks of the layer and not of the
// operations it is made of. Callers: nn/ alone.
#pragma once

#include <source_location>
#include <string_view>

#include "weft/graph/tensor.h"

namespace weft::nn {

/// Whether two shapes can be equal once named sizes are bound.
bool may_be_equal(const Shape& a, const Shape& b);

/// ShapeError that names both shapes unless prediction and target have the same.
void check_same_shape(std::string_view loss, const Tensor& prediction, const Tensor& target,
                      std::source_location where);

/// ShapeError unless the input has at least `least_ndim` axes and `size` elements along `axis`:
/// "Linear: the input has shape (32, 100), but its last axis must hold 784 features".
void check_axis(std::string_view layer, const Operand& x, std::size_t least_ndim, std::int64_t axis, std::int64_t size,
                std::string_view what);

/// ShapeError unless the input has as many axes as one of the forms, which are written "(N, C, L)":
/// "MaxPool2d: the input has shape (3,), but must be (N, C, H, W) or (C, H, W)".
void check_ndim(std::string_view layer, const Operand& x, std::initializer_list<std::string_view> allowed);

}  // namespace weft::nn
