// Row groups: steps over the same rows, linked by what they hand on, become one step that runs a block of rows at a time
// (compile/row_blocks.h): a softmax, a normalisation, a loss over classes; a product of matrices with what is made of its rows (a bias,
// an activation, the update of a weight); beside reductions of rows also sums over the rows themselves (a normalisation's gradients of
// weight and bias). Callers: compile/partition.cpp.
#pragma once

#include "weft/compile/plan.h"

namespace weft {

/// Replaces groups of the plan's ordered steps, each grown from a product or a reduction of trailing axes. The order is to be found anew.
void group_rows(Plan& plan, const Graph& graph);

}  // namespace weft
