#include "weft/train/sample.h"

#include <cmath>
#include <numbers>
#include <tuple>

#include "weft/base/error.h"
#include "weft/graph/node.h"
#include "weft/nn/adversarial.h"
#include "weft/nn/dbm.h"
#include "weft/nn/rbm.h"
#include "weft/nn/variational.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/train/checkpoint.h"
#include "weft/train/measure.h"
#include "weft/train/predict.h"
#include "weft/train/stand_ins.h"

namespace weft::train {
namespace {

using Layers = std::vector<std::pair<std::string, nn::Module>>;
/// The model's layers in a row, each with its name; one, if it is no list.
Layers layers_of(const Network& network) {
    nn::Module model = network.model;
    auto* list = model.get<nn::Sequential>();
    if (!list) return {{"0", model}};
    Layers layers;
    auto visit = [&](const std::string& name, nn::Module& layer) { layers.emplace_back(name, layer); };
    list->members(visit);
    return layers;
}

/// The first that makes examples of a code; their number if none does.
std::size_t maker(const Layers& layers) {
    std::size_t i = 0;
    while (i < layers.size() && !layers[i].second.get<nn::Adversarial>() && !layers[i].second.get<nn::Variational>())
        ++i;
    return i;
}

Shape with_rows(std::int64_t rows, const Shape& code) {
    Shape shape{Size(rows)};
    for (const Size& size : code) shape.push_back(size);
    return shape;
}

/// Normal numbers (count, ...), of the shape and type of one example's code. Of a walk every number `walk` steps is a draw, and those
/// between lie on the arc cos t a + sin t b, so that they are as far from 0 as draws are.
Tensor codes(const Shape& code, const SampleOptions& options, DType dtype = DType::float32) {
    auto drawn = [&](std::int64_t rows) {
        return random::normal(with_rows(rows, code), 0, options.temperature, {}, dtype);
    };
    if (options.walk == 0) return drawn(options.count);
    std::int64_t legs = (options.count + options.walk - 1) / options.walk;
    Tensor ends = drawn(legs + 1);
    auto end = [&](std::int64_t leg) { return take(ends, Tensor(leg), 0); };
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < options.count; ++i) {
        double angle = std::numbers::pi / 2 * static_cast<double>(i % options.walk) / static_cast<double>(options.walk);
        std::int64_t leg = i / options.walk;
        rows.push_back(end(leg) * std::cos(angle) + end(leg + 1) * std::sin(angle));
    }
    return stack(rows);
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

/// One example's code: what the encoder and the variational layer, layer `last`, give of an example like those of training.
Tensor code_like(const Network& network, const Layers& layers, std::size_t last) {
    KeepPending keep;  // shape and type alone are asked for
    StandIns cells;
    std::vector<Tensor> batch = network.feed.stand_ins(Size("batch"));
    nn::Given given = network.feed.given(batch);
    Tensor value = batch[0];
    for (std::size_t i = 0; i <= last; ++i) value = layers[i].second(value);
    return value;
}

Tensor decoded(const Phase& phase, const Layers& layers, std::size_t from, Tensor code) {
    for (std::size_t i = from; i < layers.size(); ++i) {
        try {
            code = layers[i].second(code);
        } catch (const InternalError&) {
            throw;
        } catch (const Error& error) {
            std::string_view what = error.what();
            throw ConfigError(text("layer ", layers[i].first, " of the model, behind its code, does not take ",
                                   code.shape(), " made of a code alone: ", what.substr(0, what.find("\n  "))));
        }
    }
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
    if (!makes_examples(network))
        throw ConfigError(
            "the model makes no examples: no layer of its list is adversarial or variational, and it is no rbm or dbm "
            "alone");
    Layers layers = layers_of(network);
    if (Tensor made = layers.size() == 1 ? of_machine_alone(layers[0].second, options) : Tensor()) return made;
    std::size_t i = maker(layers);
    if (auto* pair = layers[i].second.get<nn::Adversarial>())
        return pair->generator(codes({Size(pair->latent())}, options));
    Tensor code = code_like(network, layers, i);
    return decoded(phase, layers, i + 1,
                   codes(Shape(code.shape().begin() + 1, code.shape().end()), options, code.dtype()));
}

bool makes_examples(const Network& network) {
    Layers layers = layers_of(network);
    bool alone = layers.size() == 1 && (layers[0].second.get<nn::RBM>() || layers[0].second.get<nn::DBM>());
    return alone || maker(layers) < layers.size();
}

Array sample(const Run& run, const SampleOptions& options) {
    Network network = run.network(blank_example(run));
    Tensor made = sample(run.kept_phase(), network, options).astype(DType::float32);
    data::Preparation preparation(run.kept_phase().prepare);
    load_preparation(run.kept(), preparation);
    return contiguous(preparation.invert(contiguous(made.array())));
}

}  // namespace weft::train
