// How conditionals are differentiated and mapped over examples. Callers: autodiff/rules.cpp, derivative.cpp, cond.cpp.
#pragma once

#include "weft/autodiff/cond.h"
#include "weft/autodiff/loop_rules.h"

namespace weft {

/// The cotangents of a conditional's inputs, of those that are wanted; empty: zero.
std::vector<Tensor> pull_cond(const Tensor& cond, const Tensor& cotangent, const std::vector<bool>& wanted);

/// The conditional of the tangents, and the tangent of a result from it; empty: zero.
Tensor push_cond(const Tensor& cond, std::span<const Tensor> tangents);
Tensor push_cond_result(const Tensor& result, const Tensor& tangents);

/// The conditional of all examples, or what stands for it where the predicate differs between them; and a result of it, with the examples'
/// axis in front.
Tensor batch_cond(const Tensor& cond, const Batch& batch);
Tensor batch_cond_result(const Tensor& result, const Batch& batch);

}  // namespace weft
