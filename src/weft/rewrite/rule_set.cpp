#include "weft/rewrite/rule_set.h"

#include <algorithm>
#include <mutex>

namespace weft {
namespace {

bool named(const Rule& rule, const std::set<std::string>& names) {
    return names.contains(rule.name) || names.contains(std::string(name_of(rule.phase))) ||
           names.contains(std::string(name_of(rule.assumes)));
}

}  // namespace

RuleSet::RuleSet(const RewriteOptions& options) {
    if (!options.enabled) return;
    rules_ = shared_rules();
    for (const Rule& rule : options.extra) rules_.push_back(std::make_shared<const Rule>(rule));
    std::erase_if(rules_, [&](const auto& rule) {
        return named(*rule, options.exclude) || (!options.only.empty() && !named(*rule, options.only));
    });
    for (const auto& rule : rules_) {
        for (const Operation* root : rule->roots) by_root_[root];
    }
    for (const auto& rule : rules_) add_needs(rule->needs);
    for (std::size_t r = 0; r < rules_.size(); ++r) {
        const Rule& rule = *rules_[r];
        auto add = [&](Lists& lists) {
            auto phase = static_cast<std::size_t>(rule.phase);
            lists.of[phase].push_back(static_cast<std::int32_t>(r));
            for (std::size_t p = phase; p < 3; ++p) lists.up_to[p].push_back(static_cast<std::int32_t>(r));
        };
        if (rule.roots.empty()) add(anywhere_);
        for (auto& [operation, lists] : by_root_) {
            bool here = std::find(rule.roots.begin(), rule.roots.end(), operation) != rule.roots.end();
            if (here || (rule.roots.empty() && operation->family == Family::elementwise)) add(lists);
        }
    }
}

void RuleSet::add_needs(const Needs& needs) {
    auto number = [&](auto& map, auto key) {
        auto [at, fresh] = map.emplace(key, static_cast<std::int32_t>(wanted_));
        wanted_ += fresh;
        return at->second;
    };
    auto& all = needs_.emplace_back();
    for (const auto& one_of : needs.operations) {
        all.emplace_back();
        for (const Operation* operation : one_of) all.back().push_back(number(operations_, operation));
    }
    for (double needed : needs.numbers) all.push_back({number(numbers_, needed)});
}

bool RuleSet::has_all(std::int32_t rule, const std::vector<bool>& there) const {
    const auto& needs = needs_[static_cast<std::size_t>(rule)];
    return std::all_of(needs.begin(), needs.end(), [&](const std::vector<std::int32_t>& one_of) {
        return std::any_of(one_of.begin(), one_of.end(),
                           [&](std::int32_t i) { return there[static_cast<std::size_t>(i)]; });
    });
}

const std::vector<std::int32_t>& RuleSet::at(Phase phase, const Operation& operation, bool settled) const {
    auto found = by_root_.find(&operation);
    const Lists& lists = found != by_root_.end()                   ? found->second
                         : operation.family == Family::elementwise ? anywhere_
                                                                   : none_;
    return (settled ? lists.of : lists.up_to)[static_cast<std::size_t>(phase)];
}

std::shared_ptr<const RuleSet> rules_for(const RewriteOptions& options) {
    const RewriteOptions* usual[] = {&default_rewriting(),
                                     &exact_rewriting(),
                                     &step_rewriting(false),
                                     &step_rewriting(true),
                                     &rewriting_in(MatmulPrecision::bfloat16),
                                     &rewriting_in(MatmulPrecision::bfloat16x3),
                                     &rewriting_in(MatmulPrecision::bfloat16x6)};
    auto which = std::find(std::begin(usual), std::end(usual), &options);
    if (which == std::end(usual)) return std::make_shared<RuleSet>(options);
    struct Kept {
        std::shared_ptr<const RuleSet> set;
        std::uint64_t version = ~std::uint64_t{0};
    };
    static std::mutex mutex;
    static Kept all[std::size(usual)];
    std::lock_guard lock(mutex);
    Kept& kept = all[which - std::begin(usual)];
    if (std::uint64_t now = rewriting_version(); now != kept.version)
        kept.set = std::make_shared<RuleSet>(options), kept.version = now;
    return kept.set;
}

}  // namespace weft
