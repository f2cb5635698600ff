// Which axes of an entry follow each other in memory without a gap, so that they can become one axis by strides alone. Known before
// sizes are: of slots from the order in which they lie, of views from what they show.
// Callers: compile/partition.cpp.
#pragma once

#include <optional>

#include "weft/graph/node.h"

namespace weft {

/// For each axis the one that its steps run over: stride[i] = size[next[i]] * stride[next[i]], whatever the sizes. -1: none is known.
/// Axes of size one stand aside: theirs is -1, and they are nobody's next.
using DenseAxes = Axes;

/// Of dense memory whose axes lie in `order`, slowest first (empty: row-major).
DenseAxes dense_axes(const Shape& shape, const Axes& order = {});
/// The same numbers, in row-major order, as `to`; nothing where no strides say that.
std::optional<DenseAxes> reshaped(const DenseAxes& axes, const Shape& from, const Shape& to);
/// What the operation of `view` shows of an entry of shape `from`; a reshape is asked for above.
DenseAxes viewed(const DenseAxes& axes, const Shape& from, const Node& view);

}  // namespace weft
