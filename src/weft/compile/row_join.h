// Steps that were found to share their rows, put together to one. Callers: compile/row_groups.cpp.
#pragma once

#include <set>
#include <vector>

#include "weft/compile/plan.h"

namespace weft {

struct RowMembers {
    Shape rows;
    std::set<std::size_t> steps;
    std::set<std::size_t> numbers;  // of the steps: without rows, made anew for each block
};

/// Each group becomes one step of rows, behind the steps that are in none. The order is to be found anew.
void join_rows(Plan& plan, const Graph& graph, const std::vector<RowMembers>& groups);

}  // namespace weft
