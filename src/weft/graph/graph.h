// Graph: the nodes below some tensors, gathered into a flat array in which inputs stand before their uses. Gathering numbers
// leaves in the order in which they are first met, gives equal expressions one entry, and yields the structural key: equal for
// graphs that differ only in sizes and offsets (with the same ones and equalities among the sizes).
// Computed nodes are leaves. A Graph keeps its nodes alive. Callers: autodiff/, compile/, runtime/, printing.
#pragma once

#include <span>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

struct Graph {
    struct Entry {
        Node* node;
        std::int32_t first;  // inputs: edges[first .. first + count)
        std::int32_t count;
        bool leaf;  // an array (computed), a declared input
    };
    std::vector<Entry> entries;
    std::vector<std::int32_t> edges;    // entry numbers
    std::vector<std::int32_t> outputs;  // entry numbers, one a tensor asked for
    std::vector<std::int32_t> leaves;   // entry numbers, in the order of first meeting

    Hash128 structure;  // of the program, sizes apart
    std::vector<std::int64_t>
        sizes;  // what a binding depends on: sizes, offsets, strides of leaves (codes of named sizes < 0)

    std::span<const std::int32_t> inputs(std::int32_t entry) const {
        const Entry& e = entries[static_cast<std::size_t>(entry)];
        return {edges.data() + e.first, static_cast<std::size_t>(e.count)};
    }
    const Node& node(std::int32_t entry) const { return *entries[static_cast<std::size_t>(entry)].node; }

    Graph() = default;
    Graph(Graph&& other) noexcept = default;
    Graph& operator=(Graph&& other) noexcept {
        std::swap(entries, other.entries), std::swap(edges, other.edges), std::swap(outputs, other.outputs);
        std::swap(leaves, other.leaves), std::swap(sizes, other.sizes);
        structure = other.structure;
        return *this;
    }
    ~Graph();
};

/// What becomes of a custom derivative's node: programs take its first input in its place; whoever makes expressions anew keeps it.
enum class Aliases : std::uint8_t { hidden, shown };

/// Walks from `outputs` down, each input before its user, left to right, without recursion.
/// `leaves` are numbered first, in their order, used or not: so that graphs over the same leaves number them alike. `expected`: how many
/// entries there may be, where that is known better than by the depth of the outputs; tables need not grow then.
Graph gather(std::span<Node* const> outputs, std::span<Node* const> leaves = {}, Aliases aliases = Aliases::hidden,
             std::size_t expected = 0);

/// "%2 = multiply(%0, %1) float32 (3, 4)", a line an entry; long graphs are abbreviated in the middle.
std::string str(const Graph& graph, std::size_t most_lines = 200);

}  // namespace weft
