#include "weft/nn/dbm.h"

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
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft::nn {
namespace {

/// Of independent units, sum over them, of their logits and means: softplus(x) - x sigmoid(x).
Tensor entropy(const Tensor& logits) { return sum(softplus(logits) - logits * sigmoid(logits), -1); }

}  // namespace

DBM::DBM(std::int64_t visible, std::int64_t first, std::int64_t second, DBMOptions options)
    : options_(std::move(options)) {
    check_positive("DBM", "visible", visible), check_positive("DBM", "first", first);
    check_positive("DBM", "second", second), check_positive("DBM", "steps", options_.steps);
    check_positive("DBM", "chains", options_.chains), check_positive("DBM", "mean_field", options_.mean_field);
    std::vector<Tensor> keys = keys_of(options_.key, 4);
    first_weight = Parameter(init::normal({first, visible}, 0, 0.01, keys[0]));  // Hinton (2010)
    second_weight = Parameter(init::normal({second, first}, 0, 0.01, keys[1]));
    visible_bias = zero_bias(visible), first_bias = zero_bias(first), second_bias = zero_bias(second);
    chains = tossed_units(options_.chains, visible, keys[2]),
    top_chains = tossed_units(options_.chains, second, keys[3]);
}

Tensor DBM::first_logits(const Tensor& v, const Tensor& g) const {
    return matmul(v, first_weight.value().T()) + matmul(g, second_weight.value()) + first_bias;
}
Tensor DBM::second_logits(const Tensor& h) const { return matmul(h, second_weight.value().T()) + second_bias; }
Tensor DBM::visible_logits(const Tensor& h) const { return matmul(h, first_weight.value()) + visible_bias; }

DBM::Hidden DBM::mean_field(const Tensor& v) const {
    Tensor from_below = matmul(v, first_weight.value().T()) + first_bias;
    Tensor first = sigmoid(from_below), second = sigmoid(second_logits(first));
    for (std::int64_t round = 0; round < options_.mean_field; ++round) {
        first = sigmoid(from_below + matmul(second, second_weight.value()));
        second = sigmoid(second_logits(first));
    }
    return {first, second};
}

Tensor DBM::minus_energy(const Tensor& v, const Hidden& hidden) const {
    return sum(v * visible_bias.value(), -1) +
           sum(hidden.first * (matmul(v, first_weight.value().T()) + first_bias), -1) +
           sum(hidden.second * second_logits(hidden.first), -1);
}

Tensor DBM::bound(const Tensor& v) const {
    Hidden hidden = mean_field(v);
    // A last half round, whose logits give the entropies: independent units are what they are by their logits.
    Tensor logits = first_logits(v, hidden.second);
    hidden.first = sigmoid(logits);
    Tensor last = second_logits(hidden.first);
    hidden.second = sigmoid(last);
    return minus_energy(v, hidden) + entropy(logits) + entropy(last);
}

Tensor DBM::log_weight(const Tensor& v, const Tensor& g) const {
    return sum(v * visible_bias.value(), -1) + sum(g * second_bias.value(), -1) + sum(softplus(first_logits(v, g)), -1);
}

std::pair<Tensor, Tensor> DBM::gibbs(Tensor v, Tensor g, std::int64_t steps) const {
    for (std::int64_t step = 0; step < steps; ++step) {
        Tensor h = drawn_units(first_logits(v, g));
        v = drawn_units(visible_logits(h)), g = drawn_units(second_logits(h));
    }
    return {v, g};
}

TwoGroups DBM::groups(const Tensor& visible_means) const {
    Tensor start = visible_means ? log_odds(visible_means) : visible_bias.value();
    return {concatenate({first_weight.value(), second_weight.value().T()}, 1).T(),
            first_bias.value(),
            concatenate({visible_bias.value(), second_bias.value()}, 0),
            {},
            concatenate({start, second_bias.value() * 0.0f}, 0)};
}

void DBM::add_costs(const Tensor& v, const Hidden& hidden) const {
    if (training()) {
        auto [made, top] = gibbs(chains.value(), top_chains.value(), options_.steps);
        made = stop_gradient(made), top = stop_gradient(top);
        Parameter(chains).set(made), Parameter(top_chains).set(top);
        Hidden held{stop_gradient(hidden.first), stop_gradient(hidden.second)};
        add_cost("energy", mean(log_weight(made, top)) - mean(minus_energy(v, held)), AddedCost::Part::penalty);
    }
    Tensor back = visible_logits(hidden.first);
    add_cost("reconstruction", mean(sum(softplus(back) - v * back, -1)), AddedCost::Part::reported);
}

Tensor DBM::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(first_weight, "DBM"));
    check_axis("DBM", x, 2, -1, visible_bias.shape()[0].value(), "visible units");
    Tensor v = x.as_tensor();
    Hidden hidden = mean_field(v);
    if (Notes::current()) add_costs(v, hidden);
    return hidden.second;
}

}  // namespace weft::nn
