// Scatters that add to zeros, which gradients of gathers are, and zeros around something, which gradients of slices are: how rules
// recognise them and put them elsewhere. Callers: rewrite/rules/scatter.cpp, padded.cpp, raised.cpp.
#pragma once

#include "weft/ops/scatter.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {

/// Whether the node is a scatter that adds to zeros.
bool spreads(const Node& node);
/// The inputs from number `first` on: index tensors.
std::vector<Tensor> places(const Node& node, std::size_t first);
/// A scatter like this one of other updates, into x.
Tensor scattered(const Node& like, const Tensor& x, const Tensor& updates);
/// Whether the node is zeros to which scatters add, one after the other, and nobody else reads them.
bool spreads_in_turn(const Site& site, const Node& node);
/// The same scatters, into x, of updates with this sign.
Tensor added_in_turn(const Tensor& x, const Node& node, bool minus);
/// Whether at least twice as many places are picked (or added to) by these indices as there are. Not where sizes are not known.
bool more_picked(const Size& places, const Shape& indices);
/// The same of a scatter: what it makes is less than its updates.
bool piles_up(const Node& scatter);
/// Whether the node is zeros around its input.
bool pads_zeros(const Node& node);
/// The axis along which a pad put zeros in front and behind, if it is the only one, and sizes are known there.
std::optional<std::size_t> padded_axis(const Node& padded);

/// One of these must be there for a node to be what spreads() or pads_zeros() looks for.
std::vector<const Operation*> spreading();
std::vector<const Operation*> spreading_or_padding();

/// What adds the rules of this subject: (name, phase, roots, function, examples, what it assumes, one of what operations it needs).
inline auto adder(std::vector<Rule>& rules) {
    return [&rules](std::string name, Phase phase, std::vector<const Operation*> roots, auto apply,
                    std::vector<Example> examples, Assumes assumes = Assumes::nothing,
                    std::vector<const Operation*> needs = {}) {
        AtOptions options{.assumes = assumes, .examples = std::move(examples)};
        if (!needs.empty()) options.needs.operations.push_back(std::move(needs));
        rules.push_back(rule_at(std::move(name), phase, std::move(roots), apply, std::move(options)));
    };
}
/// Of their examples: four places, one of them twice, and updates u added there to zeros.
const Tensor& example_index();
Tensor example_spread(const Tensor& u, const Shape& shape);

}  // namespace weft
