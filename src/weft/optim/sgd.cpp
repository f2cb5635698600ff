#include "weft/optim/sgd.h"

#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"

namespace weft::optim {

SGD::SGD(SGDOptions options) : Optimizer("SGD", options.weight_decay, options.groups), options_(std::move(options)) {
    add_rate("lr", options_.lr);
    if (options_.momentum != 0) add_rate("momentum", options_.momentum);
    if (options_.nesterov && (options_.momentum == 0 || options_.dampening != 0)) {
        throw ValueError("SGD: nesterov needs a momentum above 0 and no dampening");
    }
    if (options_.dampening != 0) count_steps();  // the first velocity is the gradient itself, not damped
}

std::vector<Optimizer::SlotCell> SGD::slot_cells(const Parameter&) const {
    if (options_.momentum == 0) return {};
    return {{"momentum_buffer"}};
}

void SGD::update(DType dtype, std::span<Slot*> slots) {
    Tensor lr = rate("lr", dtype), momentum, keep;
    if (options_.momentum != 0) momentum = rate("momentum", dtype);
    if (options_.dampening != 0) keep = where(step_number(dtype) == 1.0, 1.0, constant(1 - options_.dampening, dtype));
    for (Slot* slot : slots) {
        Tensor direction = decayed(*slot);
        if (momentum) {
            Tensor velocity = momentum * slot->state[0].value() + (keep ? keep * direction : direction);
            slot->state[0].set(velocity);
            direction = options_.nesterov ? direction + momentum * velocity : velocity;
        }
        finish(*slot, slot->value - scaled(lr, *slot) * direction);
    }
}

}  // namespace weft::optim
