#include "weft/optim/optimizer.h"

#include <algorithm>
#include <set>

#include "weft/base/nearest.h"
#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"

namespace weft::optim {
namespace {

Array filled(const Dims& dims, DType dtype, double value) {
    Array array = Array::zeros(dtype, dims);
    if (value == 0) return array;
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        std::fill_n(array.data<T>(), array.size(), Literal(value).as<T>());
    });
    return array;
}

}  // namespace

Optimizer::Optimizer(std::string_view name, double weight_decay, std::vector<Group> groups)
    : name_(name), weight_decay_(weight_decay) {
    if (!(weight_decay_ >= 0)) refuse("weight_decay", weight_decay_, "at least 0");
    set_groups(std::move(groups));
}

// Here, so that no program that includes the header instantiates what they consist of.
Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;

std::span<const std::unique_ptr<Optimizer::Slot>> Optimizer::slots() const { return slots_; }

void Optimizer::set_groups(std::vector<Group> groups) {
    if (!slots_.empty()) throw ValueError(text(name_, ": groups are set before the first step"));
    for (const Group& group : groups) {
        if (!(group.lr >= 0)) refuse("the lr factor of group '" + group.match + "'", group.lr, "at least 0");
        if (!(group.weight_decay.value_or(0) >= 0)) refuse("weight_decay", *group.weight_decay, "at least 0");
    }
    groups_ = std::move(groups);
}

void Optimizer::configure(StepOptions options) {
    if (!slots_.empty()) throw ValueError(text(name_, ": what is done around steps is set before the first one"));
    auto not_negative = [&](const char* name, double value) {
        if (!(value >= 0)) refuse(name, value, "above 0, or 0 for no clipping");
    };
    not_negative("clip_value", options.clip_value);
    not_negative("clip_each_norm", options.clip_each_norm);
    not_negative("clip_norm", options.clip_norm);
    if (options.accumulate < 1) refuse("accumulate", static_cast<double>(options.accumulate), "at least 1");
    if (options.average) {
        double decay = options.average->decay.value_or(0);
        if (!(decay >= 0 && decay < 1)) refuse("the average's decay", decay, "at least 0 and below 1");
        if (options.average->start < 0)
            refuse("the average's start", static_cast<double>(options.average->start), "at least 0");
    }
    accumulated_.reset(), averaged_.reset();
    if (options.accumulate > 1) accumulated_.emplace(Tensor(Array::scalar(0.0f)), "accumulated", false);
    if (options.average) averaged_.emplace(Tensor(Array::scalar(0.0)), "averaged", false);
    options_ = std::move(options);
}

void Optimizer::refuse(std::string_view option, double value, std::string_view rule) const {
    throw ValueError(text(name_, ": ", option, " is ", value, "; it must be ", rule));
}

void Optimizer::add_rate(std::string_view name, double value, double least) {
    if (!(value >= least)) refuse(name, value, text("at least ", least));
    rates_.emplace_back(Tensor(Array::scalar(value)), std::string(name), false);
    least_.push_back(least);
}

void Optimizer::count_steps() { steps_.emplace(Tensor(Array::scalar(0.0f)), "step", false); }

void Optimizer::add_cell(std::string_view name, double initial) {
    shared_.emplace_back(Tensor(Array::scalar(initial)), std::string(name), false);
}

const Parameter& Optimizer::rate_cell(std::string_view name) const {
    for (const Parameter& cell : rates_) {
        if (cell.name() == name) return cell;
    }
    throw ValueError(text(name_, " has no rate '", name, "'", did_you_mean(name, rates())));
}

std::vector<std::string_view> Optimizer::rates() const {
    std::vector<std::string_view> names;
    for (const Parameter& cell : rates_) names.push_back(cell.name());
    return names;
}

void Optimizer::set(std::string_view rate, double value) {
    Parameter cell = rate_cell(rate);
    double least = 0;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
        if (rates_[i].cell() == cell.cell()) least = least_[i];
    }
    if (!(value >= least)) refuse(rate, value, text("at least ", least));
    cell.set(Tensor(Array::scalar(value)));
}

double Optimizer::get(std::string_view rate) const { return rate_cell(rate).value().item<double>(); }

Tensor Optimizer::rate(std::string_view name, DType dtype) const { return astype(rate_cell(name).value(), dtype); }

Tensor Optimizer::scaled(const Tensor& rate, const Slot& slot) {
    return slot.lr_factor == 1 ? rate : rate * slot.lr_factor;
}

Tensor Optimizer::step_number(DType dtype) const { return astype(steps_->value(), dtype); }

Tensor Optimizer::decayed(const Slot& slot) {
    return slot.weight_decay == 0 ? slot.gradient : slot.gradient + slot.weight_decay * slot.value;
}

Tensor Optimizer::share_kept(const Slot& slot, const Tensor& lr) {
    return slot.weight_decay == 0 ? Tensor() : 1.0 - scaled(lr, slot) * slot.weight_decay;
}

Tensor Optimizer::shrunk(const Slot& slot, const Tensor& lr) {
    Tensor kept = share_kept(slot, lr);
    return kept ? slot.value * kept : slot.value;
}

