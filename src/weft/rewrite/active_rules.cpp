#include "weft/rewrite/active_rules.h"

#include <cmath>

namespace weft {

ActiveRules::OfOperation& ActiveRules::of(const Operation& operation) {
    if (last_ && last_->operation == &operation) return *last_;
    auto place = [&](const Operation* wanted) -> std::unique_ptr<OfOperation>& {
        std::size_t at = (reinterpret_cast<std::uintptr_t>(wanted) >> 4) * 0x9e3779b97f4a7c15ull >> 32;
        while (of_[at % of_.size()] && of_[at % of_.size()]->operation != wanted) ++at;
        return of_[at % of_.size()];
    };
    if (auto& known = place(&operation)) return *(last_ = known.get());
    if (2 * ++operations_ > of_.size()) {
        std::vector<std::unique_ptr<OfOperation>> before(2 * of_.size());
        before.swap(of_);
        for (auto& one : before)
            if (one) place(one->operation).swap(one);
    }
    auto& fresh = place(&operation) = std::make_unique<OfOperation>();
    fresh->operation = &operation;
    note(rules_.wanted(operation));
    return *(last_ = fresh.get());
}

void ActiveRules::note(std::int32_t wanted) {
    if (wanted < 0 || there_[static_cast<std::size_t>(wanted)]) return;
    there_[static_cast<std::size_t>(wanted)] = true;
    ++version_;
}

void ActiveRules::met(const Node& node) {
    of(*node.operation);
    if (node.operation == &constant_operation) note_number(node);
}

// With what a conversion makes of it: 1 of true, a whole number. What other types round or wrap may be any of them.
void ActiveRules::note_number(const Node& constant) {
    const Literal& literal = constant.attributes_as<ConstantAttributes>().value;
    double value = literal.kind == Kind::complex ? 0 : literal.as<double>();
    bool plain = literal.kind != Kind::complex && std::abs(value) <= 127 && 2 * value == std::trunc(2 * value);
    if (!plain) return rules_.for_numbers([&](std::int32_t wanted) { note(wanted); });
    for (double number : {value, std::trunc(value), value == 0 ? 0.0 : 1.0}) note(rules_.wanted(number));
}

std::span<const std::int32_t> ActiveRules::at(Phase phase, const Operation& operation, bool settled) {
    OfOperation::List& list = of(operation).lists[settled ? 1 : 0][static_cast<std::size_t>(phase)];
    if (list.version != version_) {
        list.version = version_;
        list.rules.clear();
        for (std::int32_t rule : rules_.at(phase, operation, settled))
            if (rules_.has_all(rule, there_)) list.rules.push_back(rule);
    }
    return list.rules;
}

bool ActiveRules::any(Phase phase) {
    for (auto& one : of_)
        if (one && !at(phase, *one->operation, true).empty()) return true;
    return false;
}

}  // namespace weft
