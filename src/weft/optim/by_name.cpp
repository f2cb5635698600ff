#include "weft/optim/by_name.h"

#include <algorithm>

#include "weft/base/nearest.h"
#include "weft/optim/batch_method.h"

namespace weft::optim {
namespace {

template <class T>
std::vector<T> chosen_of(std::span<const T> all, const std::vector<std::size_t>& which) {
    std::vector<T> some;
    for (std::size_t i : which) some.push_back(all[i]);
    return some;
}

}  // namespace

ByName::ByName(std::vector<Part> parts) : Optimizer("by_name", 0, {}), parts_(std::move(parts)) {
    if (parts_.empty())
        throw ValueError("by_name: there are no parts; give globs of parameters and an optimizer for each");
    for (const Part& part : parts_) {
        if (dynamic_cast<const BatchMethod*>(part.optimizer.get()))
            throw ValueError(
                text("by_name: the part '", part.match,
                     "' searches along lines, which takes all parameters at once; give it a rule such as adam"));
        for (std::string_view rate : part.optimizer->rates()) rate_names_.push_back(text(part.match, " ", rate));
    }
}

std::vector<std::vector<std::size_t>> ByName::shares(std::span<const Parameter> parameters) const {
    std::vector<std::vector<std::size_t>> all(parts_.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        auto takes = [&](const Part& part) { return glob_match(part.match, parameters[i].name()); };
        auto part = std::find_if(parts_.begin(), parts_.end(), takes);
        if (part == parts_.end())
            throw ValueError(text("by_name: no part takes the parameter '", parameters[i].name(),
                                  "'; a last part '*' takes all that are left"));
        all[static_cast<std::size_t>(part - parts_.begin())].push_back(i);
    }
    return all;
}

void ByName::step(std::span<const Parameter> parameters, std::span<const Tensor> gradients) {
    if (parameters.size() != gradients.size())
        throw ValueError(text("by_name: ", parameters.size(), " parameters, but ", gradients.size(),
                              " gradients; there must be one for each"));
    std::vector<std::vector<std::size_t>> which = shares(parameters);
    for (std::size_t i = 0; i < parts_.size(); ++i)
        parts_[i].optimizer->step(chosen_of(parameters, which[i]), chosen_of(gradients, which[i]));
}

void ByName::prepare(std::span<const Parameter> parameters) {
    check(parameters);
    std::vector<std::vector<std::size_t>> which = shares(parameters);
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].optimizer->prepare(chosen_of(parameters, which[i]));
}

void ByName::check(std::span<const Parameter> parameters) const {
    std::vector<std::vector<std::size_t>> which = shares(parameters);
    std::vector<std::string_view> names;
    for (const Parameter& parameter : parameters) names.push_back(parameter.name());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (which[i].empty())
            throw ValueError(text("by_name: the part '", parts_[i].match, "' takes no parameter",
                                  did_you_mean(parts_[i].match, names)));
        parts_[i].optimizer->check(chosen_of(parameters, which[i]));
    }
}

void ByName::use_averages(bool use) {
    for (const Part& part : parts_) part.optimizer->use_averages(use);
}

bool ByName::uses_averages() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.optimizer->uses_averages(); });
}

std::vector<std::pair<std::string, Parameter>> ByName::named_state() const {
    std::vector<std::pair<std::string, Parameter>> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        for (auto& [name, cell] : parts_[i].optimizer->named_state()) all.emplace_back(text(i, ".", name), cell);
    }
    return all;
}

std::pair<Optimizer*, std::string_view> ByName::rate_of(std::string_view rate) const {
    for (const Part& part : parts_) {
        std::string_view match = part.match;
        if (rate.size() > match.size() && rate.starts_with(match) && rate[match.size()] == ' ')
            return {part.optimizer.get(), rate.substr(match.size() + 1)};
    }
    return {parts_[0].optimizer.get(), rate};
}

void ByName::set(std::string_view rate, double value) {
    auto [optimizer, name] = rate_of(rate);
    optimizer->set(name, value);
}

double ByName::get(std::string_view rate) const {
    auto [optimizer, name] = rate_of(rate);
    return optimizer->get(name);
}

}  // namespace weft::optim
