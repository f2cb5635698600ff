// Which steps of a loop anybody asks for: rows of its results stand for steps, and where only the first steps' rows are read (or have a cotangent that
// is not zero) the others need not run. So of a recurrent layer that reads backwards, of whose output the last row is used, one step runs.
// Callers: autodiff/loop_pull.cpp, rewrite/rules/loop.cpp.
#pragma once

#include "weft/autodiff/loop.h"

namespace weft {

/// Whether the node is its input among zeros.
bool lays_among_zeros(const Node& node);

/// Rows [first, end) along an axis.
struct Rows {
    std::int64_t first = 0, end = 0;
};
/// Rows of x along an axis beside which all is zero, as far as its expression says: zeros laid around something (the gradient of a slice), moved,
/// cut and added up. Nothing: no row is known to be.
std::optional<Rows> rows_beside_zeros(const Node& x, std::size_t axis);

/// How many steps, from the first that runs, make these rows of a result of all steps (a trail, where its value is carried). The loop's length is
/// known.
std::int64_t steps_of_rows(const LoopAttributes& loop, const LoopResultAttributes& result, Rows rows);
/// The row at which the results of the first `steps` steps begin among all: where a loop runs backwards they lie behind.
Size first_row(const LoopAttributes& loop, Size steps);
/// Rows along the first axis.
Tensor rows_from(const Tensor& x, Size first, Size count);

/// How many steps a loop's derivative goes back: from the last one of whose results there is a cotangent to the first; behind it all are 0.
Size steps_back(const LoopAttributes& loop, const Tensor& cotangent);
/// What the cotangent of a result is of what is carried after the last step: of such a result all, of a trail its last row, where that stands beside
/// zeros; else empty.
Tensor cotangent_of_last(const LoopAttributes& loop, const LoopResultAttributes& result, const Tensor& cotangent);

/// The same loop of its first steps alone.
Tensor first_steps(const Tensor& loop, std::int64_t steps);
/// A result of a loop of one step, as its expressions without a loop.
Tensor of_one_step(const Tensor& result);

}  // namespace weft
