// How loops are differentiated and mapped over examples. The derivative of a loop is another loop: in forward mode one that carries tangents
// beside values; in reverse mode one that runs the other way, reads what the first one computed (loop_values) and carries cotangents.
// Callers: autodiff/rules.cpp, derivative.cpp, vmap.cpp.
#pragma once

#include "weft/autodiff/loop.h"
#include "weft/ops/batch.h"

namespace weft {

/// Whether the node is a loop; or a loop or a conditional, whose cotangents and tangents are not those of a number: they say what is known of
/// its results.
bool is_loop(const Node& node);
bool has_results(const Node& node);

/// What is made in a loop's region of its inputs from outside alone, of what the loop was given for them: for loops that are made of its nodes.
std::function<Tensor(const Tensor&)> as_given(const Tensor& loop);

/// The cotangent of a loop or a conditional from that of one of its results; and the sum of two of them. It is never computed: its inputs are
/// the cotangents of results, which region_results() tells in this order.
Tensor region_cotangent(const Tensor& result, const Tensor& cotangent);
Tensor add_region_cotangents(const Tensor& a, const Tensor& b);
const std::vector<LoopResultAttributes>& region_results(const Tensor& cotangent);
/// The cotangents of a loop's inputs, of those that are wanted; empty: zero.
std::vector<Tensor> pull_loop(const Tensor& loop, const Tensor& cotangent, const std::vector<bool>& wanted);

/// The loop of the tangents, and the tangent of a result of the loop from it; empty: zero.
Tensor push_loop(const Tensor& loop, std::span<const Tensor> tangents);
Tensor push_loop_result(const Tensor& result, const Tensor& tangents);

/// The loop of all examples, and a result of it, with the examples' axis in front.
Tensor batch_loop(const Tensor& loop, const Batch& batch);
Tensor batch_loop_result(const Tensor& result, const Batch& batch);

}  // namespace weft
