#include "weft/rewrite/rule.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "weft/ops/elementwise.h"
#include "weft/rewrite/rewrite.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

struct Registry {
    std::mutex mutex;
    std::vector<std::shared_ptr<const Rule>> own, added;
    std::atomic<std::uint64_t> version{0};
    Registry() {
        for (Rule& rule : builtin_rules()) own.push_back(std::make_shared<const Rule>(std::move(rule)));
    }
    static Registry& get() {
        static Registry* registry = new Registry;
        return *registry;
    }
};

bool has(const std::vector<std::shared_ptr<const Rule>>& rules, std::string_view name) {
    return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule->name == name; });
}

// The right-hand side, for messages: called on placeholders where that can be done.
std::string text_of(const Expression& expression) try {
    KeepPending keep;
    std::vector<Tensor> placeholders;
    for (std::size_t i = 0; i < expression.arity; ++i)
        placeholders.push_back(input(std::string(1, static_cast<char>('a' + i)), {}));
    return written(*expression.call(placeholders).node(), 1000);
} catch (const Error&) {
    return "...";
}

}  // namespace

std::string_view name_of(Phase phase) {
    static constexpr std::string_view names[] = {"canonical", "stable", "special"};
    return names[static_cast<std::size_t>(phase)];
}

std::string_view name_of(Assumes assumes) {
    static constexpr std::string_view names[] = {"nothing", "finite", "exact"};
    return names[static_cast<std::size_t>(assumes)];
}

Rule pattern_rule(std::string name, Phase phase, Expression left, Expression right, PatternOptions options) {
    auto pattern = std::make_shared<const Pattern>(left, options.gated);
    Rule rule;
    rule.name = std::move(name);
    rule.phase = phase;
    rule.roots = {&pattern->root()};
    if (options.gated && &pattern->root() == &multiply_operation) rule.roots.push_back(&gated_multiply_operation);
    rule.assumes = options.assumes;
    rule.examples = {{left, {}, options.dtypes, options.domain, options.gradient}};
    rule.text = pattern->str() + " -> " + text_of(right);
    rule.needs = pattern->needs();
    rule.apply = [pattern, right, takes = options.takes, mixed = options.mixed,
                  guard = options.guard](const Site& site) -> Tensor {
        if (takes && !takes(site.node.dtype)) return {};
        std::optional<Pattern::Binding> binding = pattern->match(site.node);
        if (!binding) return {};
        std::array<Tensor, detail::most_variables> variables;
        std::span<const Tensor> given(variables.data(), pattern->variables());
        for (std::size_t i = 0; i < given.size(); ++i) {
            DType read = binding->dtypes[i], result = site.node.dtype;
            bool free = mixed || binding->conditions[i] || result == DType::bool_;
            if (!free && read != result) return {};
            variables[i] = astype(handle(binding->nodes[i]), read);
        }
        if (guard && !guard(site, given)) return {};
        return right.call(given);
    };
    return rule;
}

void register_rule(Rule rule) {
    Registry& registry = Registry::get();
    std::lock_guard lock(registry.mutex);
    if (!rule.apply) throw ValueError(text("register_rule: the rule '", rule.name, "' has no function to apply"));
    if (has(registry.own, rule.name) || has(registry.added, rule.name))
        throw ValueError(text("register_rule: there is a rule '", rule.name, "' already; give this one another name"));
    registry.added.push_back(std::make_shared<const Rule>(std::move(rule)));
    ++registry.version;
}

void remove_rule(std::string_view name) {
    Registry& registry = Registry::get();
    std::lock_guard lock(registry.mutex);
    if (std::erase_if(registry.added, [&](const auto& rule) { return rule->name == name; }) == 0)
        throw ValueError(text("remove_rule: no rule '", name, "' was added by register_rule"));
    ++registry.version;
}

std::vector<std::shared_ptr<const Rule>> shared_rules() {
    Registry& registry = Registry::get();
    std::lock_guard lock(registry.mutex);
    std::vector<std::shared_ptr<const Rule>> all = registry.own;
    all.insert(all.end(), registry.added.begin(), registry.added.end());
    return all;
}

std::vector<Rule> all_rules() {
    std::vector<Rule> all;
    for (const auto& rule : shared_rules()) all.push_back(*rule);
    return all;
}

std::uint64_t rewriting_version() { return Registry::get().version.load(); }

}  // namespace weft
