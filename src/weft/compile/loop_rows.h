// Loops whose rows (examples) know nothing of each other: each thread runs all steps for some of the rows, and waits for nobody until the
// end. Callers: compile/loop_kernel.cpp.
#pragma once

#include <vector>

#include "weft/autodiff/loop.h"

namespace weft {

/// How many rows the values of a step have, in front, if each row of what is carried and of `wanted` (nodes of the region) is made of the
/// same row alone, and of what has no rows; 0: not so.
std::int64_t independent_rows(const LoopAttributes& a, const std::vector<bool>& wanted);

/// The nodes of the region for so many rows; what has none is as it was. Only of loops with independent rows, `wanted` as there.
std::vector<Tensor> nodes_of_rows(const LoopAttributes& a, const std::vector<bool>& wanted, std::int64_t count);

}  // namespace weft
