// The order in which a plan's steps run. Callers: compile/partition.cpp.
#pragma once

#include "weft/compile/plan.h"

namespace weft {

/// Sorts the steps so that every slot is written before it is read; among those that may run, the one whose last member was written
/// down first goes first: close to the program's own order, so that a parameter is updated after it was read for the last time. A
/// scatter waits for the other readers of the array that it changes, where that makes no cycle, so that it may write over it; one
/// into a leaf for whatever else can run.
void order_steps(Plan& plan, const Graph& graph);

}  // namespace weft
