// A plan for sizes at which memory counts: steps that let go of much run as soon as they can (order.h), and values that wait a long time
// for their next reader are made again in front of it (again.h). What is computed, and so each bit of it, stays the same.
// Callers: compile/binding.cpp.
#pragma once

#include "weft/compile/binding.h"

namespace weft {

/// `plan`, for the sizes of `graph`. Whether it takes less is for the caller to see, who lays both out.
Plan frugal_plan(const Plan& plan, const Graph& graph, const BindOptions& options);

}  // namespace weft
