// The rules that one rewriting uses, by the operation at whose nodes they are tried, and what they look for.
// Callers: rewrite/rewrite.cpp, active_rules.cpp.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <unordered_map>

#include "weft/rewrite/rewrite.h"

namespace weft {

class RuleSet {
  public:
    explicit RuleSet(const RewriteOptions& options);
    std::size_t size() const { return rules_.size(); }
    const Rule& operator[](std::int32_t number) const { return *rules_[static_cast<std::size_t>(number)]; }
    /// Numbers of the rules to be tried at nodes of this operation, in phase `phase`: with those of the phases before, or, at a node
    /// that these have left as it is, without them.
    const std::vector<std::int32_t>& at(Phase phase, const Operation& operation, bool settled) const;

    /// How many operations and numbers rules look for; the number among these of one, or -1.
    std::size_t wanted() const { return wanted_; }
    std::int32_t wanted(const Operation& operation) const { return number_of(operations_, &operation); }
    std::int32_t wanted(double number) const { return number_of(numbers_, number); }
    /// f(which) for each number that a rule looks for.
    template <class F>
    void for_numbers(F f) const {
        for (auto [number, which] : numbers_) f(which);
    }
    /// Whether all is there that the rule looks for.
    bool has_all(std::int32_t rule, const std::vector<bool>& there) const;

  private:
    template <class Map, class Key>
    static std::int32_t number_of(const Map& map, const Key& key) {
        auto found = map.find(key);
        return found == map.end() ? -1 : found->second;
    }
    void add_needs(const Needs& needs);
    struct Lists {
        std::array<std::vector<std::int32_t>, 3> up_to, of;  // by phase
    };
    std::vector<std::shared_ptr<const Rule>> rules_;
    std::unordered_map<const Operation*, Lists> by_root_;
    Lists anywhere_, none_;
    std::size_t wanted_ = 0;
    std::unordered_map<const Operation*, std::int32_t> operations_;
    std::map<double, std::int32_t> numbers_;
    std::vector<std::vector<std::vector<std::int32_t>>> needs_;  // of each rule: of each list one
};

/// Made once for the default and the exact options, while no rules are added; anew for others.
std::shared_ptr<const RuleSet> rules_for(const RewriteOptions& options);

}  // namespace weft
