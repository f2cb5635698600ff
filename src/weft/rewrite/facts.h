// Facts about values that hold whatever the numbers of the leaves are: a range, whole numbers, never NaN, no duplicates, symmetric.
// One analysis, memoised by node, that the guards of rules ask. Always on the safe side: what is not known is not claimed, and what is
// claimed follows from the structure alone. Callers: rewrite/ (a Facts lives as long as one rewriting, and its nodes longer).
#pragma once

#include <deque>
#include <limits>

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
    const Fact& of(const Node& node);

  private:
    Fact derived(const Node& node);
    NodeNumbers numbers_{64, Hints::none};
    std::deque<Fact> known_;  // by number; does not move
};

}  // namespace weft
