// What rewriting knows of each node that it meets: its normal form, and how many read it. Keeps its nodes alive.
// Callers: rewrite/rewrite.cpp.
#pragma once

#include <vector>

#include "weft/graph/node_numbers.h"

namespace weft {

struct Record {
    Tensor node;
    std::int32_t replaced = -1;   // by what, in this phase
    std::int32_t normal = -1;     // its normal form, once `done`
    std::int32_t was = -1;        // of a copy with other inputs: of what
    std::int32_t operation = -1;  // its number among ActiveRules
    std::int8_t done = -1;        // the phase in which `normal` was found
    std::int8_t phase = -1;       // the phase in which it was replaced
    bool waits : 1 = false;       // for its inputs or its replacement
    bool merged : 1 = false;      // it is the one node of its content
    bool own : 1 = false;         // a copy that rewriting made, whose inputs it may change
    bool as_met : 1 = false;      // a copy with the inputs of the graph's entry of this number
    std::uint32_t users = 0;
    std::uint32_t generation = 0;  // how many replacements led to it, one making what the next replaced
    std::uint32_t chain = 0;       // how often this place was replaced
};
static_assert(sizeof(Record) <= 40, "each pass over a graph reads the records of all nodes");

class Table {
  public:
    explicit Table(std::size_t expected) : numbers_(expected) { records_.reserve(expected * 2); }
    Record& operator[](std::int32_t at) { return records_[static_cast<std::size_t>(at)]; }
    /// The node's number, or -1.
    std::int32_t find(const Node* node) const { return numbers_.find(node); }
    std::int32_t number(Node* node) {
        auto [number, fresh] = numbers_.number(node);
        if (fresh) records_.push_back({handle(node)});
        return number;
    }
    std::size_t size() const { return records_.size(); }
    const NodeNumbers& numbers() const { return numbers_; }

  private:
    NodeNumbers numbers_;
    std::vector<Record> records_;
};

}  // namespace weft
