// Conditionals within a loop's step whose branches are a few operations on few elements: to compute both and choose takes less than to find
// the one and walk to its kernels, and a step that holds nothing else is computed many at a time. Nobody can tell the difference: such branches
// fail nowhere, and what is not chosen adds nothing. Callers: compile/loop_binding.cpp.
#pragma once

#include <optional>
#include <vector>

#include "weft/autodiff/cond.h"

namespace weft {

/// Operations in both branches of such a conditional; nothing of any other node.
std::optional<std::int64_t> small_branches(const Node& node);

/// The nodes of a region (inputs before uses) with choices in the place of results of such conditionals, and of what is made of these; others,
/// and all where there is none, are as they were.
std::vector<Tensor> with_small_branches_chosen(const std::vector<Tensor>& nodes);

}  // namespace weft
