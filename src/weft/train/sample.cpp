#include "weft/train/sample.h"

#include <cmath>
#include <numbers>
#include <tuple>

#include "weft/base/error.h"
#include "weft/nn/adversarial.h"
#include "weft/nn/dbm.h"
#include "weft/nn/rbm.h"
#include "weft/nn/variational.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"
#include "weft/train/checkpoint.h"
#include "weft/train/measure.h"
#include "weft/train/predict.h"

namespace weft::train {
namespace {

/// The model's layers in a row; one, if it is no list.
std::vector<nn::Module> layers_of(const Network& network) {
    nn::Module model = network.model;
    auto* list = model.get<nn::Sequential>();
    if (!list) return {model};
    std::vector<nn::Module> layers;
    for (std::size_t i = 0; i < list->size(); ++i) layers.push_back((*list)[i]);
    return layers;
}

/// Normal numbers (count, units). Of a walk every number `walk` steps is a draw, and those between lie on the arc cos t a + sin t b,
/// so that they are as far from 0 as draws are.
Tensor codes(std::int64_t units, const SampleOptions& options) {
    if (options.walk == 0) return random::normal({options.count, units}, 0, options.temperature);
    std::int64_t legs = (options.count + options.walk - 1) / options.walk;
    Tensor ends = random::normal({legs + 1, units}, 0, options.temperature);
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < options.count; ++i) {
        double angle = std::numbers::pi / 2 * static_cast<double>(i % options.walk) / static_cast<double>(options.walk);
        std::int64_t leg = i / options.walk;
        rows.push_back(slice(ends, {leg, 0}, {1, units}) * std::cos(angle) +
                       slice(ends, {leg + 1, 0}, {1, units}) * std::sin(angle));
    }
    return concatenate(rows, 0);
}

/// Chains that have come far already, in turn.
Tensor begun(const Parameter& chains, std::int64_t count) {
    Tensor rows = chains.value();
    return take(rows, remainder(iota(count), rows.shape()[0].value()), 0);
}

Tensor of_rbm(const nn::RBM& machine, const SampleOptions& options) {
    std::int64_t units = machine.visible_bias.shape()[0].value();
    Tensor v = machine.gaussian() ? random::normal({options.count, units})
                                  : astype(random::uniform({options.count, units}) < 0.5, DType::float32);
    if (machine.chains) v = begun(*machine.chains, options.count);
    for (std::int64_t step = 0; step < options.steps; ++step) v = machine.gibbs(v, 1).eval();
    Tensor logits = machine.visible_logits(sigmoid(machine.hidden_logits(v)));
    return machine.gaussian() ? logits : sigmoid(logits);
}

Tensor of_dbm(const nn::DBM& machine, const SampleOptions& options) {
    Tensor v = begun(machine.chains, options.count), top = begun(machine.top_chains, options.count);
    for (std::int64_t step = 0; step < options.steps; ++step) {
        std::tie(v, top) = machine.gibbs(v, top, 1);
        const Tensor both[] = {v, top};
        eval(both);
    }
    return sigmoid(machine.visible_logits(sigmoid(machine.first_logits(v, top))));
}

/// Of a Boltzmann machine; nothing if the layer is none.
Tensor of_machine_alone(const nn::Module& layer, const SampleOptions& options) {
    auto* rbm = layer.get<nn::RBM>();
    auto* dbm = layer.get<nn::DBM>();
    if (!rbm && !dbm) return {};
    if (options.walk > 0 || options.temperature != 1)
        throw ConfigError(text("a Boltzmann machine has no code ",
                               options.walk > 0 ? "along which one could walk; --walk" : "to draw; --temperature",
                               " is for generators"));
    return rbm ? of_rbm(*rbm, options) : of_dbm(*dbm, options);
}

Tensor decoded(const Phase& phase, const std::vector<nn::Module>& layers, std::size_t from, Tensor code) {
    for (std::size_t i = from; i < layers.size(); ++i) code = layers[i](code);
    for (const CostTerm& term : cost_terms(phase)) {
        // The input, or a layer that stands for it (black and white of gray values).
        if (!term.target.is_null() && term.of.is_null() && term.expected) return term.expected(code);
    }
    return code;
}

}  // namespace

Tensor sample(const Phase& phase, const Network& network, const SampleOptions& options) {
    if (options.count < 1 || options.walk < 0 || options.steps < 1)
        throw ConfigError(text("a sample of ", options.count, " examples, ", options.steps, " steps, a walk of ",
                               options.walk, ": there must be at least 1, 1 and 0"));
    if (!(options.temperature > 0 && std::isfinite(options.temperature)))
        throw ConfigError(text("a temperature of ", options.temperature, ": it is a deviation, a number above 0"));
    random::seed(options.seed);
    std::vector<nn::Module> layers = layers_of(network);
    if (layers.size() == 1)
        if (Tensor made = of_machine_alone(layers[0], options)) return made;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (auto* pair = layers[i].get<nn::Adversarial>()) return pair->generator(codes(pair->latent(), options));
        if (auto* code = layers[i].get<nn::Variational>()) {
            std::int64_t units = code->mean.weight.shape()[0].value();
            return decoded(phase, layers, i + 1, codes(units, options));
        }
    }
    throw ConfigError(
        "the model makes no examples: no layer of its list is adversarial or variational, and it is no rbm or dbm "
        "alone");
}

Array sample(const Run& run, const SampleOptions& options) {
    Network network = run.network(blank_example(run));
    Tensor made = sample(run.kept_phase(), network, options).astype(DType::float32);
    data::Preparation preparation(run.kept_phase().prepare);
    load_preparation(run.kept(), preparation);
    return contiguous(preparation.invert(contiguous(made.array())));
}

}  // namespace weft::train
