// while_loop: a loop of as many steps as it takes. It is scan's loop with one more carried value, the condition of the step that follows:
// before the first step it is made of init, in a step of what that step gives, so nothing runs twice and a loop may have no step at all.
//
// It is differentiated in forward mode, to any order. Reverse mode would have to keep what each of nobody knows how many steps computed, and
// refuses. Where vmap's examples end at different steps the loop runs until all are done; those that are keep their values.
// Callers: users.
#pragma once

#include "weft/autodiff/loop.h"

namespace weft {

/// One while_loop, for who writes its step himself: a condition and next from carry(), then results(). KeepPending must live in between.
class WhileTrace {
  public:
    /// `names` of init, in errors; empty: "carried value 0", ...
    explicit WhileTrace(std::vector<Tensor> init, std::vector<std::string> names = {},
                        std::source_location where = std::source_location::current());
    const std::vector<Tensor>& carry() const { return carry_; }
    /// What is carried when the condition no longer holds. DTypeError or ShapeError where that is not one truth value, or where a value that is
    /// carried would change either; ValueError where `next` are more or fewer than carry().
    std::vector<Tensor> results(const Tensor& condition, std::span<const Tensor> next) const;

  private:
    std::vector<Tensor> init_, carry_;
    std::vector<std::string> names_;
    std::source_location where_;
};

/// body(carry) -> carry, as long as condition(carry), one truth value (0-d), holds; carry begins as init, and keeps its shapes and dtypes.
/// Both functions are called once, with placeholders; what they read besides is the same in each step. Differentiable in forward mode.
/// Errors as of WhileTrace; in reverse mode NotDifferentiable.
std::vector<Tensor> while_loop(const std::function<Tensor(std::span<const Tensor> carry)>& condition,
                               const std::function<std::vector<Tensor>(std::span<const Tensor> carry)>& body,
                               std::vector<Tensor> init, std::source_location where = std::source_location::current());

}  // namespace weft
