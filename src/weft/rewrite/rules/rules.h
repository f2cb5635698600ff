// weft's own rules, a file a subject; each function adds its subject's. Callers: rewrite/rule.cpp.
#pragma once

#include <algorithm>

#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/rule.h"

namespace weft {

using RuleList = std::vector<Rule>;
void add_useless_rules(RuleList& rules);      // what changes nothing: x + 0, casts there and back, where(true, a, b)
void add_algebra_rules(RuleList& rules);      // products, sums and powers in their normal forms
void add_stable_rules(RuleList& rules);       // log(1 + exp(x)), sigmoids, error functions
void add_constant_rules(RuleList& rules);     // numbers folded
void add_view_rules(RuleList& rules);         // views of views, slices moved towards the leaves
void add_join_rules(RuleList& rules);         // joins of joins and slices of them
void add_reduce_rules(RuleList& rules);       // reductions of reductions
void add_factored_rules(RuleList& rules);     // factors taken out of sums
void add_contraction_rules(RuleList& rules);  // sums of products as products of matrices
void add_softmax_rules(RuleList& rules);      // logsumexp, softmax, cross-entropy
void add_padded_rules(RuleList& rules);       // gradients of slices added where they belong, before those of gathers
void add_raised_rules(RuleList& rules);       // zeros around gradients moved towards the results
void add_scatter_rules(RuleList& rules);      // gradients of gathers likewise
void add_gathered_rules(RuleList& rules);     // products of picked rows
void add_shift_rules(RuleList& rules);        // biases and running statistics behind products
void add_loop_rules(RuleList& rules);         // steps that nobody asks for
void add_precision_rules(RuleList& rules);    // products of the half types

inline std::vector<Rule> builtin_rules() {
    RuleList rules;
    for (auto* add : {add_useless_rules, add_algebra_rules, add_stable_rules, add_constant_rules, add_view_rules,
                      add_join_rules, add_reduce_rules, add_factored_rules, add_contraction_rules, add_softmax_rules,
                      add_padded_rules, add_raised_rules, add_scatter_rules, add_gathered_rules, add_shift_rules,
                      add_loop_rules, add_precision_rules})
        add(rules);
    return rules;
}

inline const ReduceAttributes& reduction_of(const Node& node) { return node.attributes_as<ReduceAttributes>(); }

constexpr std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }
inline Tensor in(const Node& node, std::size_t i = 0) { return handle(node.inputs[i]); }
inline bool has(const Axes& axes, std::size_t axis) {
    return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

/// Whether a sum goes down columns: each passes all of memory. Along rows what it reads is at hand, and that rows are looked at once more, or another
/// number of them waits for, costs more than is saved (a layer normalisation's gradient 1.17 of the time).
inline bool goes_down(const Node& sum) {
    const Axes& axes = reduction_of(sum).axes;
    return has(axes, 0) && axes.size() < sum.inputs[0]->shape.size();
}

/// Where a slice starts, an axis each.
inline Shape starts_of(const SliceAttributes& a) {
    Shape start;
    for (const Offset& s : a.start) start.push_back(s.value);
    return start;
}

/// Arguments of a function rule, by name.
struct AtOptions {
    Assumes assumes = Assumes::nothing;
    std::vector<Example> examples;
    Needs needs = {};
    bool frees = false;
};
inline Rule rule_at(std::string name, Phase phase, std::vector<const Operation*> roots,
                    std::function<Tensor(const Site&)> apply, AtOptions options) {
    return {std::move(name),
            phase,
            std::move(roots),
            std::move(apply),
            options.assumes,
            std::move(options.examples),
            "",
            std::move(options.needs),
            options.frees};
}
template <class F>
Example example(F f, std::vector<Shape> shapes = {}, std::vector<DType> dtypes = {}) {
    return {expression(f), std::move(shapes), std::move(dtypes)};
}

/// The same in the types for which algebra may regroup.
template <class F>
Example example_of_floats(F f, std::vector<Shape> shapes) {
    return example(f, std::move(shapes), {DType::float32, DType::float64});
}

}  // namespace weft
