// Orders in which results of products and maps had better lie for who reads them. Callers: compile/partition.cpp.
#pragma once

#include <map>

#include "weft/graph/graph.h"

namespace weft {

/// By entry the order of its axes, slowest first, of products and elementwise entries that nobody reads but a permutation, of which a
/// reshape joins axes that this brought together, as attention's heads become columns again. Lying so from the first they take no copy.
/// Only where the innermost axis stays so.
std::map<std::int32_t, Axes> wanted_orders(const Graph& graph);

/// By entry whether who reads it, or what is made of it element by element, is worse off where it lies in this order than in rows: reshapes
/// that would copy it, reductions that would find many short columns.
std::vector<bool> wanted_in_rows(const Graph& graph, const Axes& order);

}  // namespace weft
