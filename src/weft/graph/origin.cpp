#include "weft/graph/origin.h"

#include <algorithm>
#include <set>

#include "weft/graph/graph.h"

namespace weft {
namespace {

using Weak = std::weak_ptr<const char>;

// The leaves that derivatives can be taken with respect to.
std::vector<Node*> inexact_leaves(const Graph& graph) {
    std::vector<Node*> leaves;
    for (std::int32_t leaf : graph.leaves) {
        Node* node = graph.entries[static_cast<std::size_t>(leaf)].node;
        if (is_inexact(node->dtype)) leaves.push_back(node);
    }
    return leaves;
}

/// The leaf's identity, and those that it remembers.
template <class Add>
void add_leaf(Node& leaf, Add add) {
    if (!leaf.origin) leaf.origin = std::make_unique<Origin>();
    Origin& origin = *leaf.origin;
    if (!origin.self) origin.self = std::make_shared<const char>('\0');
    add(origin.self);
    for (const Weak& further : origin.leaves)
        if (!further.expired()) add(further);
}

bool among(const std::vector<Weak>& leaves, const Origin* origin) {
    if (!origin || !origin->self) return false;  // nothing that was computed depends on it
    return std::any_of(leaves.begin(), leaves.end(), [&](const Weak& leaf) {
        return !leaf.owner_before(origin->self) && !origin->self.owner_before(leaf);
    });
}

}  // namespace

std::vector<Weak> leaves_below(const Graph& graph) {
    std::set<Weak, std::owner_less<Weak>> below;
    std::lock_guard guard(Node::lock());
    auto add = [&](const Weak& leaf) { below.insert(leaf); };
    for (Node* leaf : inexact_leaves(graph)) add_leaf(*leaf, add);
    for (const Graph::Entry& entry : graph.entries)  // nodes that have an identity from the start
        if (!entry.leaf && entry.node->origin && entry.node->origin->self) add(entry.node->origin->self);
    return {below.begin(), below.end()};
}

std::vector<Weak> leaves_below(const Node& node, std::span<Node* const> inputs) {
    std::vector<Weak> below;
    if (!is_inexact(node.dtype)) return below;
    auto add = [&](const Weak& leaf) {
        bool known = std::any_of(below.begin(), below.end(), [&](const Weak& other) {
            return !other.owner_before(leaf) && !leaf.owner_before(other);
        });
        if (!known) below.push_back(leaf);
    };
    below.reserve(inputs.size());
    for (Node* input : inputs)
        if (input->computed && is_inexact(input->dtype)) add_leaf(*input, add);
    if (node.origin && node.origin->self) add(node.origin->self);
    return below;
}

bool may_come_from(const Node& computed, Node& x) {
    std::vector<Node*> below{&x};
    Graph graph;
    bool has_identity = false;
    {
        std::lock_guard guard(Node::lock());
        has_identity = x.origin && x.origin->self;
    }
    if (!x.computed && !has_identity) {
        Node* pending[] = {&x};
        graph = gather(pending);
        below = inexact_leaves(graph);
    }
    std::lock_guard guard(Node::lock());
    if (!computed.origin) return false;
    return !below.empty() && std::all_of(below.begin(), below.end(), [&](const Node* leaf) {
        return among(computed.origin->leaves, leaf->origin.get());
    });
}

}  // namespace weft
