// Each rewriting of a graph, both ways on the real numbers: what debug mode `rewrites` does. Callers: tests, users who suspect a rule.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/rewrite/rewrite.h"

namespace weft {

/// Rewrites the tensors' graph and computes, by the interpreter, both sides of every application of a rule. What differs by more than
/// rounding explains, a line each: the rule, the user's line, both sides, the first different numbers. Where a rule says that NaN or
/// infinities may change, or that lost digits come back, only what is finite on both sides and not cancelled is compared.
std::vector<std::string> check_rewrites(std::span<const Tensor> tensors,
                                        const RewriteOptions& options = default_rewriting());
/// The same with declared inputs, given numbers.
std::vector<std::string> check_rewrites(std::span<const Tensor> tensors, std::span<const Tensor> inputs,
                                        std::span<const Tensor> given,
                                        const RewriteOptions& options = default_rewriting());

}  // namespace weft
