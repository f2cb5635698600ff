// Which gathers become loads of the loops that read them (kernel/loop.h's pointers), so that what is gathered is never written down.
// The others are a library's kernels: those whose result is wanted itself, read in another shape, read by a library, or joined by columns.
// Callers: compile/partition.cpp.
#pragma once

#include <vector>

#include "weft/graph/graph.h"

namespace weft {

/// Entries of which columns are joined, at once or after further point by point work. A library copies whole rows (and draws random bits),
/// and columns of rows that lie side by side are joined at twice the speed of elements that are picked one by one.
std::vector<bool> joined_by_columns(const Graph& graph);

/// One an entry.
struct LoopGathers {
    std::vector<bool> gathers;  // may be loads: all that read them are elementwise, of their own shape, or join them
    std::vector<bool>
        indices;  // conversions of integers to int64 that only such gathers read: their memory serves as it is
};
/// `made`: entries that have no memory (made.h), which nothing can be picked from.
LoopGathers gathers_in_loops(const Graph& graph, const std::vector<bool>& made);

}  // namespace weft
