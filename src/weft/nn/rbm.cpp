#include "weft/nn/rbm.h"

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/nn/notes.h"
#include "weft/nn/training.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft::nn {
namespace {

Tensor drawn(const Tensor& logits) { return astype(random::uniform(logits.shape()) < sigmoid(logits), logits.dtype()); }

Parameter zero_bias(std::int64_t size) { return Parameter(Tensor(Array::zeros(DType::float32, {size}))); }

}  // namespace

RBM::RBM(std::int64_t visible, std::int64_t hidden, RBMOptions options) : options_(std::move(options)) {
    check_positive("RBM", "visible", visible);
    check_positive("RBM", "hidden", hidden);
    check_positive("RBM", "steps", options_.steps);
    if (options_.chains < 0) throw ValueError(text("RBM: chains is ", options_.chains, "; it must be at least 0"));
    TwoKeys keys = two_keys(options_.key);
    weight = Parameter(init::normal({hidden, visible}, 0, 0.01, keys.first));  // Hinton (2010)
    visible_bias = zero_bias(visible), hidden_bias = zero_bias(hidden);
    if (options_.chains == 0) return;
    Shape shape{Size(options_.chains), Size(visible)};
    Tensor start = options_.gaussian ? random::normal(shape, 0, 1, keys.second)
                                     : astype(random::uniform(shape, 0, 1, keys.second) < 0.5, DType::float32);
    chains = Parameter(start.eval(), "", false);
}

Tensor RBM::hidden_logits(const Tensor& v) const { return matmul(v, weight.value().T()) + hidden_bias; }
Tensor RBM::visible_logits(const Tensor& h) const { return matmul(h, weight.value()) + visible_bias; }

Tensor RBM::free_energy(const Tensor& v) const {
    Tensor of_visible =
        options_.gaussian ? sum(square(v - visible_bias), -1) * 0.5 : -sum(v * visible_bias.value(), -1);
    return of_visible - sum(softplus(hidden_logits(v)), -1);
}

Tensor RBM::gibbs(Tensor v, std::int64_t steps) const {
    for (std::int64_t step = 0; step < steps; ++step) {
        Tensor logits = visible_logits(drawn(hidden_logits(v)));
        v = options_.gaussian ? logits + random::normal(logits.shape()) : drawn(logits);
    }
    return v;
}

void RBM::add_costs(const Tensor& v) const {
    if (training()) {
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
