// Numbers of rows (a mean, the inverse of a sum) that are made by the parts of a step of rows that read them, once a row, not by a part of their own:
// that part would be called for every few rows, and what it makes be stored and read again. Caller: compile/row_kernels.cpp.
#pragma once

#include <optional>

#include "weft/compile/plan.h"

namespace weft {

/// `rows`, a step of rows of this plan and of sizes that are known, without the parts whose numbers all readers can make, to the same bits; nothing
/// where there is none.
std::optional<Step> numbers_in_readers(const Plan& plan, const Graph& graph, const Step& rows);

}  // namespace weft
