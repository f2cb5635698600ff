#include "weft/graph/origin.h"

#include <algorithm>

#include "weft/graph/graph.h"

namespace weft {
namespace {

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
void add_leaf(Leaves& below, Node& leaf) {
    below.push_back(leaf.origin.identify());
    if (!leaf.computed.load(std::memory_order_acquire)) return;
    for (Identity further : leaf.leaves())
        if (further.lives()) below.push_back(further);
}

/// In order, each once.
void sort_out(Leaves& below) {
    if (below.size() == 2) {  // of an operation on two
        if (below[1] < below[0]) std::swap(below[0], below[1]);
        if (below[0] == below[1]) below.pop_back();
    }
    if (below.size() <= 2) return;
    std::sort(below.begin(), below.end());
    below.resize(static_cast<std::size_t>(std::unique(below.begin(), below.end()) - below.begin()));
}

}  // namespace

Identity Origin::identify() {
    Identity known = self();
    if (known) return known;
    Identity fresh = Identity::fresh();
    if (self_.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return fresh;
    fresh.end();  // another thread was first
    return known;
}

Leaves leaves_below(const Graph& graph) {
    Leaves below;
    for (Node* leaf : inexact_leaves(graph)) add_leaf(below, *leaf);
    for (const Graph::Entry& entry : graph.entries) {  // nodes that have an identity from the start
        if (entry.leaf) continue;
        if (Identity self = entry.node->origin.self()) below.push_back(self);
    }
    sort_out(below);
    return below;
}

Leaves leaves_below(const Node& node, std::span<Node* const> below) {
    Leaves leaves;
    if (!is_inexact(node.dtype)) return leaves;
    for (Node* each : below) {
        if (!each->computed.load(std::memory_order_acquire)) {
            if (Identity self = each->origin.self()) leaves.push_back(self);
        } else if (is_inexact(each->dtype)) {
            add_leaf(leaves, *each);
        }
    }
    if (Identity self = node.origin.self()) leaves.push_back(self);
    sort_out(leaves);
    return leaves;
}

bool may_come_from(const Node& computed, Node& x) {
    std::vector<Node*> below{&x};
    Graph graph;
    if (!x.computed && !x.origin.self()) {
        Node* pending[] = {&x};
        graph = gather(pending);
        below = inexact_leaves(graph);
    }
    const Leaves& leaves = computed.leaves();
    return !below.empty() && std::all_of(below.begin(), below.end(), [&](const Node* leaf) {
        Identity self = leaf->origin.self();  // none: nothing that was computed depends on it
        return self && std::binary_search(leaves.begin(), leaves.end(), self);
    });
}

}  // namespace weft
