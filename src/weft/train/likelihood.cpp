#include "weft/train/likelihood.h"

#include <cmath>

#include "weft/base/error.h"
#include "weft/nn/variational.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"
#include "weft/train/measure.h"

namespace weft::train {
namespace {

/// The machine that the model is, alone or in a list; null if it is none.
const nn::RBM* machine_of(const Network& network) {
    nn::Module model = network.model;
    auto* list = model.get<nn::Sequential>();
    if (list && list->size() == 1) return (*list)[0].get<nn::RBM>();
    return model.get<nn::RBM>();
}

Likelihood of_machine(const nn::RBM& machine, const data::Dataset& set, const LikelihoodOptions& options) {
    constexpr std::int64_t rows = 500, few = 16;
    Likelihood all;
    CompiledFunction score(
        [&](std::span<const Tensor> inputs) {
            return std::vector<Tensor>{sum(astype(machine.free_energy(inputs[0]), DType::float64))};
        },
        "free_energy");
    double energy = 0;
    for (const data::Batch& batch : set.batches(rows)) {
        const Tensor inputs[] = {Tensor(batch.x)};
        energy += score(inputs)[0].item<double>();
    }
    all.log_partition = nn::log_partition(machine, options.annealing);
    if (machine.hidden_bias.shape()[0].value() <= few) all.exact_log_partition = nn::exact_log_partition(machine);
    all.mean = -energy / static_cast<double>(set.size()) - all.exact_log_partition.value_or(*all.log_partition);
    return all;
}

/// For each row of x, log of the mean over draws of p(x, z) / q(z | x).
Tensor weighted_bound(const std::vector<CostTerm>& terms, const nn::Module& model, const Tensor& x,
                      std::int64_t draws) {
    Shape each = x.shape();
    each.insert(1, Size(draws));
    Shape flat = x.shape();
    flat[0] = x.shape()[0] * draws;
    Tensor repeated = reshape(broadcast_to(expand_dims(x, 1), each), flat);
    nn::Notes notes;
    Tensor output = model(repeated), weight;
    for (const auto& [name, value] : notes.values) {
        if (name == nn::log_ratio) weight = weight ? weight + value : value;
    }
    if (!weight)
        throw ConfigError(
            "the model has no variational layer that evaluation draws from, and is no rbm alone: nothing says how "
            "probable data are");
    for (const CostTerm& term : terms) {
        if (!term.of_examples) continue;
        Tensor losses = term.of_examples(output, wanted_by(term, repeated, Tensor(), notes));
        weight = weight - losses * term.factor;
    }
    weight = reshape(weight, {x.shape()[0], Size(draws)});
    Tensor most = max(weight, 1, true);
    return reshape(most, {x.shape()[0]}) + log(mean(exp(weight - most), 1));
}

void check_bound(const Phase& phase) {
    for (const Chosen& chosen : phase.costs) {
        const Json *target = chosen.options.find("target"), *numbers = chosen.options.find("numbers");
        bool good = target && numbers && numbers->as_string() == "sum";
        if (good || !chosen.make<MakeCost>()(chosen.options).of_output) continue;
        throw ConfigError(text(chosen.where, chosen.entry->name,
                               " is no logarithm of a probability of the input; {bernoulli: {target: input, numbers: "
                               "sum}} is"));
    }
}

Likelihood of_bound(const Phase& phase, const Network& network, const data::Dataset& set, std::int64_t draws) {
    check_bound(phase);
    std::vector<CostTerm> terms = cost_terms(phase);
    CompiledFunction bound(
        [&](std::span<const Tensor> inputs) {
            return std::vector<Tensor>{
                sum(astype(weighted_bound(terms, network.model, inputs[0], draws), DType::float64))};
        },
        "likelihood");
    constexpr std::int64_t rows_at_once = 2000;
    double total = 0;
    for (const data::Batch& batch : set.batches(std::max<std::int64_t>(1, rows_at_once / draws))) {
        const Tensor inputs[] = {Tensor(batch.x)};
        total += bound(inputs)[0].item<double>();
    }
    Likelihood all;
    all.mean = total / static_cast<double>(set.size()), all.bound = true;
    return all;
}

}  // namespace

Likelihood likelihood(const Phase& phase, const Network& network, const data::Dataset& set,
                      const LikelihoodOptions& options) {
    if (const nn::RBM* machine = machine_of(network)) return of_machine(*machine, set, options);
    return of_bound(phase, network, set, options.draws);
}

}  // namespace weft::train
