// The rules that one rewriting uses, by the operation at whose nodes they are tried. Callers: rewrite/rewrite.cpp.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "weft/rewrite/rewrite.h"

namespace weft {

class RuleSet {
  public:
    explicit RuleSet(const RewriteOptions& options);
    const std::vector<Rule>& rules() const { return rules_; }
    /// Numbers of the rules to be tried at nodes of this operation, in phase `phase`: with those of the phases before, or, at a node
    /// that these have left as it is, without them.
    const std::vector<std::int32_t>& at(Phase phase, const Operation& operation, bool settled) const;

  private:
    struct Lists {
        std::array<std::vector<std::int32_t>, 3> up_to, of;  // by phase
    };
    std::vector<Rule> rules_;
    std::unordered_map<const Operation*, Lists> by_root_;
    Lists anywhere_, none_;
};

/// Made once for the default and the exact options, while no rules are added; anew for others.
std::shared_ptr<const RuleSet> rules_for(const RewriteOptions& options);

}  // namespace weft
