// Row groups: steps over the same rows, linked by what they hand on, become one step that runs a block of rows at a time
// (compile/row_blocks.h): a softmax, a normalisation, a loss over classes; a product of matrices with what is made of its rows (a bias,
// an activation, the update of a weight); beside reductions of rows also sums over the rows themselves (a normalisation's gradients of
// weight and bias). Callers: compile/partition.cpp, compile/binding.cpp.
#pragma once

#include "weft/compile/plan.h"

namespace weft {

/// Replaces groups of the plan's ordered steps, each grown from a product or a reduction of trailing axes, or of inner ones (a softmax over
/// channels: rows are the axes before them). The order is to be found anew.
/// Where sizes would say more, the plan keeps itself as it was before (Plan::by_steps).
void group_rows(Plan& plan, const Graph& graph);

/// `by_steps`, grouped for the sizes of the graph: short rows also where an array lies across them, for a block of them is read by columns
/// in cache.
Plan grouped_rows(const Plan& by_steps, const Graph& graph);

}  // namespace weft
