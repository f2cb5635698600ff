#include "weft/train/likelihood.h"

#include <cmath>

#include "weft/base/error.h"
#include "weft/nn/dbm.h"
#include "weft/nn/rbm.h"
#include "weft/nn/units.h"
#include "weft/nn/variational.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"
#include "weft/train/measure.h"

namespace weft::train {
namespace {

/// What a Boltzmann machine is to annealing.
struct Machine {
    std::function<Tensor(const Tensor& v)> log_weight;  // (N,): log p(v) + log Z, or a bound of it from below
    bool bound = false;
    std::function<nn::TwoGroups(const Tensor& means)> groups;
    std::function<Tensor(const Tensor& v)> first_group;  // draws of the units that annealing keeps, given data
};

/// The machine that the model is, alone or in a list.
std::optional<Machine> machine_of(const Network& network) {
    nn::Module model = network.model;
    if (auto* list = model.get<nn::Sequential>(); list && list->size() == 1) model = nn::Module((*list)[0]);
    if (auto* found = model.get<nn::RBM>()) {
        const nn::RBM& rbm = *found;
        return Machine{[rbm](const Tensor& v) { return -rbm.free_energy(v); }, false,
                       [rbm](const Tensor& means) { return rbm.groups(means); }, [](const Tensor& v) { return v; }};
    }
    if (auto* found = model.get<nn::DBM>()) {
        const nn::DBM& dbm = *found;
        return Machine{
            [dbm](const Tensor& v) { return dbm.bound(v); }, true,
            [dbm](const Tensor& means) { return dbm.groups(means); },
            [dbm](const Tensor& v) { return nn::drawn_units(dbm.first_logits(v, dbm.mean_field(v).second)); }};
    }
    return std::nullopt;
}

/// Of all rows: the sum of log weights, how many numbers are neither 0 nor 1, and the mean of each number.
struct MachineSums {
    double log_weight = 0, grey = 0;
    Tensor means;
};

MachineSums sums_of(const data::Dataset& set, const std::function<Tensor(const Tensor&)>& log_weight) {
    constexpr std::int64_t rows = 500;
    CompiledFunction score([&](std::span<const Tensor> inputs) {
        const Tensor& v = inputs[0];
        Tensor grey = sum(astype((v != 0.0) & (v != 1.0), DType::float64));
        Tensor weights = log_weight ? sum(astype(log_weight(v), DType::float64)) : grey;
        return std::vector<Tensor>{weights, grey, sum(astype(v, DType::float64), 0)};
    });
    MachineSums all;
    Tensor total;
    for (const data::Batch& batch : set.batches(rows)) {
        const Tensor inputs[] = {Tensor(batch.x)};
        std::vector<Tensor> results = score(inputs);
        all.log_weight += results[0].item<double>(), all.grey += results[1].item<double>();
        total = (total ? total + results[2] : results[2]).eval();
    }
    all.means = astype(total / static_cast<double>(set.size()), DType::float32).eval();
    return all;
}

/// So many rows, from all over the set.
Tensor spread_rows(const data::Dataset& set, std::int64_t count) {
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t row = i * set.size() / count;
        rows.emplace_back(set.rows(row, row + 1).inputs());
    }
    return concatenate(rows, 0);
}

Likelihood of_machine(const Machine& machine, const data::Dataset& set, const LikelihoodOptions& options) {
    constexpr std::int64_t few = 16;
    const data::Dataset train = options.train ? options.train() : set;
    MachineSums sums = sums_of(set, machine.log_weight);
    nn::TwoGroups groups = machine.groups(options.train ? sums_of(train, {}).means : sums.means);
    Likelihood all;
    all.bound = machine.bound, all.black_and_white = sums.grey == 0;
    all.log_partition = nn::log_partition(groups, options.annealing);
    if (options.reverse) {
        Tensor draws = machine.first_group(spread_rows(train, options.annealing.runs)).eval();
        all.log_partition_from_above = nn::log_partition_from(groups, draws, options.annealing);
    }
    if (nn::smaller_group(groups) <= few) all.exact_log_partition = nn::exact_log_partition(groups);
    double log_z = all.exact_log_partition.value_or(all.log_partition->value);
    all.mean = sums.log_weight / static_cast<double>(set.size()) - log_z;
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
            "the model has no variational layer that evaluation draws from, and is no rbm or dbm alone: nothing says "
            "how "
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
    CompiledFunction bound([&](std::span<const Tensor> inputs) {
        return std::vector<Tensor>{sum(astype(weighted_bound(terms, network.model, inputs[0], draws), DType::float64))};
    });
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
    if (options.draws < 1 || options.annealing.runs < 2 || options.annealing.temperatures < 2)
        throw ConfigError(text("a likelihood by ", options.draws, " draws, ", options.annealing.runs, " chains and ",
                               options.annealing.temperatures, " temperatures: there must be at least 1, 2 and 2"));
    if (std::optional<Machine> machine = machine_of(network)) return of_machine(*machine, set, options);
    return of_bound(phase, network, set, options.draws);
}

}  // namespace weft::train
