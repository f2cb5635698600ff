// Optimizer::step: what is done around a rule's update(). All of it is written as operations, so a traced step holds it, and cells keep it.
#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/optim/optimizer.h"

namespace weft::optim {

/// Gradients become means over the calls since the last step. Whether the step is due: a truth value, or nothing if always.
Tensor Optimizer::accumulate(std::span<Slot* const> slots) {
    if (!accumulated_) return {};
    auto calls = static_cast<double>(options_.accumulate);
    Tensor count = accumulated_->value() + 1.0f, due = count >= calls;
    accumulated_->set(where(due, 0.0f, count));
    for (Slot* slot : slots) {
        Tensor total = slot->sum->value() + slot->gradient;
        slot->sum->set(where(due, 0.0, total));
        slot->gradient = total / calls;
    }
    return due;
}

/// With skip_zero: whether the step is due, and any of its gradients is not 0.
Tensor Optimizer::due_by_gradients(std::span<Slot* const> slots, const Tensor& due) const {
    if (!options_.skip_zero) return due;
    Tensor moved;
    for (const Slot* slot : slots) {
        Tensor one = any(slot->gradient != 0.0);
        moved = moved ? moved | one : one;
    }
    return due ? due & moved : moved;
}

void Optimizer::clip(std::span<Slot* const> slots) const {
    auto each = [&](auto clipped, double most) {
        if (most == 0) return;
        std::vector<Tensor> gradients;
        for (const Slot* slot : slots) gradients.push_back(slot->gradient);
        gradients = clipped(gradients, most);
        for (std::size_t i = 0; i < slots.size(); ++i) slots[i]->gradient = gradients[i];
    };
    each(clip_value, options_.clip_value);
    each(clip_each_norm, options_.clip_each_norm);
    each(clip_norm, options_.clip_norm);
}

void Optimizer::keep_averages(std::span<Slot* const> slots) {
    if (!averaged_) return;
    Tensor count = averaged_->value() + 1.0;
    averaged_->set(count);
    Tensor number = maximum(count - static_cast<double>(options_.average->start), 1.0);  // of steps in the mean
    Tensor share = options_.average->decay
                       ? where(number == 1.0, 1.0, constant(1 - *options_.average->decay, DType::float64))
                       : 1.0 / number;
    for (Slot* slot : slots) {
        Tensor part = astype(share, slot->average->dtype());
        slot->average->set((1.0 - part) * slot->average->value() + part * slot->parameter.value());
    }
}

/// What a step gives new values: where it is not due, all of these stay.
std::vector<Parameter> Optimizer::changing(std::span<Slot* const> slots) const {
    std::vector<Parameter> cells = shared_;
    if (steps_) cells.push_back(*steps_);
    if (averaged_) cells.push_back(*averaged_);
    for (const Slot* slot : slots) {
        cells.push_back(slot->parameter);
        cells.insert(cells.end(), slot->state.begin(), slot->state.end());
        if (slot->average) cells.push_back(*slot->average);
    }
    return cells;
}

void Optimizer::step(std::span<const Parameter> parameters, std::span<const Tensor> gradients) {
    if (parameters.size() != gradients.size()) {
        throw ValueError(text(name_, ": ", parameters.size(), " parameters, but ", gradients.size(),
                              " gradients; there must be one for each"));
    }
    prepare(parameters);
    std::vector<Slot*> all, narrow, wide;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        Slot& slot = slot_of(parameters[i]);
        if (!(gradients[i].shape() == slot.parameter.shape())) {
            throw ShapeError(text(name_, ": the parameter '", slot.parameter.name(), "' has shape ",
                                  slot.parameter.shape(), ", its gradient ", gradients[i].shape()));
        }
        DType dtype = compute_dtype(slot.parameter.dtype());
        slot.value = astype(slot.parameter.value(), dtype);
        slot.gradient = astype(gradients[i], dtype);
        if (options_.maximize) slot.gradient = -slot.gradient;
        all.push_back(&slot);
        (dtype == DType::float64 ? wide : narrow).push_back(&slot);
    }
    Tensor due = due_by_gradients(all, accumulate(all));
    clip(all);
    std::vector<std::pair<Parameter, Tensor>> before;
    if (due) {
        for (const Parameter& cell : changing(all)) before.emplace_back(cell, cell.value());
    }
    if (steps_) steps_->set(steps_->value() + 1.0f);
    advance();
    if (!narrow.empty()) update(DType::float32, narrow);
    if (!wide.empty()) update(DType::float64, wide);
    for (Slot* slot : all) {
        for (const Constraint* constraint : slot->constraints)
            finish(*slot,
                   constrained(astype(slot->parameter.value(), compute_dtype(slot->parameter.dtype())), *constraint));
    }
    keep_averages(all);
    for (auto& [cell, value] : before) cell.set(where(due, cell.value(), value));
    for (Slot* slot : all) slot->value = slot->gradient = Tensor();
    if (!CellObserver::current()) compute_now();
}

void Optimizer::use_averages(bool use) {
    if (!options_.average || use == averages_used_) return;
    averages_used_ = use;
    for (const auto& slot : slots_) {
        Tensor mean = slot->average->value();
        slot->average->set(slot->parameter.value());
        slot->parameter.set(mean);
    }
}

// Outside of a trace nothing else asks for the new values, and what waits would grow from step to step.
void Optimizer::compute_now() const {
    std::vector<Tensor> values;
    for (const auto& slot : slots_) values.push_back(slot->parameter.value());
    for (const Parameter& cell : state()) values.push_back(cell.value());
    eval(values);
}

}  // namespace weft::optim
