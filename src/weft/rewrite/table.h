// What rewriting knows of each node that it meets: its normal form, and how many read it. Numbers by address, by open addressing, for
// this table is most of what rewriting costs. Keeps its nodes alive. Callers: rewrite/rewrite.cpp.
#pragma once

#include <bit>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

struct Record {
    Tensor node;
    std::int32_t replaced = -1;  // by what, in this phase
    std::int32_t normal = -1;    // its normal form, once `done`
    std::int8_t done = -1;       // the phase in which `normal` was found
    std::int8_t phase = -1;      // the phase in which it was replaced
    bool waits = false;          // for its inputs or its replacement
    bool merged = false;         // it is the one node of its content
    std::uint32_t users = 0;
    std::uint32_t generation = 0;  // how many replacements led to it, one making what the next replaced
    std::uint32_t chain = 0;       // how often this place was replaced
};

class Table {
  public:
    explicit Table(std::size_t expected) : slots_(std::bit_ceil(std::max<std::size_t>(64, expected * 4))) {
        records_.reserve(expected * 2);
    }
    Record& operator[](std::int32_t at) { return records_[static_cast<std::size_t>(at)]; }
    /// The node's number, or -1.
    std::int32_t find(const Node* node) const { return slots_[slot(node)].number; }
    std::int32_t number(Node* node) {
        Slot& at = slots_[slot(node)];
        if (at.node) return at.number;
        auto number = static_cast<std::int32_t>(records_.size());
        at = {node, number};
        records_.push_back({handle(node)});
        if (2 * records_.size() > slots_.size()) grow();
        return number;
    }
    std::size_t size() const { return records_.size(); }

  private:
    struct Slot {
        const Node* node = nullptr;
        std::int32_t number = -1;
    };
    std::size_t slot(const Node* node) const {
        // Nodes made one after the other lie, and are met, near each other: so do their slots.
        std::size_t mask = slots_.size() - 1, near = reinterpret_cast<std::uintptr_t>(node) >> 6;
        std::size_t at = (near ^ (near >> 16) * 0x9e3779b97f4a7c15ull) & mask;
        while (slots_[at].node && slots_[at].node != node) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        slots_.assign(slots_.size() * 2, Slot());
        for (std::size_t i = 0; i < records_.size(); ++i) {
            const Node* node = records_[i].node.node();
            slots_[slot(node)] = {node, static_cast<std::int32_t>(i)};
        }
    }
    std::vector<Record> records_;
    std::vector<Slot> slots_;
};

}  // namespace weft
