// Where maps that read joins are cut, and what that saves (parted_groups.h). Caller: compile/parted_groups.cpp.
#pragma once

#include "weft/compile/parted_groups.h"

namespace weft {

/// A join that a group of maps reads.
struct JoinRead {
    std::int32_t join = -1;
    bool copies = true;  // else it is a pad of what is computed for it alone, which lies in it already
};

/// Of a slice of a concatenation, element by element, that concatenation; else -1.
std::int32_t concatenation_below(const Graph& graph, std::int32_t piece);

/// The cuts that save most, and which of the joins lie between them; no cuts: none saves anything.
struct ChosenCuts {
    std::vector<std::vector<std::int64_t>> cuts;  // along each axis
    std::vector<bool> dissolved;                  // of each join
};
/// `instructions`: of the map, an element.
ChosenCuts chosen_cuts(const Graph& graph, const Shape& shape, const std::vector<JoinRead>& joins,
                       std::int64_t instructions);

}  // namespace weft