void Optimizer::finish(Slot& slot, const Tensor& value) { slot.parameter.set(astype(value, slot.parameter.dtype())); }

std::string Optimizer::cell_name(const Parameter& parameter) const {
    return parameter.name().empty() ? text("parameter", slots_.size()) : parameter.name();
}

Optimizer::Slot& Optimizer::slot_of(const Parameter& parameter) {
    auto found = by_cell_.find(parameter.cell().get());
    if (found != by_cell_.end()) return *found->second;
    auto slot = std::make_unique<Slot>();
    slot->parameter = parameter;
    slot->weight_decay = weight_decay_;
    std::string name = cell_name(parameter);
    for (const Group& group : groups_) {
        if (!glob_match(group.match, name)) continue;
        slot->lr_factor = group.lr;
        slot->weight_decay = group.weight_decay.value_or(weight_decay_);
        break;
    }
    Dims dims = dims_of(parameter.shape());
    DType dtype = compute_dtype(parameter.dtype());
    auto zeros = [&](std::string_view cell, double initial) {
        return Parameter(Tensor(filled(dims, dtype, initial)), text(name, ".", cell), false);
    };
    for (const SlotCell& cell : slot_cells(parameter)) slot->state.push_back(zeros(cell.name, cell.initial));
    if (options_.accumulate > 1) slot->sum = zeros("gradient_sum", 0);
    if (options_.average) slot->average = zeros("average", 0);
    for (const Constraint& constraint : options_.constraints) {
        if (glob_match(constraint.match, name)) slot->constraints.push_back(&constraint);
    }
    by_cell_.emplace(parameter.cell().get(), slot.get());
    slots_.push_back(std::move(slot));
    return *slots_.back();
}

void Optimizer::check_new(const Parameter& parameter) const {
    if (!is_floating(parameter.dtype())) {
        throw DTypeError(text(name_, ": the parameter '", parameter.name(), "' holds ", parameter.dtype(),
                              "; only real floating numbers are trained"));
    }
    if (options_.average && compute_dtype(parameter.dtype()) != parameter.dtype()) {
        throw DTypeError(text(name_, ": the parameter '", parameter.name(), "' holds ", parameter.dtype(),
                              ", in which a mean over steps would not move; average parameters of float32 or float64"));
    }
    for (const Constraint& constraint : options_.constraints) {
        if (glob_match(constraint.match, parameter.name())) optim::check(constraint, parameter);
    }
}

void Optimizer::check_globs(const std::vector<std::string_view>& names) const {
    auto must_match = [&](const char* what, const std::string& glob) {
        auto matches = [&](std::string_view name) { return glob_match(glob, name); };
        if (std::any_of(names.begin(), names.end(), matches)) return;
        throw ValueError(text(name_, ": the ", what, " '", glob, "' matches no parameter", did_you_mean(glob, names)));
    };
    for (const Group& group : groups_) must_match("group", group.match);
    for (const Constraint& constraint : options_.constraints) must_match("constraint", constraint.match);
}

void Optimizer::check(std::span<const Parameter> parameters) const {
    std::vector<std::string_view> names;
    for (const auto& slot : slots_) names.push_back(slot->parameter.name());
    std::set<std::string_view> distinct(names.begin(), names.end());
    for (const Parameter& parameter : parameters) {
        check_new(parameter);
        if (by_cell_.count(parameter.cell().get())) continue;
        (void)slot_cells(parameter);  // a rule refuses what it cannot train
        names.push_back(parameter.name());
        if (!parameter.name().empty() && !distinct.insert(parameter.name()).second) {
            throw ValueError(text(name_, ": two parameters are named '", parameter.name(),
                                  "'; their state would be mixed up, so rename one"));
        }
    }
    check_globs(names);
}

void Optimizer::prepare(std::span<const Parameter> parameters) {
    bool all_known = std::all_of(parameters.begin(), parameters.end(),
                                 [&](const Parameter& p) { return by_cell_.count(p.cell().get()) != 0; });
    if (all_known) return;
    check(parameters);
    for (const Parameter& parameter : parameters) slot_of(parameter);
}

std::vector<Parameter> Optimizer::state() const {
    std::vector<Parameter> cells = rates_;
    for (const std::optional<Parameter>* count : {&steps_, &accumulated_, &averaged_}) {
        if (*count) cells.push_back(**count);
    }
    cells.insert(cells.end(), shared_.begin(), shared_.end());
    for (const auto& slot : slots_) {
        cells.insert(cells.end(), slot->state.begin(), slot->state.end());
        if (slot->sum) cells.push_back(*slot->sum);
        if (slot->average) cells.push_back(*slot->average);
    }
    return cells;
}

std::vector<std::pair<std::string, Parameter>> Optimizer::named_state() const {
    std::vector<std::pair<std::string, Parameter>> all;
    for (const Parameter& cell : state()) all.emplace_back(cell.name(), cell);
    return all;
}

bool glob_match(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*')
            star = p++, resume = n;
        else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]))
            ++p, ++n;
        else if (star != std::string_view::npos)
            p = star + 1, n = ++resume;  // the last star takes one more
        else
            return false;
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace weft::optim
