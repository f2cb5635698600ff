// cond: one of two functions, chosen by a truth value when the program runs; the other one is not computed. Its node holds both as regions
// (region.h) that read the same inputs, and its results are nodes above it, as a loop's are.
//
// What belongs to a branch is what is made while its function runs (graph/made_nodes.h), so a function that is given nothing and reads all
// from around it is as lazy as one that is handed what it needs. What stood there before is read, and computed before either branch is.
//
// Its derivative is a conditional again, whose branches are the derivatives of these: in reverse mode they compute anew what they need of the
// branch, so nothing has to be kept of one that may not have been taken. Where vmap's examples differ in the predicate both branches are
// computed, and each takes its own.
// Callers: users, autodiff/cond_rules, compile/cond_kernel.
#pragma once

#include "weft/autodiff/loop.h"

namespace weft {

/// Of a conditional's node. Inputs: the predicate, then what the branches read, which are the inputs of both regions in this order. Their
/// outputs are of the same shapes and dtypes.
struct CondAttributes {
    std::shared_ptr<const Region> branches[2];  // where the predicate holds; where it does not
};
template <>
void AttributesOf<CondAttributes>::key(KeyParts& parts) const;
template <>
void AttributesOf<CondAttributes>::print(std::ostream& out) const;
template <>
AttributesHandle AttributesOf<CondAttributes>::substitute(const SizeLookup& lookup) const;

/// The conditional itself: one number without a meaning; its results are the nodes above it (LoopResultAttributes: value i is output i).
extern const Operation cond_operation;
extern const Operation cond_result_operation;

struct CondParts {
    Tensor predicate;
    std::span<const Tensor> outputs[2];
    std::span<const Tensor> own;  // nodes that belong to the branches, as far as these need them
    std::source_location where = {};
};
/// `outside`: what stands for a node that is read from outside (a placeholder).
Tensor make_cond(const CondParts& parts, const std::function<Tensor(const Tensor&)>& outside);
Tensor cond_result(const Tensor& cond, std::size_t i);

/// One cond, for who writes its branches himself: both from arguments(), then results(). MadeNodes must live in between.
class CondTrace {
  public:
    /// DTypeError or ShapeError for a predicate that is not one truth value.
    CondTrace(const Tensor& predicate, std::vector<Tensor> arguments,
              std::source_location where = std::source_location::current());
    const std::vector<Tensor>& arguments() const { return placeholders_; }
    /// ValueError where the branches gave different numbers of results, DTypeError or ShapeError where a result is not the same in both.
    /// `names` of results, in errors; empty: "result 0", ...
    std::vector<Tensor> results(std::span<const Tensor> if_true, std::span<const Tensor> if_false,
                                std::span<const Tensor> own, const std::vector<std::string>& names = {}) const;

  private:
    Tensor predicate_;
    std::vector<Tensor> arguments_, placeholders_;
    std::source_location where_;
};

using Branch = std::function<std::vector<Tensor>(std::span<const Tensor> arguments)>;

/// if_true(arguments) where the predicate, one truth value (0-d), holds, else if_false(arguments). Both functions are called once, with
/// placeholders, and give values of the same shapes and dtypes; when the program runs one of them is computed. Differentiable to any order, in
/// both modes. Errors as of CondTrace.
std::vector<Tensor> cond(const Tensor& predicate, const Branch& if_true, const Branch& if_false,
                         std::vector<Tensor> arguments = {},
                         std::source_location where = std::source_location::current());

}  // namespace weft
