#include "weft/compile/small_branches.h"

#include <algorithm>
#include <unordered_map>

#include "weft/autodiff/between.h"
#include "weft/base/integers.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

// How many operations a branch is, if all are maps of few elements.
std::optional<std::int64_t> small_operations(const Region& branch) {
    constexpr std::int64_t most_elements = 64, most_operations = 16;
    std::int64_t operations = 0;
    for (std::size_t i = 0; i < branch.nodes.size(); ++i) {
        const Node& node = *branch.nodes[i].node();
        Family family = node.operation->family;
        bool map = family == Family::elementwise || family == Family::view || family == Family::constant;
        if (i < branch.inputs) continue;
        if (!map || node.operation->alias || element_count(dims_of(node.shape)) > most_elements) return {};
        operations += family == Family::elementwise;
    }
    for (std::int32_t output : branch.outputs)
        if (element_count(dims_of(branch.nodes[at(output)].shape())) > most_elements) return {};
    return operations <= most_operations ? std::optional(operations) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> small_branches(const Node& node) {
    if (node.operation != &cond_operation) return {};
    const CondAttributes& a = node.attributes_as<CondAttributes>();
    std::optional<std::int64_t> yes = small_operations(*a.branches[0]), no = small_operations(*a.branches[1]);
    return yes && no ? std::optional(*yes + *no) : std::nullopt;
}

std::vector<Tensor> with_small_branches_chosen(const std::vector<Tensor>& nodes) {
    if (std::none_of(nodes.begin(), nodes.end(), [](const Tensor& x) { return small_branches(*x.node()).has_value(); }))
        return nodes;
    KeepPending keep;
    std::unordered_map<const Node*, Tensor> now;
    auto given = [&](const Node& node) {
        std::vector<Tensor> inputs;
        for (Node* input : node.inputs) inputs.push_back(now.at(input));
        return inputs;
    };
    auto choice = [&](const Node& result) {
        const Node& cond = *result.inputs[0];
        std::vector<Tensor> inputs = given(cond), outputs;
        for (const auto& branch : cond.attributes_as<CondAttributes>().branches) {
            Tensor output =
                branch->output(static_cast<std::size_t>(result.attributes_as<LoopResultAttributes>().value));
            std::span<const Tensor> read(branch->nodes.data(), branch->inputs);
            outputs.push_back(replaced({&output, 1}, read, std::span<const Tensor>(inputs).subspan(1))[0]);
        }
        return where(Operand(inputs[0], result.where), outputs[0], outputs[1]);
    };
    std::vector<Tensor> made;
    for (const Tensor& x : nodes) {
        const Node& node = *x.node();
        std::vector<Tensor> inputs = given(node);
        bool same = std::equal(inputs.begin(), inputs.end(), node.inputs.begin(), node.inputs.end(),
                               [](const Tensor& one, const Node* other) { return one.node() == other; });
        if (node.operation == &cond_result_operation && small_branches(*node.inputs[0]))
            made.push_back(choice(node));
        else
            made.push_back(same ? x : make_node(*node.operation, inputs, node.attributes, node.where));
        now[&node] = made.back();
    }
    return made;
}

}  // namespace weft
