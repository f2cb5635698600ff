#include "weft/optim/optimizer.h"

#include <algorithm>
#include <set>

#include "weft/base/nearest.h"
#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

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
    : name_(name), weight_decay_(weight_decay), groups_(std::move(groups)) {
    auto decay = [&](double value) {
        if (!(value >= 0)) refuse("weight_decay", value, "at least 0");
    };
    decay(weight_decay_);
    for (const Group& group : groups_) {
        if (!(group.lr >= 0)) refuse("the lr factor of group '" + group.match + "'", group.lr, "at least 0");
        decay(group.weight_decay.value_or(0));
    }
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
    for (const SlotCell& cell : slot_cells()) {
        slot->state.emplace_back(Tensor(filled(dims, dtype, cell.initial)), text(name, ".", cell.name), false);
    }
    by_cell_.emplace(parameter.cell().get(), slot.get());
    slots_.push_back(std::move(slot));
    return *slots_.back();
}

void Optimizer::prepare(std::span<const Parameter> parameters) {
    bool all_known = std::all_of(parameters.begin(), parameters.end(),
                                 [&](const Parameter& p) { return by_cell_.count(p.cell().get()) != 0; });
    if (all_known) return;
    std::vector<std::string_view> names;
    for (const auto& slot : slots_) names.push_back(slot->parameter.name());
    std::set<std::string_view> distinct(names.begin(), names.end());
    for (const Parameter& parameter : parameters) {
        if (!is_floating(parameter.dtype())) {
            throw DTypeError(text(name_, ": the parameter '", parameter.name(), "' holds ", parameter.dtype(),
                                  "; only real floating numbers are trained"));
        }
        if (by_cell_.count(parameter.cell().get())) continue;
        names.push_back(parameter.name());
        if (!parameter.name().empty() && !distinct.insert(parameter.name()).second) {
            throw ValueError(text(name_, ": two parameters are named '", parameter.name(),
                                  "'; their state would be mixed up, so rename one"));
        }
    }
    for (const Group& group : groups_) {
        auto matches = [&](std::string_view name) { return glob_match(group.match, name); };
        if (std::any_of(names.begin(), names.end(), matches)) continue;
        throw ValueError(
            text(name_, ": the group '", group.match, "' matches no parameter", did_you_mean(group.match, names)));
    }
    for (const Parameter& parameter : parameters) slot_of(parameter);
}

void Optimizer::step(std::span<const Parameter> parameters, std::span<const Tensor> gradients) {
    if (parameters.size() != gradients.size()) {
        throw ValueError(text(name_, ": ", parameters.size(), " parameters, but ", gradients.size(),
                              " gradients; there must be one for each"));
    }
    prepare(parameters);
    std::vector<Slot*> narrow, wide;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        Slot& slot = slot_of(parameters[i]);
        if (!(gradients[i].shape() == slot.parameter.shape())) {
            throw ShapeError(text(name_, ": the parameter '", slot.parameter.name(), "' has shape ",
                                  slot.parameter.shape(), ", its gradient ", gradients[i].shape()));
        }
        DType dtype = compute_dtype(slot.parameter.dtype());
        slot.value = astype(slot.parameter.value(), dtype);
        slot.gradient = astype(gradients[i], dtype);
        (dtype == DType::float64 ? wide : narrow).push_back(&slot);
    }
    if (steps_) steps_->set(steps_->value() + 1.0f);
    if (!narrow.empty()) update(DType::float32, narrow);
    if (!wide.empty()) update(DType::float64, wide);
    for (auto* slots : {&narrow, &wide}) {
        for (Slot* slot : *slots) slot->value = slot->gradient = Tensor();
    }
    if (!CellObserver::current()) compute_now();
}

// Outside of a trace nothing else asks for the new values, and what waits would grow from step to step.
void Optimizer::compute_now() const {
    std::vector<Tensor> values;
    for (const auto& slot : slots_) values.push_back(slot->parameter.value());
    for (const Parameter& cell : state()) values.push_back(cell.value());
    eval(values);
}

std::vector<Parameter> Optimizer::state() const {
    std::vector<Parameter> cells = rates_;
    if (steps_) cells.push_back(*steps_);
    for (const auto& slot : slots_) cells.insert(cells.end(), slot->state.begin(), slot->state.end());
    return cells;
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

std::vector<Tensor> clip_norm(std::span<const Tensor> gradients, double most) {
    if (!(most > 0)) throw ValueError(text("clip_norm: the largest norm is ", most, "; it must be above 0"));
    Tensor total;
    for (const Tensor& gradient : gradients) {
        Tensor squares = sum(square(astype(gradient, compute_dtype(gradient.dtype()))));
        total = total ? total + squares : squares;
    }
    if (!total) return {};
    Tensor factor = minimum(most / (sqrt(total) + 1e-6), 1.0);  // as PyTorch's clip_grad_norm_
    std::vector<Tensor> clipped;
    for (const Tensor& gradient : gradients) clipped.push_back(astype(gradient * factor, gradient.dtype()));
    return clipped;
}

}  // namespace weft::optim
