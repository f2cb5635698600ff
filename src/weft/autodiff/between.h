// Walks over part of a graph: the nodes that stand between some leaves and what is made of them. Callers: autodiff/.
#pragma once

#include <span>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

/// The nodes below `outputs` that depend on one of `leaves`, inputs before their uses; the leaves are not among them. Does not recurse.
std::vector<Tensor> nodes_between(std::span<const Tensor> outputs, std::span<const Tensor> leaves);

/// `outputs` with `values` (of the same shapes and dtypes) in the place of `leaves`: what depends on these is made anew.
std::vector<Tensor> replaced(std::span<const Tensor> outputs, std::span<const Tensor> leaves,
                             std::span<const Tensor> values);

}  // namespace weft
