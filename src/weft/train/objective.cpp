#include "weft/train/objective.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/nn/loss.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"

namespace weft::train {
namespace {

constexpr std::int64_t evaluation_batch = 500;

/// Their names in the model, which an optimizer's groups and its saved state go by.
std::vector<Parameter> named_parameters(const nn::Module& model) {
    (void)nn::named(model);
    return nn::parameters(model);
}

}  // namespace

void Sums::add(double mean_loss, double error_rate, std::int64_t count) {
    auto n = static_cast<double>(count);
    loss += mean_loss * n, errors += std::round(error_rate * n), examples += count;
}

Objective::Objective(const Phase& phase, const nn::Module& model)
    : model_(model),
      parameters_(named_parameters(model)),
      optimizer_(optimizer_of(phase.optimizer, schedules_)),
      counts_errors_(phase.counts_errors()),
      step_(
          model_, *optimizer_, [this](std::span<const Tensor> batch) { return cost_of_batch(batch[0], batch[1]); },
          std::string(model_.held_type())),
      evaluation_([this](std::span<const Tensor> inputs) { return measure(inputs[0], inputs[1]); }, "evaluation"),
      prediction_([this](std::span<const Tensor> inputs) { return std::vector<Tensor>{model_(inputs[0])}; },
                  "prediction") {
    for (const Chosen& chosen : phase.costs) terms_.push_back(chosen.make<MakeCost>()(chosen.options));
    optimizer_->prepare(parameters_);
    batch_method_ = dynamic_cast<optim::BatchMethod*>(optimizer_.get());
    if (!batch_method_) return;
    gradients_.emplace(
        model_, [this](std::span<const Tensor> batch) { return cost_of_batch(batch[0], batch[1]); },
        std::string(model_.held_type()));
}

Tensor loss_of(std::span<const CostTerm> terms, const Tensor& output, const Tensor& target) {
    Tensor loss;
    for (const CostTerm& term : terms) {
        if (!term.of_output) continue;
        Tensor one = term.factor == 1 ? term.of_output(output, target) : term.of_output(output, target) * term.factor;
        loss = loss ? loss + one : one;
    }
    return loss;
}

Tensor with_penalties(std::span<const CostTerm> terms, const Tensor& loss, std::span<const Parameter> parameters) {
    Tensor cost = loss;
    for (const CostTerm& term : terms) {
        if (term.of_parameters) cost = cost + term.of_parameters(parameters) * term.factor;
    }
    return cost;
}

/// {loss, rate of errors}
std::vector<Tensor> Objective::measure(const Tensor& x, const Tensor& y) const {
    Tensor output = model_(x);
    return {loss_of(terms_, output, y), counts_errors_ ? nn::error_rate(output, y) : Tensor(0.0f)};
}

/// {what is minimised, loss, rate of errors}
std::vector<Tensor> Objective::cost_of_batch(const Tensor& x, const Tensor& y) const {
    std::vector<Tensor> measured = measure(x, y);
    return {with_penalties(terms_, measured[0], parameters_), measured[0], measured[1]};
}

void Objective::step(const data::Batch& batch, optim::Moment moment, Sums& sums) {
    for (const auto& [rate, schedule] : schedules_) {
        double value = schedule.value(moment);
        if (value != optimizer_->get(rate)) optimizer_->set(rate, value);
    }
    const Tensor arguments[] = {Tensor(batch.x), Tensor(batch.y)};
    if (batch_method_)
        search(arguments);
    else
        step_.call(arguments, results_);
    sums.add(results_[1].item<double>(), results_[2].item<double>(), batch.count);
}

/// Every evaluation of a step begins with the same generator and the same running statistics, so it sees the same noise.
void Objective::search(std::span<const Tensor> batch) {
    std::vector<Parameter> held{random::generator()};
    for (const Parameter& cell : nn::state(model_)) {
        if (std::none_of(parameters_.begin(), parameters_.end(),
                         [&](const Parameter& p) { return p.cell() == cell.cell(); }))
            held.push_back(cell);
    }
    std::vector<Tensor> before, first;
    for (const Parameter& cell : held) before.push_back(cell.value());
    batch_method_->minimise(parameters_, [&](std::vector<Tensor>& gradients) {
        for (std::size_t i = 0; i < held.size(); ++i) held[i].set(before[i]);
        gradients_->call(batch, results_);
        constexpr std::size_t measured = 3;  // of cost_of_batch
        gradients.assign(results_.begin() + measured, results_.end());
        if (first.empty()) first.assign(results_.begin(), results_.begin() + measured);
        double cost = results_[0].item<double>();
        results_.clear();  // gradients are held by who asked for them
        return cost;
    });
    results_ = std::move(first);
}

Explanation Objective::explain(const data::Batch& batch) const {
    const Tensor arguments[] = {Tensor(batch.x), Tensor(batch.y)};
    return gradients_ ? gradients_->explain(arguments) : step_.explain(arguments);
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
