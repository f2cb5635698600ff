// Shapes and the rules about them that every operation shares: broadcasting, axes, element counts.
// A Shape's sizes may be named (core/size.h); Dims are the plain numbers of a value in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "weft/base/small_vector.h"
#include "weft/core/size.h"

namespace weft {

using Shape = SmallVector<Size, 4>;
using Dims = SmallVector<std::int64_t, 4>;  ///< known sizes, or strides, or axes
using Axes = SmallVector<std::int64_t, 4>;

std::string str(const Shape& shape);  ///< "(batch, 784)", as NumPy prints tuples
std::string str(const Dims& dims);
std::ostream& operator<<(std::ostream& out, const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Dims& dims);

bool known(const Shape& shape);
Dims dims_of(const Shape& shape);  ///< ShapeError if a size is not known yet
Shape shape_of(const Dims& dims);
Size element_count(const Shape& shape);  ///< ShapeError beyond 64 bits
std::int64_t element_count(const Dims& dims);

/// NumPy's broadcasting of two shapes; nothing if they cannot be broadcast (the caller names the operation).
/// A named size beside another that may be equal is taken to be equal: the check is completed when sizes are bound.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
bool broadcasts_to(const Shape& from, const Shape& to);

/// An axis counted from the front; AxisError("sum: axis 3 is out of bounds for a value with 2 dimensions ...").
std::int64_t normalize_axis(std::int64_t axis, std::size_t ndim, std::string_view operation);
/// Sorted, distinct, counted from the front; a repeated axis is an AxisError.
Axes normalize_axes(const Axes& axes, std::size_t ndim, std::string_view operation);
Axes all_axes(std::size_t ndim);

}  // namespace weft
