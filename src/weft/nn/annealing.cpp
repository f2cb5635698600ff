// In double outside of the products, which are float32.
#include "weft/nn/annealing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/base/error.h"
#include "weft/nn/units.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft::nn {
namespace {

Tensor wide(const Tensor& x) { return astype(x, DType::float64); }

Tensor start_or_zero(const Tensor& start, const Tensor& bias) { return start ? start : bias * 0.0f; }

/// log Z of independent units.
double independent(const Tensor& biases) { return sum(softplus(wide(biases))).item<double>(); }

/// The logarithm of the mean of the weights' exponentials, and of that mean with its error to either side.
LogPartition log_mean_exp(const std::vector<double>& logs) {
    double most = *std::max_element(logs.begin(), logs.end()), total = 0, squares = 0;
    auto count = static_cast<double>(logs.size());
    for (double one : logs) total += std::exp(one - most);
    double mean = total / count;
    for (double one : logs) squares += (std::exp(one - most) - mean) * (std::exp(one - most) - mean);
    double error = std::sqrt(squares / (count - 1) / count);
    double below = mean - 3 * error;
    return {most + std::log(mean), below > 0 ? most + std::log(below) : -std::numeric_limits<double>::infinity(),
            most + std::log(mean + 3 * error)};
}

Tensor row(const Tensor& keys, std::int64_t i) { return reshape(slice(keys, {i, 0}, {1, 2}), {2}); }

/// What the logarithms of the weights gain on the way from temperature 0 to 1, or back: at each s, log p of the next temperature less that
/// of this one, t summed out, then s is drawn anew at the next. At temperature q biases are (1 - q) start + q bias, weights q W.
class Annealing {
  public:
    explicit Annealing(const TwoGroups& machine)
        : machine_(machine),
          s_start_(start_or_zero(machine.s_start, machine.s_bias)),
          t_start_(start_or_zero(machine.t_start, machine.t_bias)),
          step_([this](std::span<const Tensor> inputs) { return step(inputs); }) {}

    Tensor independent_draws(std::int64_t runs, std::uint64_t seed) const {
        return drawn_units(broadcast_to(s_start_, {Size(runs), s_start_.shape()[0]}), random::key(seed)).eval();
    }
    double log_z_of_start() const { return independent(s_start_) + independent(t_start_); }

    std::vector<double> run(Tensor s, const AnnealingOptions& options, bool back) const {
        std::vector<double> logs(static_cast<std::size_t>(s.shape()[0].value()), 0.0);
        auto temperature = [&](std::int64_t k) {  // before 0 the draws burn in
            double share =
                static_cast<double>(std::max<std::int64_t>(0, k)) / static_cast<double>(options.temperatures);
            return Tensor(Array::scalar(static_cast<float>(back ? 1 - share : share)));
        };
        for (std::int64_t k = back ? 1 - options.burn_in : 1; k <= options.temperatures; ++k) {
            std::uint64_t seed = options.seed + static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15u;
            const Tensor inputs[] = {s, temperature(k - 1), temperature(k), random::split(random::key(seed), 2).eval()};
            std::vector<Tensor> results = step_(inputs);
            s = results[0];
            std::vector<double> gains = results[1].to_vector<double>();
            for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += gains[i];
        }
        return logs;
    }

  private:
    /// {the next s, the gain} of s, two temperatures, a pair of keys: one program for all temperatures.
    std::vector<Tensor> step(std::span<const Tensor> inputs) const {
        const Tensor &s = inputs[0], &from = inputs[1], &to = inputs[2];
        auto biases = [](const Tensor& start, const Tensor& end, const Tensor& at) {
            return start * (1 - at) + end * at;
        };
        Tensor weighted = matmul(s, machine_.weight.T());
        auto t_logits = [&](const Tensor& at) { return weighted * at + biases(t_start_, machine_.t_bias, at); };
        Tensor gain = sum(wide(softplus(t_logits(to)) - softplus(t_logits(from))), 1) +
                      sum(wide(s * (machine_.s_bias - s_start_)), 1) * wide(to - from);
        Tensor t = drawn_units(t_logits(to), row(inputs[3], 0));
        Tensor s_logits = matmul(t, machine_.weight) * to + biases(s_start_, machine_.s_bias, to);
        return {drawn_units(s_logits, row(inputs[3], 1)), gain};
    }

    const TwoGroups& machine_;
    Tensor s_start_, t_start_;
    CompiledFunction step_;
};

void check(const AnnealingOptions& options, std::int64_t runs) {
    if (runs < 2 || options.temperatures < 2)
        throw ValueError(text("log_partition: ", runs, " runs, ", options.temperatures,
                              " temperatures; there must be 2 of each at least"));
}

/// States first, first + 1, ... of so many units, a row each.
Tensor states(std::int64_t first, std::int64_t count, std::int64_t units) {
    Array rows = Array::zeros(DType::float64, {count, units});
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < units; ++j)
            rows.data<double>()[i * units + j] = static_cast<double>(((first + i) >> j) & 1);
    return Tensor(rows);
}

}  // namespace

LogPartition log_partition(const TwoGroups& machine, const AnnealingOptions& options) {
    check(options, options.runs);
    Annealing annealing(machine);
    LogPartition found =
        log_mean_exp(annealing.run(annealing.independent_draws(options.runs, options.seed), options, false));
    double start = annealing.log_z_of_start();
    return {start + found.value, start + found.low, start + found.high};
}

LogPartition log_partition_from(const TwoGroups& machine, const Tensor& draws, const AnnealingOptions& options) {
    check(options, draws.shape()[0].value());
    Annealing annealing(machine);
    LogPartition found = log_mean_exp(annealing.run(draws, options, true));
    double start = annealing.log_z_of_start();
    return {start - found.value, start - found.high, start - found.low};
}

std::int64_t smaller_group(const TwoGroups& machine) {
    return std::min(machine.s_bias.shape()[0].value(), machine.t_bias.shape()[0].value());
}

double exact_log_partition(const TwoGroups& machine) {
    std::int64_t units = smaller_group(machine);
    constexpr std::int64_t most = 25, block = 4096;
    if (units > most)
        throw ValueError(text("exact_log_partition: ", units, " units have 2^", units, " states; up to ", most,
                              " units can be gone through, log_partition estimates"));
    bool through_s = machine.s_bias.shape()[0].value() == units;
    Tensor weight = wide(through_s ? machine.weight : machine.weight.T());  // (the other group, this one)
    Tensor own = wide(through_s ? machine.s_bias : machine.t_bias),
           other = wide(through_s ? machine.t_bias : machine.s_bias);
    std::int64_t all = std::int64_t(1) << units;
    std::vector<double> logs;
    logs.reserve(static_cast<std::size_t>(all));
    for (std::int64_t first = 0; first < all; first += block) {
        Tensor state = states(first, std::min(block, all - first), units);
        Tensor of_states = sum(state * own, 1) + sum(softplus(matmul(state, weight.T()) + other), 1);
        for (double one : of_states.to_vector<double>()) logs.push_back(one);
    }
    double greatest = *std::max_element(logs.begin(), logs.end()), total = 0;
    for (double one : logs) total += std::exp(one - greatest);
    return greatest + std::log(total);
}

Tensor log_odds(const Tensor& means, double least) {
    Tensor inside = minimum(maximum(means, least), 1 - least);
    return log(inside) - log1p(-inside);
}

}  // namespace weft::nn
