// Functions that say themselves how they are differentiated: by a rule of the user's (custom_vjp), or by being computed again where the
// backward pass needs what they are made of (checkpoint). Such a call is a node that stands over its values and knows the inputs; programs
// never see it (the record's `alias`), only derivatives and vmap do. Callers: users.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/autodiff/transform.h"

namespace weft {

struct CustomRule {
    std::string name;  // for errors
    /// From the inputs of the call, then its residuals, and the cotangents of its floating results (each of its shape and dtype) to those of
    /// inputs and residuals, of their shapes and dtypes; an empty Tensor is zero.
    std::function<std::vector<Tensor>(std::span<const Tensor> inputs, std::span<const Tensor> cotangents)> pull;
    /// Whether forward mode may go through the values as they were written; else it is refused.
    bool forward = false;
};

/// The values of a call, whose derivative with respect to `inputs` is the rule's. The values are made of the inputs; what else they are
/// made of has no derivative: asking for it is a NotDifferentiable that names the rule. Residuals are what the rule is given beside the
/// inputs, made of them too: computed only where the rule reads them.
std::vector<Tensor> with_rule(std::span<const Tensor> values, std::span<const Tensor> inputs,
                              std::shared_ptr<const CustomRule> rule, std::span<const Tensor> residuals = {});
/// The values of a call whose parts are not kept for the backward pass, but computed again from `inputs` when it gets there.
std::vector<Tensor> recomputed(std::span<const Tensor> values, std::span<const Tensor> inputs);

/// f with a derivative of its own: pull gives the cotangents of f's arguments from these and the cotangent of its result.
template <class F, class Pull>
auto custom_vjp(F f, Pull pull, std::string name = "custom_vjp") {
    auto rule = std::make_shared<CustomRule>();
    rule->name = std::move(name);
    rule->pull = [pull = std::move(pull)](std::span<const Tensor> inputs, std::span<const Tensor> cotangents) {
        return pull(inputs, cotangents[0]);
    };
    return [f = std::move(f), rule = std::shared_ptr<const CustomRule>(rule)](const auto&... arguments) -> Tensor {
        KeepPending keep;
        std::array<Tensor, sizeof...(arguments)> inputs{fresh(Operand(arguments).as_tensor())...};
        Tensor values[] = {std::apply(f, inputs)};
        return with_rule(values, inputs, rule)[0];
    };
}

/// f, of which the backward pass keeps the arguments alone: less memory for the time to compute f once more.
template <class F>
auto checkpoint(F f) {
    return [f = std::move(f)](const auto&... arguments) -> Tensor {
        KeepPending keep;
        std::array<Tensor, sizeof...(arguments)> inputs{fresh(Operand(arguments).as_tensor())...};
        Tensor values[] = {std::apply(f, inputs)};
        return recomputed(values, inputs)[0];
    };
}

/// The node over a call: inputs are its value (several packed in one), the call's inputs, and what it reads from outside.
extern const Operation custom_operation;
Tensor push_custom(const Tensor& result, std::span<const Tensor> tangents);
std::vector<Tensor> pull_custom(const Tensor& result, const Tensor& cotangent, const std::vector<bool>& wanted);

}  // namespace weft
