// The one node of each content, while a graph is rewritten: equal operations of the same inputs are computed once.
// Callers: rewrite/rewrite.cpp.
#pragma once

#include <algorithm>
#include <span>

#include "weft/base/content_table.h"
#include "weft/graph/node_numbers.h"

namespace weft {

/// The same operation of other inputs.
inline Tensor copy_with(const Node& from, std::span<Node* const> inputs) {
    auto node = Node::make(Room::none);
    node->operation = from.operation;
    node->dtype = from.dtype;
    node->shape = from.shape;
    node->attributes = from.attributes;
    node->where = from.where;
    node->symbolic = from.symbolic;
    node->depth = 1;
    for (Node* input : inputs) input->retain(), node->inputs.push_back(input);
    return Tensor(node.release());
}

class MergedNodes {
  public:
    /// For a graph of as many nodes, and what rules will make of it.
    void reserve(std::size_t nodes) { table_.reserve(nodes + nodes / 4); }

    /// The one node with this content, whose latest input has this number. One that was known by it may have other inputs by now.
    Node* of(Node* node, std::int32_t latest) {
        Hash128 key = key_near(content(*node), latest);
        Node* known = table_.known(key, node).first;
        if (std::equal(known->inputs.begin(), known->inputs.end(), node->inputs.begin(), node->inputs.end()))
            return known;
        table_.exchange(key, node);
        return node;
    }

  private:
    static Hash128 content(const Node& node) {
        Hasher hasher;
        hasher.add(reinterpret_cast<std::uintptr_t>(node.operation));
        for (const Node* input : node.inputs) hasher.add(reinterpret_cast<std::uintptr_t>(input));
        if (node.attributes) {
            static thread_local KeyParts parts;
            parts.clear();
            node.attributes->key(parts);
            for (std::uint64_t word : parts.words) hasher.add(word);
            for (Size size : parts.sizes) hasher.add(static_cast<std::uint64_t>(size.code()));
            for (Offset offset : parts.offsets) hasher.add(static_cast<std::uint64_t>(offset.value.code()));
        }
        return hasher.result();
    }

    ContentTable<Node*> table_;
};

}  // namespace weft
