// Charts as pixels, for files that everything can show: lines with soft edges, and letters of 5 x 7 dots (those beyond a-z, digits and a few
// signs are a box; capitals are small). Caller: cli/compare.cpp.
#pragma once

#include "weft/viz/chart.h"
#include "weft/viz/picture.h"

namespace weft::viz {

/// Below each other, on white, two pixels a point.
Picture plotted(const std::vector<Chart>& charts);

}  // namespace weft::viz
