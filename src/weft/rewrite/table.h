// What rewriting knows of each node that it meets: its normal form, and how many read it. Keeps its nodes alive.
// Callers: rewrite/rewrite.cpp, rewrite/readers.h, rewrite/counted_readers.h.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "weft/graph/node_numbers.h"
#include "weft/rewrite/number.h"

namespace weft {

struct Record {
    Tensor node;
    std::int32_t to = -1;         // its normal form, once `done`; before, by what it was replaced in this phase
    std::int32_t was = -1;        // of a copy with other inputs: of what
    std::int32_t operation = -1;  // its number among ActiveRules
    std::int32_t first = -1;      // where the numbers of its inputs stand among Inputs, if they do
    std::int8_t done = -1;        // the phase in which its normal form was found
    std::int8_t phase = -1;       // the phase in which it was replaced
    std::uint8_t count = 0;       // of the inputs that stand there
    bool waits : 1 = false;       // for its inputs or its replacement
    bool merged : 1 = false;      // it is the one node of its content
    bool own : 1 = false;         // a copy that rewriting made, whose inputs it may change
    std::uint32_t users = 0;
    std::uint32_t generation = 0;  // how many replacements led to it, one making what the next replaced
    std::uint32_t chain = 0;       // how often this place was replaced
};
static_assert(sizeof(Record) <= 40, "each pass over a graph reads the records of all nodes");

class Table {
  public:
    explicit Table(std::size_t expected) : numbers_(expected) {
        records_.reserve(expected * 2), inputs_.reserve(expected * 3);
    }
    Record& operator[](std::int32_t at) { return records_[static_cast<std::size_t>(at)]; }
    /// The node's number, or -1.
    std::int32_t find(const Node* node) const { return numbers_.find(node); }
    std::int32_t number(Node* node) {
        auto [number, fresh] = numbers_.number(node);
        if (fresh) records_.push_back({handle(node)});
        return number;
    }
    std::size_t size() const { return records_.size(); }
    /// Whether rules stop at it. A copy was none of those, and nobody computes it.
    bool stops(std::int32_t at) { return !(*this)[at].own && opaque(*(*this)[at].node.node()); }

    /// The numbers of a node's inputs: as they are written down, or found, and written down, the first time, for nodes take more memory than the
    /// caches hold, and each pass over all of them waits for it. Until others are asked for.
    std::span<const std::int32_t> inputs(std::int32_t at) {
        if ((*this)[at].first < 0) {
            found_.clear();
            for (Node* input : (*this)[at].node.node()->inputs) found_.push_back(number(input));
            if (found_.size() > most_inputs) return found_;
            write_inputs(at, found_);
        }
        const Record& record = (*this)[at];
        return {inputs_.data() + record.first, record.count};
    }
    /// The node with this number has these inputs (now).
    void write_inputs(std::int32_t at, std::span<const std::int32_t> numbers) {
        Record& record = (*this)[at];
        if (numbers.size() > most_inputs) return;  // a join of hundreds: found each time
        if (record.first < 0) {
            record.first = static_cast<std::int32_t>(inputs_.size());
            record.count = static_cast<std::uint8_t>(numbers.size());
            inputs_.resize(inputs_.size() + numbers.size());
        }
        std::copy(numbers.begin(), numbers.end(), inputs_.begin() + record.first);
    }
    const NodeNumbers& numbers() const { return numbers_; }

  private:
    static constexpr std::size_t most_inputs = 255;  // that a Record counts
    NodeNumbers numbers_;
    std::vector<Record> records_;
    std::vector<std::int32_t> inputs_, found_;
};

}  // namespace weft
