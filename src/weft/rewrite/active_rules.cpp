#include "weft/rewrite/active_rules.h"

#include <cmath>

namespace weft {

std::int32_t ActiveRules::number(const Operation& operation) {
    auto is = [&](std::int32_t number, const Operation* wanted) {
        return of_[static_cast<std::size_t>(number)].operation == wanted;
    };
    if (last_ >= 0 && is(last_, &operation)) return last_;
    auto place = [&](const Operation* wanted) -> std::int32_t& {
        std::size_t at = (reinterpret_cast<std::uintptr_t>(wanted) >> 4) * 0x9e3779b97f4a7c15ull >> 32;
        while (numbers_[at % numbers_.size()] >= 0 && !is(numbers_[at % numbers_.size()], wanted)) ++at;
        return numbers_[at % numbers_.size()];
    };
    if (std::int32_t known = place(&operation); known >= 0) return last_ = known;
    of_.emplace_back().operation = &operation;
    if (2 * of_.size() > numbers_.size()) {
        numbers_.assign(2 * numbers_.size(), -1);
        for (std::size_t i = 0; i + 1 < of_.size(); ++i) place(of_[i].operation) = static_cast<std::int32_t>(i);
    }
    note(rules_.wanted(operation));
    return last_ = place(&operation) = static_cast<std::int32_t>(of_.size()) - 1;
}

void ActiveRules::note(std::int32_t wanted) {
    if (wanted < 0 || there_[static_cast<std::size_t>(wanted)]) return;
    there_[static_cast<std::size_t>(wanted)] = true;
    ++version_;
}

std::int32_t ActiveRules::met(const Node& node) {
    if (node.operation == &constant_operation) note_number(node);
    return number(*node.operation);
}

// With what a conversion makes of it: 1 of true, a whole number. What other types round or wrap may be any of them.
void ActiveRules::note_number(const Node& constant) {
    const Literal& literal = constant.attributes_as<ConstantAttributes>().value;
    double value = literal.kind == Kind::complex ? 0 : literal.as<double>();
    bool plain = literal.kind != Kind::complex && std::abs(value) <= 127 && 2 * value == std::trunc(2 * value);
    if (!plain) return rules_.for_numbers([&](std::int32_t wanted) { note(wanted); });
    for (double number : {value, std::trunc(value), value == 0 ? 0.0 : 1.0}) note(rules_.wanted(number));
}

std::span<const std::int32_t> ActiveRules::at(Phase phase, std::int32_t operation, bool settled) {
    OfOperation& of = of_[static_cast<std::size_t>(operation)];
    OfOperation::List& list = of.lists[settled ? 1 : 0][static_cast<std::size_t>(phase)];
    if (list.version != version_) {
        list.version = version_;
        list.rules.clear();
        for (std::int32_t rule : rules_.at(phase, *of.operation, settled))
            if (rules_.has_all(rule, there_)) list.rules.push_back(rule);
    }
    return list.rules;
}

bool ActiveRules::any(Phase phase) {
    for (std::size_t i = 0; i < of_.size(); ++i)
        if (!at(phase, static_cast<std::int32_t>(i), true).empty()) return true;
    return false;
}

}  // namespace weft
