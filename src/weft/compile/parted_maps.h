// Maps that read arrays laid together of others (x rolled, sums of padded pieces: an array beside another in any order) are computed part by
// part, and each part reads its piece where it lies, so that nothing is copied to be read once. Parts are boxes between the pieces' borders; what
// the map makes of them is laid together by a join, whose pieces are computed where they belong (pieces.h). Values are those of the map.
// Callers: compile/plan_cache.cpp.
#pragma once

#include <optional>

#include "weft/graph/graph.h"

namespace weft {

/// The graph with such maps in parts, over the same leaves; nothing where none is worth it.
std::optional<Graph> parted_maps(const Graph& graph);

}  // namespace weft
