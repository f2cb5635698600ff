// Small expressions over computed values: what programs that look at every value are made of. Each thread remembers how it ran the last
// ones: by their operations and attributes, which values are the same, and the values' types, sizes and strides, and runs such a one again
// without gathering a graph. Callers: runtime/evaluate.cpp.
#pragma once

#include "weft/graph/graph.h"

namespace weft {

/// Gives the node its numbers, if such an expression was remembered; false, and nothing done, if not.
bool run_again(Node& node);
/// Remembers how this node's graph runs, if it is such an expression.
void remember(Node& node, const Graph& graph, const std::shared_ptr<const struct Binding>& binding);

}  // namespace weft
