#include "weft/autodiff/declared.h"

#include <mutex>
#include <unordered_set>

#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

/// Leaves that stand for the variables, and whose they are.
struct VariableLeaves {
    std::vector<Tensor> tensors;
    std::vector<std::size_t> of;

    VariableLeaves(std::span<const Variable> variables, std::span<const Tensor> expressions) {
        for (std::size_t i = 0; i < variables.size(); ++i) {
            for (Tensor& leaf : variables[i].among(expressions)) {
                tensors.push_back(std::move(leaf));
                of.push_back(i);
            }
        }
    }
    /// One sum a variable.
    std::vector<Tensor> sums(const std::vector<Tensor>& each, std::size_t count) const {
        std::vector<Tensor> sums(count);
        for (std::size_t i = 0; i < each.size(); ++i) sums[of[i]] = sums[of[i]] ? sums[of[i]] + each[i] : each[i];
        return sums;
    }
};

}  // namespace

std::vector<Tensor> Variable::among(std::span<const Tensor> expressions) const {
    if (!cell_) return {value_};
    std::vector<Tensor> found;
    std::unordered_set<const Node*> seen;
    std::vector<Node*> stack;
    std::lock_guard guard(Node::lock());
    for (const Tensor& tensor : expressions) stack.push_back(tensor.node());
    while (!stack.empty()) {
        Node* node = stack.back();
        stack.pop_back();
        if (!seen.insert(node).second) continue;
        if (node->cell() == cell_) found.push_back(handle(node));
        for (Node* input : node->inputs) stack.push_back(input);
    }
    if (found.empty()) found.push_back(value_);
    return found;
}

std::vector<Tensor> gradient(const Tensor& loss, std::span<const Variable> wrt, const GradientOptions& options) {
    KeepPending keep;
    std::vector<Tensor> expressions;
    if (loss) expressions.push_back(loss);
    for (const auto& [variable, _] : options.known_grads) expressions.push_back(variable.value());
    if (expressions.empty()) throw ValueError("gradient: there is neither a loss nor a known gradient");
    std::vector<KnownGradient> known;
    for (const auto& [variable, cotangent] : options.known_grads) known.push_back({variable.value(), cotangent});
    for (const Variable& variable : options.consider_constant)
        for (const Tensor& leaf : variable.among(expressions)) known.push_back({leaf, {}});
    VariableLeaves leaves(wrt, expressions);
    return leaves.sums(gradient(loss, leaves.tensors, known), wrt.size());
}

std::vector<Tensor> rop(std::span<const Tensor> outputs, std::span<const Variable> wrt,
                        std::span<const Tensor> tangents) {
    KeepPending keep;
    if (tangents.size() != wrt.size())
        throw ValueError(text("rop: ", tangents.size(), " directions for ", wrt.size(), " variables"));
    VariableLeaves leaves(wrt, outputs);
    std::vector<Tensor> along;
    for (std::size_t i : leaves.of) along.push_back(tangents[i]);
    return pushforward(outputs, leaves.tensors, along);
}

std::vector<Tensor> lop(std::span<const Tensor> outputs, std::span<const Variable> wrt,
                        std::span<const Tensor> cotangents) {
    KeepPending keep;
    if (cotangents.size() != outputs.size())
        throw ValueError(text("lop: ", cotangents.size(), " cotangents for ", outputs.size(), " outputs"));
    VariableLeaves leaves(wrt, outputs);
    return leaves.sums(pullback(outputs, cotangents, leaves.tensors), wrt.size());
}

}  // namespace weft
