// Facts about values that hold whatever the numbers of the leaves are: a range, whole numbers, never NaN, no duplicates, symmetric.
// One analysis, memoised by node, that the guards of rules ask. Always on the safe side: what is not known is not claimed, and what is
// claimed follows from the structure alone. Callers: rewrite/ (a Facts lives as long as one rewriting, and its nodes longer).
#pragma once

#include <deque>
#include <limits>
#include <vector>

#include "weft/graph/node_numbers.h"

namespace weft {

struct Fact {
    double low = -std::numeric_limits<double>::infinity();  ///< no value that is a number lies below
    double high = std::numeric_limits<double>::infinity();
    bool number = false;     ///< never NaN
    bool whole = false;      ///< whole numbers (or infinite, or NaN)
    bool unique = false;     ///< no value twice
    bool symmetric = false;  ///< equals its matrix transpose

    bool positive() const { return low > 0; }
    bool nonnegative() const { return low >= 0; }
    bool finite() const {
        constexpr double inf = std::numeric_limits<double>::infinity();
        return number && low > -inf && high < inf;
    }
};

class Facts {
  public:
    /// `numbers`: of a pass over the same nodes, which need not be searched for then.
    explicit Facts(const NodeNumbers* numbers = nullptr) : numbers_(numbers) {}
    const Fact& of(const Node& node);

  private:
    using Operands = SmallVector<const Fact*, 4>;
    Fact derived(const Node& node, const Operands& in);
    const Fact* find(const Node& node) const;
    const Fact& keep(const Node& node, const Fact& fact);

    const NodeNumbers* numbers_;
    std::deque<Fact> known_;  // does not move
    std::vector<const Node*> stack_;
    std::vector<std::int32_t> by_number_;   // which of them a node with a number has; -1: not known
    NodeNumbers without_{64, Hints::none};  // nodes that had no number when they were asked for
    std::vector<std::int32_t> of_those_;    // which of them those have
};

}  // namespace weft
