#include "weft/optim/adam.h"

#include <cmath>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"

namespace weft::optim {
namespace {

// 1 - beta**t without cancellation: beta**t is near 1 at first.
Tensor bias_correction(double beta, const Tensor& t) { return -expm1(t * std::log(beta)); }

}  // namespace

AdamMoments::AdamMoments(double beta1, double beta2, double eps, const Tensor& t)
    : averages(beta1, t.dtype()),
      squares(beta2, t.dtype()),
      eps(constant(eps, t.dtype())),
      correction1(bias_correction(beta1, t)),
      root_correction2(rsqrt(bias_correction(beta2, t))) {}

std::pair<Tensor, Tensor> AdamMoments::update(const Tensor& gradient, Parameter& average, Parameter& square) const {
    Tensor m = averages.next(average.value(), gradient), v = squares.next_of_squares(square.value(), gradient);
    average.set(m), square.set(v);
    return {m, v};
}

Tensor AdamMoments::divisor(const Tensor& v) const { return sqrt(v) * root_correction2 + eps; }

AdamFamily::AdamFamily(std::string_view name, AdamOptions options)
    : Optimizer(name, options.weight_decay, options.groups), options_(std::move(options)) {
    add_rate("lr", options_.lr);
    count_steps();
    if (!(options_.beta1 >= 0 && options_.beta1 < 1)) refuse("beta1", options_.beta1, "at least 0 and below 1");
    if (!(options_.beta2 >= 0 && options_.beta2 < 1)) refuse("beta2", options_.beta2, "at least 0 and below 1");
    if (!(options_.eps >= 0)) refuse("eps", options_.eps, "at least 0");
}

std::vector<Optimizer::SlotCell> AdamFamily::slot_cells(const Parameter&) const {
    return {{"exp_avg"}, {"exp_avg_sq"}};
}

std::pair<Tensor, Tensor> AdamFamily::begun(const Slot& slot, const Tensor& lr) const {
    if (!options_.decoupled_weight_decay) return {decayed(slot), slot.value};
    return {slot.gradient, shrunk(slot, lr)};
}

Adam::Adam(AdamOptions options) : AdamFamily("Adam", std::move(options)) {}
AdamW::AdamW(AdamWOptions o)
    : Adam("AdamW", {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.amsgrad, true, std::move(o.groups)}) {}

std::vector<Optimizer::SlotCell> Adam::slot_cells(const Parameter& parameter) const {
    std::vector<SlotCell> cells = AdamFamily::slot_cells(parameter);
    if (options_.amsgrad) cells.push_back({"max_exp_avg_sq"});
    return cells;
}

void Adam::update(DType dtype, std::span<Slot*> slots) {
    AdamMoments moments(options_.beta1, options_.beta2, options_.eps, step_number(dtype));
    Tensor lr = rate("lr", dtype), step_size = lr / moments.correction1;
    const Slot* before = nullptr;
    Tensor kept, rate_of;
    for (Slot* slot : slots) {
        bool alike = before && before->lr_factor == slot->lr_factor && before->weight_decay == slot->weight_decay;
        if (!alike) rate_of = scaled(step_size, *slot);
        if (!alike) kept = options_.decoupled_weight_decay ? share_kept(*slot, lr) : Tensor();
        before = slot;
        Tensor gradient = options_.decoupled_weight_decay ? slot->gradient : decayed(*slot);
        auto [average, squares] = moments.update(gradient, slot->state[0], slot->state[1]);
        if (options_.amsgrad) {
            squares = maximum(slot->state[2].value(), squares);
            slot->state[2].set(squares);
        }
        finish(*slot, adam_step(slot->value, kept, average, squares, rate_of, moments.root_correction2, moments.eps));
    }
}

NAdam::NAdam(NAdamOptions o)
    : AdamFamily("NAdam",
                 {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, false, o.decoupled_weight_decay, std::move(o.groups)}),
      momentum_decay_(o.momentum_decay) {
    if (!(momentum_decay_ >= 0)) refuse("momentum_decay", momentum_decay_, "at least 0");
    add_cell("mu_product", 1);
}

Tensor NAdam::momentum(const Tensor& t) const {
    return options_.beta1 * (1.0 - 0.5 * exp(t * (momentum_decay_ * std::log(0.96))));
}

void NAdam::advance() { cell(0).set(cell(0).value() * momentum(step_number(DType::float64))); }

void NAdam::update(DType dtype, std::span<Slot*> slots) {
    AdamMoments moments(options_.beta1, options_.beta2, options_.eps, step_number(dtype));
    Tensor t = step_number(DType::float64), product = cell(0).value(), next = momentum(t + 1.0), lr = rate("lr", dtype);
    Tensor of_gradient = lr * astype((1.0 - momentum(t)) / (1.0 - product), dtype);
    Tensor of_average = lr * astype(next / (1.0 - product * next), dtype);
    for (Slot* slot : slots) {
        auto [gradient, value] = begun(*slot, lr);
        auto [average, squares] = moments.update(gradient, slot->state[0], slot->state[1]);
        Tensor direction = scaled(of_gradient, *slot) * gradient + scaled(of_average, *slot) * average;
        finish(*slot, value - direction / moments.divisor(squares));
    }
}

RAdam::RAdam(RAdamOptions o)
    : AdamFamily("RAdam", {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, false, o.decoupled_weight_decay,
                           std::move(o.groups)}) {}

void RAdam::update(DType dtype, std::span<Slot*> slots) {
    AdamMoments moments(options_.beta1, options_.beta2, options_.eps, step_number(dtype));
    double most = 2 / (1 - options_.beta2) - 1, log_beta2 = std::log(options_.beta2);
    Tensor t = step_number(DType::float64);
    Tensor length = most - 2.0 * t * exp(t * log_beta2) / bias_correction(options_.beta2, t);
    Tensor trusted = length > 5.0;
    Tensor held = where(trusted, length, 6.0);  // where nothing is used of it, no root of a negative number
    Tensor factor = sqrt((held - 4.0) * (held - 2.0) * most / ((most - 4) * (most - 2) * held));
    Tensor lr = rate("lr", dtype), step_size = lr / moments.correction1;
    Tensor rectified = astype(factor, dtype) / moments.root_correction2;  // PyTorch adds eps to the root of v itself
    for (Slot* slot : slots) {
        auto [gradient, value] = begun(*slot, lr);
        auto [average, squares] = moments.update(gradient, slot->state[0], slot->state[1]);
        Tensor scale = where(trusted, rectified / (sqrt(squares) + moments.eps), 1.0);
        finish(*slot, value - scaled(step_size, *slot) * average * scale);
    }
}

Adamax::Adamax(AdamaxOptions o)
    : AdamFamily("Adamax", {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, false, false, std::move(o.groups)}) {}

std::vector<Optimizer::SlotCell> Adamax::slot_cells(const Parameter&) const { return {{"exp_avg"}, {"exp_inf"}}; }

void Adamax::update(DType dtype, std::span<Slot*> slots) {
    RunningMean averages(options_.beta1, dtype);
    Tensor lr = rate("lr", dtype), step_size = lr / bias_correction(options_.beta1, step_number(dtype));
    for (Slot* slot : slots) {
        auto [gradient, value] = begun(*slot, lr);
        Tensor average = averages.next(slot->state[0].value(), gradient);
        Tensor largest = maximum(options_.beta2 * slot->state[1].value(), abs(gradient) + options_.eps);
        slot->state[0].set(average), slot->state[1].set(largest);
        finish(*slot, value - scaled(step_size, *slot) * average / largest);
    }
}

}  // namespace weft::optim
