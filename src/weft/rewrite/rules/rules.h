// weft's own rules, a file a subject. Each function adds its subject's. Callers: rewrite/rule.cpp.
#pragma once

#include "weft/rewrite/rule.h"

namespace weft {

using RuleList = std::vector<Rule>;
void add_useless_rules(RuleList& rules);   // what changes nothing: x + 0, casts there and back, where(true, a, b)

inline std::vector<Rule> builtin_rules() {
    RuleList rules;
    add_useless_rules(rules);
    return rules;
}

/// Arguments of a function rule, by name.
struct AtOptions {
    Assumes assumes = Assumes::nothing;
    std::vector<Example> examples;
};
inline Rule rule_at(std::string name, Phase phase, std::vector<const Operation*> roots,
                    std::function<Tensor(const Site&)> apply, AtOptions options) {
    return {std::move(name), phase, std::move(roots), std::move(apply), options.assumes, std::move(options.examples)};
}
template <class F>
Example example(F f, std::vector<Shape> shapes = {}, std::vector<DType> dtypes = {}) {
    return {expression(f), std::move(shapes), std::move(dtypes)};
}

}  // namespace weft
