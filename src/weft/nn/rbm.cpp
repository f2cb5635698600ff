#include "weft/nn/rbm.h"

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/nn/notes.h"
#include "weft/nn/training.h"
#include "weft/nn/units.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft::nn {

RBM::RBM(std::int64_t visible, std::int64_t hidden, RBMOptions options) : options_(std::move(options)) {
    check_positive("RBM", "visible", visible);
    check_positive("RBM", "hidden", hidden);
    check_positive("RBM", "steps", options_.steps);
    if (options_.chains < 0) throw ValueError(text("RBM: chains is ", options_.chains, "; it must be at least 0"));
    TwoKeys keys = two_keys(options_.key);
    weight = Parameter(init::normal({hidden, visible}, 0, 0.01, keys.first));  // Hinton (2010)
    visible_bias = zero_bias(visible), hidden_bias = zero_bias(hidden);
    if (options_.chains == 0) return;
    if (!options_.gaussian) chains = tossed_units(options_.chains, visible, keys.second);
    if (options_.gaussian)
        chains = Parameter(random::normal({options_.chains, visible}, 0, 1, keys.second).eval(), "", false);
}

Tensor RBM::hidden_logits(const Tensor& v) const { return matmul(v, weight.value().T()) + hidden_bias; }
Tensor RBM::visible_logits(const Tensor& h) const { return matmul(h, weight.value()) + visible_bias; }

Tensor RBM::free_energy(const Tensor& v) const {
    Tensor of_visible =
        options_.gaussian ? sum(square(v - visible_bias), -1) * 0.5 : -sum(v * visible_bias.value(), -1);
    return of_visible - sum(softplus(hidden_logits(v)), -1);
}

TwoGroups RBM::groups(const Tensor& visible_means) const {
    if (options_.gaussian)
        throw ValueError(
            "log Z of an RBM: the visible units are real numbers; it takes a machine whose units are 0 and 1");
    Tensor start = visible_means ? log_odds(visible_means) : visible_bias.value();
    return {weight.value(), visible_bias.value(), hidden_bias.value(), start, {}};
}

Tensor RBM::gibbs(Tensor v, std::int64_t steps) const {
    for (std::int64_t step = 0; step < steps; ++step) {
        Tensor logits = visible_logits(drawn_units(hidden_logits(v)));
        v = options_.gaussian ? logits + random::normal(logits.shape()) : drawn_units(logits);
    }
    return v;
}

void RBM::add_costs(const Tensor& v) const {
    if (training() && weight.trainable()) {  // one that is held has nothing to learn by chains
        Tensor made = stop_gradient(gibbs(chains ? chains->value() : v, options_.steps));
        if (chains) Parameter(*chains).set(made);
        add_cost("energy", mean(free_energy(v)) - mean(free_energy(made)), AddedCost::Part::penalty);
    }
    Tensor back = visible_logits(sigmoid(hidden_logits(v)));
    Tensor losses = options_.gaussian ? square(v - back) * 0.5 : softplus(back) - v * back;
    add_cost("reconstruction", mean(sum(losses, -1)), AddedCost::Part::reported);
}

Tensor RBM::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(weight, "RBM"));
    check_axis("RBM", x, 2, -1, visible_bias.shape()[0].value(), "visible units");
    Tensor v = x.as_tensor();
    if (Notes::current()) add_costs(v);
    return sigmoid(hidden_logits(v));
}

}  // namespace weft::nn
