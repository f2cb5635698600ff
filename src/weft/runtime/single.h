// One operation by itself, its inputs computed: what programs that look at every value are made of. Each thread remembers how it ran the
// last ones: by operation, attributes, and its inputs' types, sizes and strides, and runs such a one again without gathering a graph.
// Callers: runtime/evaluate.cpp.
#pragma once

#include "weft/graph/graph.h"

namespace weft {

/// Gives the node its numbers, if such a one was remembered; false, and nothing done, if not.
bool run_single(Node& node);
/// Remembers how the only output of this graph runs, if it is such an operation.
void remember_single(const Graph& graph, const std::shared_ptr<const struct Binding>& binding);

}  // namespace weft
