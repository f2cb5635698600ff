// Light values of a row group: what one operation makes of one array (an element less its row's mean) is made anew by each part that
// reads it, which then reads the array. As much is read, and nothing is written. Caller: compile/row_groups.cpp.
#pragma once

#include "weft/compile/step_maker.h"

namespace weft {

/// `rows`: a step of kind rows, of this plan. Parts whose values all readers can make go; the bits stay.
void spread_light_values(Step& rows, Plan& plan, const Graph& graph, StepMaker& maker);

}  // namespace weft
