#include "weft/optim/lion.h"

#include "weft/ops/elementwise.h"
#include "weft/optim/moments.h"

namespace weft::optim {

Lion::Lion(LionOptions options)
    : Optimizer("Lion", options.weight_decay, options.groups), options_(std::move(options)) {
    add_rate("lr", options_.lr);
    if (!(options_.beta1 >= 0 && options_.beta1 < 1)) refuse("beta1", options_.beta1, "at least 0 and below 1");
    if (!(options_.beta2 >= 0 && options_.beta2 < 1)) refuse("beta2", options_.beta2, "at least 0 and below 1");
}

std::vector<Optimizer::SlotCell> Lion::slot_cells(const Parameter&) const { return {{"exp_avg"}}; }

void Lion::update(DType dtype, std::span<Slot*> slots) {
    Tensor lr = rate("lr", dtype);
    RunningMean directions(options_.beta1, dtype), averages(options_.beta2, dtype);
    for (Slot* slot : slots) {
        Tensor average = slot->state[0].value(), gradient = slot->gradient;
        Tensor direction = sign(directions.next(average, gradient));
        if (slot->weight_decay != 0) direction = direction + slot->weight_decay * slot->value;
        slot->state[0].set(averages.next(average, gradient));
        finish(*slot, slot->value - scaled(lr, *slot) * direction);
    }
}

}  // namespace weft::optim
