// What is written as a chain of twos (sums, joins) and becomes one of many. A rule that took in one more part at a time would copy all that
// it has taken in before, a thousand parts a million times: within a chain it waits for the outermost, and then takes all at once.
// Callers: rewrite/rules/join.cpp, contraction.cpp, padded.cpp.
#pragma once

#include <type_traits>

#include "weft/ops/elementwise.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {

/// Whether the one reader of this node (when the phase began) is such that the rule takes the node in from there.
template <class Takes>
bool waits_for_reader(const Site& site, const Node& node, Takes takes) {
    auto readers = site.readers(node);
    return readers && readers->size() == 1 && takes(*readers->front());
}

/// False only where TermsOfSum is sure to join none: asked often. `may(node)`: whether a term may be joined.
template <class May>
bool may_join_terms(const Node& sum, May may) {
    const Node &a = *sum.inputs[0], &b = *sum.inputs[1];
    return is(a, add_operation) || is(b, add_operation) || (may(a) && may(b));
}

/// What a rule that joins two terms of a sum, and joins again what came of it, makes of all terms of the sum at site.node; nothing where it
/// waits. `of_term(node)`: an optional group of one; `join(first, second)`: whether two groups became one, the first, and both as they
/// were if not; `build(group)`: the term that a group of several is. `in_any_order`: (x + a) + b is x + (a + b), since nothing is added up
/// where a and b are joined.
template <class OfTerm, class Join, class Build, bool in_any_order = false>
class TermsOfSum {
    using Group = typename std::invoke_result_t<OfTerm, const Node&>::value_type;
    struct Part {
        std::optional<Group> group;
        Tensor value;        // none of a group of several: it may grow
        Tensor before = {};  // what the group is added to
    };

  public:
    TermsOfSum(const Site& site, OfTerm of_term, Join join, Build build)
        : site_(site), of_term_(of_term), join_(join), build_(build) {}

    Tensor joined() {
        if (waits(site_.node)) return {};
        std::vector<std::pair<const Node*, bool>> open{{&site_.node, false}};
        while (!open.empty()) {
            auto [node, met] = open.back();
            open.pop_back();
            if (met) {
                close(*node);
            } else if (node == &site_.node || is_inner(*node)) {
                open.emplace_back(node, true);
                open.emplace_back(node->inputs[1], false), open.emplace_back(node->inputs[0], false);
            } else {
                parts_.push_back({of_term_(*node), handle(const_cast<Node*>(node))});
            }
        }
        return made(parts_.back());
    }

  private:
    bool adds_alike(const Node& node) const {
        return node.operation == &add_operation && node.shape == site_.node.shape && node.dtype == site_.node.dtype;
    }
    bool waits(const Node& sum) const {
        return waits_for_reader(site_, sum, [&](const Node& reader) { return adds_alike(reader); });
    }
    bool is_inner(const Node& node) const {
        return adds_alike(node) && !opaque(node) && site_.only_here(node) && waits(node);
    }
    Tensor made(Part& part) {
        if (part.value) return part.value;
        Tensor joined = build_(*part.group);
        return part.before ? make_node(add_operation, {part.before, joined}, site_.node.attributes, site_.node.where)
                           : joined;
    }
    // Of the last two parts, which are this sum's operands.
    void close(const Node& sum) {
        Part second = std::move(parts_.back());
        parts_.pop_back();
        Part& first = parts_.back();
        if (first.group && second.group && !second.before && join_(*first.group, *second.group)) {
            first.value = {};
            return;
        }
        Tensor a = made(first), b = made(second);
        bool same = a.node() == sum.inputs[0] && b.node() == sum.inputs[1];
        bool may_grow = in_any_order && second.group && !second.before;
        first.group = may_grow ? std::move(second.group) : std::nullopt;
        first.before = may_grow ? a : Tensor();
        first.value =
            same ? handle(const_cast<Node*>(&sum)) : make_node(*sum.operation, {a, b}, sum.attributes, sum.where);
    }

    const Site& site_;
    OfTerm of_term_;
    Join join_;
    Build build_;
    std::vector<Part> parts_;
};

}  // namespace weft
