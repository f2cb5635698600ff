// Origin: what a computed node remembers of the expression it let go of: which leaves stood below it. So a derivative that is asked for
// afterwards can be refused where it would be wrong, and only there. Leaves that are gone are forgotten: memory is bounded by what lives.
// Callers: runtime/ (as values are computed), autodiff/.
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace weft {

struct Graph;
struct Node;

struct Origin {
    std::shared_ptr<const char> self;  // the node's identity, once something computed depends on it
    std::vector<std::weak_ptr<const char>>
        leaves;  // the identities of the leaves below, as they were when it was computed
};

/// What a node of this graph remembers when it is computed with it. Takes Node::lock().
std::vector<std::weak_ptr<const char>> leaves_below(const Graph& graph);
/// The same of a node whose inputs are its leaves. The caller holds Node::lock().
std::vector<std::weak_ptr<const char>> leaves_below(const Node& node, std::span<Node* const> inputs);

/// Whether `x` may stand below the computed node: exactly, where x has an identity; of another pending x where all leaves below it do.
/// Takes Node::lock().
bool may_come_from(const Node& computed, Node& x);

}  // namespace weft
