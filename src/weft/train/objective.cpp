#include "weft/train/objective.h"

#include <cmath>

#include "weft/base/error.h"
#include "weft/nn/loss.h"
#include "weft/ops/elementwise.h"

namespace weft::train {
namespace {

constexpr std::int64_t evaluation_batch = 500;

/// The optimizer with its rates at the start, and the schedules of those that change.
std::unique_ptr<optim::Optimizer> make_optimizer(const Chosen& chosen,
                                                 std::vector<std::pair<std::string, optim::Schedule>>& schedules) {
    Json options = chosen.options;
    for (const Option& option : chosen.entry->options) {
        if (option.also != "schedule" || options.at(option.name).is_number()) continue;
        optim::Schedule schedule = schedule_of(options.at(option.name));
        options[option.name] = schedule({0, 1});
        schedules.emplace_back(option.name, std::move(schedule));
    }
    try {
        return chosen.make<MakeOptimizer>()(options);
    } catch (const ValueError& error) {
        throw ConfigError(text(chosen.where, error.what()));
    }
}

/// Their names in the model, which an optimizer's groups and its saved state go by.
std::vector<Parameter> named_parameters(const nn::Sequential& model) {
    (void)nn::named(model);
    return nn::parameters(model);
}

}  // namespace

void Sums::add(double mean_loss, double error_rate, std::int64_t count) {
    auto n = static_cast<double>(count);
    loss += mean_loss * n, errors += std::round(error_rate * n), examples += count;
}

Objective::Objective(const Experiment& experiment, const nn::Sequential& model)
    : model_(model),
      parameters_(named_parameters(model)),
      optimizer_(make_optimizer(experiment.optimizer, schedules_)),
      counts_errors_(experiment.counts_errors()),
      step_(
          model_, *optimizer_, [this](std::span<const Tensor> batch) { return cost_of_batch(batch[0], batch[1]); },
          "Sequential"),
      evaluation_([this](std::span<const Tensor> inputs) { return measure(inputs[0], inputs[1]); }, "evaluation"),
      prediction_([this](std::span<const Tensor> inputs) { return std::vector<Tensor>{model_(inputs[0])}; },
                  "prediction") {
    for (const Chosen& chosen : experiment.costs) terms_.push_back(chosen.make<MakeCost>()(chosen.options));
    optimizer_->prepare(parameters_);
}

/// {loss, rate of errors}: the loss without penalties, so that sets and runs can be compared.
std::vector<Tensor> Objective::measure(const Tensor& x, const Tensor& y) const {
    Tensor output = model_(x), loss;
    for (const CostTerm& term : terms_) {
        if (!term.of_output) continue;
        Tensor one = term.factor == 1 ? term.of_output(output, y) : term.of_output(output, y) * term.factor;
        loss = loss ? loss + one : one;
    }
    return {loss, counts_errors_ ? nn::error_rate(output, y) : Tensor(0.0f)};
}

/// {what is minimised, loss, rate of errors}
std::vector<Tensor> Objective::cost_of_batch(const Tensor& x, const Tensor& y) const {
    std::vector<Tensor> measured = measure(x, y);
    Tensor cost = measured[0];
    for (const CostTerm& term : terms_) {
        if (term.of_parameters) cost = cost + term.of_parameters(parameters_) * term.factor;
    }
    return {cost, measured[0], measured[1]};
}

void Objective::step(const data::Batch& batch, optim::Moment moment, Sums& sums) {
    for (const auto& [rate, schedule] : schedules_) {
        double value = schedule(moment);
        if (value != optimizer_->get(rate)) optimizer_->set(rate, value);
    }
    const Tensor arguments[] = {Tensor(batch.x), Tensor(batch.y)};
    step_.call(arguments, results_);
    sums.add(results_[1].item<double>(), results_[2].item<double>(), batch.count);
}

Explanation Objective::explain(const data::Batch& batch) const {
    const Tensor arguments[] = {Tensor(batch.x), Tensor(batch.y)};
    return step_.explain(arguments);
}

Sums Objective::evaluate(const data::Dataset& set) {
    Sums sums;
    for (const data::Batch& batch : set.batches(evaluation_batch)) {
        const Tensor arguments[] = {Tensor(batch.x), Tensor(batch.y)};
        std::vector<Tensor> measured = evaluation_(arguments);
        sums.add(measured[0].item<double>(), measured[1].item<double>(), batch.count);
    }
    return sums;
}

void Objective::outputs(const data::Dataset& set, const std::function<void(std::int64_t, const Array&)>& f) {
    std::int64_t first = 0;
    for (const data::Batch& batch : set.batches(evaluation_batch)) {
        const Tensor arguments[] = {Tensor(batch.x)};
        Array values = contiguous(prediction_(arguments)[0].array());
        f(first, values);
        first += batch.count;
    }
}

}  // namespace weft::train
