// The rules that a graph gives occasion to: most look for operations or numbers that it does not hold, and are not tried at any of its
// nodes. What stands in it is noted as nodes are met, so rules come in as others make what they look for.
// Always: what is left out would have found nothing. Callers: rewrite/rewrite.cpp.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "weft/rewrite/rule_set.h"

namespace weft {

class ActiveRules {
  public:
    explicit ActiveRules(const RuleSet& rules) : rules_(rules), there_(rules.wanted(), false), numbers_(64, -1) {}
    /// A node of the graph, or one that a rule has made; the number of its operation.
    std::int32_t met(const Node& node);
    /// As RuleSet::at(), for the operation with this number.
    std::span<const std::int32_t> at(Phase phase, std::int32_t operation, bool settled);
    /// Whether a rule of this phase, not of those before, is to be tried anywhere.
    bool any(Phase phase);

  private:
    /// What is known of one operation: its rules, each list as it was at a count of what there is.
    struct OfOperation {
        const Operation* operation = nullptr;
        struct List {
            std::vector<std::int32_t> rules;
            std::uint32_t version = 0;
        };
        List lists[2][3];  // settled or not, by phase
    };
    std::int32_t number(const Operation& operation);
    void note(std::int32_t wanted);
    void note_number(const Node& constant);

    const RuleSet& rules_;
    std::vector<bool> there_;  // of what rules look for
    std::uint32_t version_ = 1;
    std::deque<OfOperation> of_;         // by the operations' numbers
    std::vector<std::int32_t> numbers_;  // by their addresses; half empty
    std::int32_t last_ = -1;             // that was asked for
};

}  // namespace weft
