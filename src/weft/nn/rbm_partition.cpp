// log Z of a restricted Boltzmann machine: estimated, and exactly for few hidden units. In double, outside of the graph's hot paths.
#include <cmath>

#include "weft/graph/node.h"
#include "weft/nn/rbm.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft::nn {
namespace {

void refuse_gaussian(const RBM& machine, const char* function) {
    if (machine.gaussian())
        throw ValueError(
            text(function, ": the visible units are real numbers; it takes a machine whose units are 0 and 1"));
}

/// log of the mean of exp, without overflow.
double log_mean_exp(const std::vector<double>& logs) {
    double most = *std::max_element(logs.begin(), logs.end()), total = 0;
    for (double one : logs) total += std::exp(one - most);
    return most + std::log(total / static_cast<double>(logs.size()));
}

Tensor unit_draw(const Tensor& logits, const Tensor& key) {
    return astype(random::uniform(logits.shape(), 0, 1, key) < sigmoid(logits), DType::float32);
}

}  // namespace

double log_partition(const RBM& machine, const AisOptions& options) {
    refuse_gaussian(machine, "log_partition");
    if (options.runs < 2 || options.temperatures < 2)
        throw ValueError(text("log_partition: ", options.runs, " runs, ", options.temperatures,
                              " temperatures; there must be 2 of each at least"));
    Tensor base = machine.visible_bias.value();
    Shape shape{Size(options.runs), base.shape()[0]};
    // {v, what the log-weights gain} of v, the temperatures before and after, a key: one program for all temperatures.
    CompiledFunction step(
        [&](std::span<const Tensor> inputs) {
            Tensor logits = machine.hidden_logits(inputs[0]);
            Tensor gain = sum(astype(softplus(logits * inputs[2]) - softplus(logits * inputs[1]), DType::float64), 1);
            Tensor keys = inputs[3];
            Tensor first = reshape(slice(keys, {0, 0}, {1, 2}), {2}),
                   second = reshape(slice(keys, {1, 0}, {1, 2}), {2});
            Tensor h = unit_draw(logits * inputs[2], first);
            Tensor back = matmul(h, machine.weight.value()) * inputs[2] + machine.visible_bias.value();
            return std::vector<Tensor>{unit_draw(back, second), gain};
        },
        "annealing");
    Tensor v = unit_draw(broadcast_to(base, shape), random::key(options.seed)).eval();
    std::vector<double> logs(static_cast<std::size_t>(options.runs), 0.0);
    for (std::int64_t k = 1; k <= options.temperatures; ++k) {
        auto at = [&](std::int64_t i) {
            return static_cast<float>(static_cast<double>(i) / static_cast<double>(options.temperatures));
        };
        Tensor keys =
            random::split(random::key(options.seed + static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15u), 2).eval();
        const Tensor inputs[] = {v, Tensor(Array::scalar(at(k - 1))), Tensor(Array::scalar(at(k))), keys};
        std::vector<Tensor> results = step(inputs);
        v = results[0];
        std::vector<double> gains = results[1].to_vector<double>();
        for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += gains[i];
    }
    auto hidden = static_cast<double>(machine.hidden_bias.shape()[0].value());
    double of_base = sum(astype(softplus(base), DType::float64)).item<double>() + hidden * std::log(2.0);
    return of_base + log_mean_exp(logs);
}

double exact_log_partition(const RBM& machine) {
    refuse_gaussian(machine, "exact_log_partition");
    std::int64_t hidden = machine.hidden_bias.shape()[0].value();
    constexpr std::int64_t most = 25, block = 4096;
    if (hidden > most)
        throw ValueError(text("exact_log_partition: ", hidden, " hidden units have 2^", hidden, " states; up to ", most,
                              " units can be gone through, log_partition estimates"));
    std::int64_t states = std::int64_t(1) << hidden;
    std::vector<double> logs;
    logs.reserve(static_cast<std::size_t>(states));
    for (std::int64_t first = 0; first < states; first += block) {
        std::int64_t count = std::min(block, states - first);
        Array h = Array::zeros(DType::float64, {count, hidden});
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t j = 0; j < hidden; ++j)
                h.data<double>()[i * hidden + j] = static_cast<double>(((first + i) >> j) & 1);
        Tensor state{h};
        auto wide = [](const Parameter& cell) { return astype(cell.value(), DType::float64); };
        Tensor of_states = sum(state * wide(machine.hidden_bias), 1) +
                           sum(softplus(matmul(state, wide(machine.weight)) + wide(machine.visible_bias)), 1);
        for (double one : of_states.to_vector<double>()) logs.push_back(one);
    }
    return log_mean_exp(logs) + std::log(static_cast<double>(states));
}

}  // namespace weft::nn
