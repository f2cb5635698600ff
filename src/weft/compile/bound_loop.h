// The Loop of a step, its sizes and layouts known: which element each load and store meets at each point of the box.
// Callers: compile/step_kernels.cpp.
#pragma once

#include <span>

#include "weft/compile/device.h"
#include "weft/compile/plan.h"

namespace weft {

/// `loads`, `stores`: how what the step loads and stores lies, one each.
Loop bound_loop(const Plan& plan, const Step& step, const Graph& graph, std::span<const Layout> loads,
                std::span<const Layout> stores);

}  // namespace weft
