#include "weft/optim/adam.h"

#include <cmath>

#include "weft/ops/elementwise.h"

namespace weft::optim {
namespace {

// 1 - beta**t without cancellation: beta**t is near 1 at first.
Tensor bias_correction(double beta, const Tensor& t) { return -expm1(t * std::log(beta)); }

}  // namespace

Adam::Adam(std::string_view name, AdamOptions options, bool decoupled)
    : Optimizer(name, options.weight_decay, options.groups), options_(std::move(options)), decoupled_(decoupled) {
    add_rate("lr", options_.lr);
    count_steps();
    if (!(options_.beta1 >= 0 && options_.beta1 < 1)) refuse("beta1", options_.beta1, "at least 0 and below 1");
    if (!(options_.beta2 >= 0 && options_.beta2 < 1)) refuse("beta2", options_.beta2, "at least 0 and below 1");
    if (!(options_.eps >= 0)) refuse("eps", options_.eps, "at least 0");
}

Adam::Adam(AdamOptions options) : Adam("Adam", std::move(options), false) {}
AdamW::AdamW(AdamWOptions o)
    : Adam("AdamW", {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, std::move(o.groups)}, true) {}

std::vector<Optimizer::SlotCell> Adam::slot_cells() const { return {{"exp_avg"}, {"exp_avg_sq"}}; }

void Adam::update(DType dtype, std::span<Slot*> slots) {
    double beta1 = options_.beta1, beta2 = options_.beta2;
    Tensor t = step_number(dtype), lr = rate("lr", dtype);
    Tensor step_size = lr / bias_correction(beta1, t), root_correction = rsqrt(bias_correction(beta2, t));
    for (Slot* slot : slots) {
        Tensor gradient = decoupled_ ? slot->gradient : decayed(*slot);
        Tensor average = beta1 * slot->state[0].value() + (1 - beta1) * gradient;
        Tensor squares = beta2 * slot->state[1].value() + (1 - beta2) * square(gradient);
        slot->state[0].set(average);
        slot->state[1].set(squares);
        Tensor value = slot->value;
        if (decoupled_ && slot->weight_decay != 0) value = value * (1.0 - scaled(lr, *slot) * slot->weight_decay);
        finish(*slot, value - scaled(step_size, *slot) * average / (sqrt(squares) * root_correction + options_.eps));
    }
}

}  // namespace weft::optim
