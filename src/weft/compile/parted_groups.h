// Which maps are computed in parts (parted_maps.h), and where they are cut. Caller: compile/parted_maps.cpp.
#pragma once

#include <optional>

#include "weft/graph/graph.h"

namespace weft {

/// Elementwise entries of one shape, and where along each axis they are cut: its ends among them.
struct PartedGroup {
    std::vector<std::vector<std::int64_t>> cuts;
};

struct PartedGroups {
    std::vector<PartedGroup> groups;
    std::vector<std::int32_t> of;  // of each entry its group, or -1
    std::vector<bool> dissolved;   // of each entry whether it is a join that only parts read, piece by piece
};

/// Nothing where no map is worth it.
std::optional<PartedGroups> parted_groups(const Graph& graph);

}  // namespace weft
