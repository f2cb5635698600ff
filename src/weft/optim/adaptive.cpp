#include "weft/optim/adaptive.h"

#include "weft/ops/elementwise.h"
#include "weft/optim/moments.h"

namespace weft::optim {

RMSprop::RMSprop(RMSpropOptions options)
    : Optimizer("RMSprop", options.weight_decay, options.groups), options_(std::move(options)) {
    add_rate("lr", options_.lr);
    if (options_.momentum != 0) add_rate("momentum", options_.momentum);
    if (!(options_.alpha >= 0)) refuse("alpha", options_.alpha, "at least 0");
    if (!(options_.eps >= 0)) refuse("eps", options_.eps, "at least 0");
}

std::vector<Optimizer::SlotCell> RMSprop::slot_cells(const Parameter&) const {
    std::vector<SlotCell> cells = {{"square_avg"}};
    if (options_.momentum != 0) cells.push_back({"momentum_buffer"});
    if (options_.centered) cells.push_back({"grad_avg"});
    return cells;
}

void RMSprop::update(DType dtype, std::span<Slot*> slots) {
    Tensor lr = rate("lr", dtype), momentum;
    if (options_.momentum != 0) momentum = rate("momentum", dtype);
    RunningMean means(options_.alpha, dtype);
    for (Slot* slot : slots) {
        Tensor gradient = decayed(*slot);
        Tensor squares = means.next_of_squares(slot->state[0].value(), gradient), spread = squares;
        slot->state[0].set(squares);
        if (options_.centered) {
            Tensor average = means.next(slot->state.back().value(), gradient);
            slot->state.back().set(average);
            spread = squares - square(average);
        }
        Tensor direction = gradient / (sqrt(spread) + options_.eps);
        if (momentum) {
            direction = momentum * slot->state[1].value() + direction;
            slot->state[1].set(direction);
        }
        finish(*slot, slot->value - scaled(lr, *slot) * direction);
    }
}

Adagrad::Adagrad(AdagradOptions options)
    : Optimizer("Adagrad", options.weight_decay, options.groups), options_(std::move(options)) {
    add_rate("lr", options_.lr);
    if (!(options_.lr_decay >= 0)) refuse("lr_decay", options_.lr_decay, "at least 0");
    if (!(options_.initial_accumulator_value >= 0))
        refuse("initial_accumulator_value", options_.initial_accumulator_value, "at least 0");
    if (!(options_.eps >= 0)) refuse("eps", options_.eps, "at least 0");
    if (options_.lr_decay != 0) count_steps();
}

std::vector<Optimizer::SlotCell> Adagrad::slot_cells(const Parameter&) const {
    return {{"sum", options_.initial_accumulator_value}};
}

void Adagrad::update(DType dtype, std::span<Slot*> slots) {
    Tensor lr = rate("lr", dtype);
    if (options_.lr_decay != 0) lr = lr / (1.0 + (step_number(dtype) - 1.0) * options_.lr_decay);
    for (Slot* slot : slots) {
        Tensor gradient = decayed(*slot);
        Tensor squares = slot->state[0].value() + square(gradient);
        slot->state[0].set(squares);
        finish(*slot, slot->value - scaled(lr, *slot) * gradient / (sqrt(squares) + options_.eps));
    }
}

Adadelta::Adadelta(AdadeltaOptions options)
    : Optimizer("Adadelta", options.weight_decay, options.groups), options_(std::move(options)) {
    add_rate("lr", options_.lr);
    if (!(options_.rho >= 0 && options_.rho <= 1)) refuse("rho", options_.rho, "from 0 to 1");
    if (!(options_.eps >= 0)) refuse("eps", options_.eps, "at least 0");
}

std::vector<Optimizer::SlotCell> Adadelta::slot_cells(const Parameter&) const {
    return {{"square_avg"}, {"acc_delta"}};
}

void Adadelta::update(DType dtype, std::span<Slot*> slots) {
    Tensor lr = rate("lr", dtype);
    RunningMean means(options_.rho, dtype);
    double eps = options_.eps;
    for (Slot* slot : slots) {
        Tensor gradient = decayed(*slot);
        Tensor squares = means.next_of_squares(slot->state[0].value(), gradient), moved = slot->state[1].value();
        Tensor delta = sqrt(moved + eps) / sqrt(squares + eps) * gradient;
        slot->state[0].set(squares);
        slot->state[1].set(means.next_of_squares(moved, delta));
        finish(*slot, slot->value - scaled(lr, *slot) * delta);
    }
}

}  // namespace weft::optim
