// Numbers: operations on numbers alone are computed now, after formulas have become stable; numbers in full shapes are just numbers.
#include <algorithm>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

Tensor fold(const Site& site) {
    for (const Node* input : site.node.inputs)
        if (!number_of(*input)) return {};
    return constant(folded(site.node), site.node.dtype);
}

// f(broadcast_to(a), y) -> f(a, y): elementwise operations broadcast by themselves.
Tensor without_broadcast(const Site& site) {
    const Node& node = site.node;
    auto wide = [](const Node* input) { return is(*input, broadcast_to_operation); };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), wide)) return {};
    std::vector<Tensor> inputs;
    for (Node* input : node.inputs) inputs.push_back(handle(wide(input) ? input->inputs[0] : input));
    return make_node(*node.operation, inputs, node.attributes, node.where);
}

// A number in any dress is a number filled into the shape.
Tensor plain_number(const Site& site) {
    std::optional<Literal> number = number_of(site.node);
    if (!number) return {};
    const Node* inner = site.node.inputs[0];
    bool plain = site.node.operation == &broadcast_to_operation && inner->operation == &constant_operation;
    return plain ? Tensor() : constant(*number, site.node.dtype);
}

}  // namespace

void add_constant_rules(RuleList& rules) {
    auto add = [&](Rule rule) { rules.push_back(std::move(rule)); };
    add(rule_at("elementwise_broadcasts", Phase::canonical, {}, without_broadcast,
                {.examples = {example(
                                  [](T x) {
                                      return log(broadcast_to(x, {2, 3})) + 1;
                                  },
                                  {{3}}),
                              example(
                                  [](T x, T y) {
                                      return broadcast_to(x, {2, 3}) * y;
                                  },
                                  {{3}, {2, 1}})},
                 .needs = {{{&broadcast_to_operation}}}}));
    add(rule_at("number", Phase::canonical,
                {&reshape_operation, &permute_dims_operation, &broadcast_to_operation, &slice_operation,
                 &flip_operation, &astype_operation},
                plain_number,
                {.examples = {example(
                                  [](T x) {
                                      return x + permute_dims(full({1, 3}, 2));
                                  },
                                  {{3, 1}}),
                              example([](T x) { return x + astype(Tensor(2), x.dtype()); })}}));
    add(rule_at("fold", Phase::special, {}, fold,
                {.examples = {example([](T x) { return x * (Tensor(2, x.dtype()) * Tensor(3, x.dtype())); })}}));
}

}  // namespace weft
