// Numbers for the nodes that a pass over a graph meets, in the order in which it meets them. A node remembers its last number, so most
// are found without a search; where another pass, perhaps of another thread, has overwritten that, a table by address finds it.
// Callers: graph/graph.cpp, rewrite/.
#pragma once

#include <bit>
#include <utility>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

/// Whether nodes are to remember their numbers: of two passes that take turns, one should leave that to the other.
enum class Hints : bool { none, written };

class NodeNumbers {
  public:
    explicit NodeNumbers(std::size_t expected, Hints hints = Hints::written)
        : slots_(std::bit_ceil(std::max<std::size_t>(2 * beside, expected * 4)), -1), hints_(hints) {
        nodes_.reserve(expected * 2);
    }
    /// The node's number, or -1.
    std::int32_t find(const Node* node) const {
        std::uint32_t mark = node->mark.load(std::memory_order_relaxed);
        if (mark < nodes_.size() && nodes_[mark] == node) return static_cast<std::int32_t>(mark);
        return slots_[slot(node)];
    }
    /// The node's number, from now on if it had none; and whether that is so. The caller keeps the node alive.
    std::pair<std::int32_t, bool> number(const Node* node) {
        std::uint32_t mark = node->mark.load(std::memory_order_relaxed);
        if (mark < nodes_.size() && nodes_[mark] == node) return {static_cast<std::int32_t>(mark), false};
        std::int32_t& at = slots_[slot(node)];
        if (at >= 0) return {at, false};
        auto number = static_cast<std::int32_t>(nodes_.size());
        at = number;
        nodes_.push_back(node);
        if (hints_ == Hints::written) node->mark.store(static_cast<std::uint32_t>(number), std::memory_order_relaxed);
        if (2 * nodes_.size() > slots_.size()) grow();
        return {number, true};
    }
    std::size_t size() const { return nodes_.size(); }

  private:
    // Nodes made one after the other lie, and are met, near each other: so do the slots of those within 4 KB. Where such a group's slots
    // begin is spread evenly (Knuth, The Art of Computer Programming 3, 6.4: multiplicative hashing), for groups that fall on each other
    // fill the slots there, and each search has to walk past all of them.
    static constexpr std::size_t beside = 64;
    std::size_t slot(const Node* node) const {
        std::size_t mask = slots_.size() - 1, near = reinterpret_cast<std::uintptr_t>(node) >> 6;
        std::size_t group = (near / beside * 0x9e3779b97f4a7c15ull) >> std::countl_zero(slots_.size() / beside - 1);
        std::size_t at = group * beside + near % beside;
        while (slots_[at] >= 0 && nodes_[static_cast<std::size_t>(slots_[at])] != node) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        slots_.assign(slots_.size() * 2, -1);
        for (std::size_t i = 0; i < nodes_.size(); ++i) slots_[slot(nodes_[i])] = static_cast<std::int32_t>(i);
    }
    std::vector<const Node*> nodes_;
    std::vector<std::int32_t> slots_;
    Hints hints_;
};

}  // namespace weft
