// How views of memory compose: each view operation as arithmetic on offset, dims and strides. Callers: compile/binding.cpp.
#pragma once

#include <optional>

#include "weft/compile/binding.h"

namespace weft {

/// The view operation of `node` (reshape, permute, broadcast, slice, flip) applied to where its input lies.
View apply_view(const Node& node, const View& from);
/// The same elements, in row-major order, along `dims`, which hold as many; nothing where no strides say it.
std::optional<Dims> reshaped_strides(const Layout& from, const Dims& dims);
/// Strides with which `from` is read along `dims` (0 where it repeats).
Dims broadcast_strides(const Layout& from, const Dims& dims);
/// Strides of dense memory whose axes lie in `order`, slowest first (empty: row-major).
Dims ordered_strides(const Dims& dims, const Axes& order);

}  // namespace weft
