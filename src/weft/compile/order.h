// The order in which a plan's steps run. Callers: compile/partition.cpp.
#pragma once

#include "weft/compile/plan.h"

namespace weft {

/// Sorts the steps so that every slot is written before it is read; among those that may run, the one whose last member was written
/// down first goes first: close to the program's own order, so that a parameter is updated after it was read for the last time. A
/// scatter waits for the other readers of the array that it changes, where that makes no cycle, so that it may write over it; one
/// into a leaf for whatever else can run.
void order_steps(Plan& plan, const Graph& graph);

/// The same, but for a step that writes next to nothing beside what it reads (the gradient of a weight with the weight's update, a sum):
/// it runs as soon as it can, so that what it reads is kept no longer for it. `bytes`: what each slot takes of the arena. An output
/// still waits for the other readers of the leaf that it may write over (`donors`, as bind() has them).
void order_steps(Plan& plan, const Graph& graph, const std::vector<std::size_t>& bytes,
                 const std::vector<std::int32_t>& donors);

}  // namespace weft
