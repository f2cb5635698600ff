// The rules that a graph gives occasion to: most look for operations or numbers that it does not hold, and are not tried at any of its
// nodes. What stands in it is noted as nodes are met, so rules come in as others make what they look for.
// Always: what is left out would have found nothing. Callers: rewrite/rewrite.cpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "weft/rewrite/rule_set.h"

namespace weft {

class ActiveRules {
  public:
    explicit ActiveRules(const RuleSet& rules) : rules_(rules), there_(rules.wanted(), false), of_(64) {}
    /// A node of the graph, or one that a rule has made.
    void met(const Node& node);
    /// As RuleSet::at().
    std::span<const std::int32_t> at(Phase phase, const Operation& operation, bool settled);
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
    OfOperation& of(const Operation& operation);
    void note(std::int32_t wanted);
    void note_number(const Node& constant);

    const RuleSet& rules_;
    std::vector<bool> there_;  // of what rules look for
    std::uint32_t version_ = 1;
    std::vector<std::unique_ptr<OfOperation>> of_;  // by the operations' addresses; half empty
    std::size_t operations_ = 0;
    OfOperation* last_ = nullptr;
};

}  // namespace weft
