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
      terms_(cost_terms(phase)),
      optimizer_(optimizer_of(phase.optimizer, schedules_)),
      counts_errors_(phase.counts_errors()),
      step_(
          model_, *optimizer_, [this](std::span<const Tensor> batch) { return of_batch(batch[0], batch[1]); },
          std::string(model_.held_type())),
      evaluation_(
          [this](std::span<const Tensor> inputs) {
              std::vector<Tensor> measured = of_batch(inputs[0], inputs[1]);
              measured[0] = measured[1];  // nothing is minimised here, so penalties need not be known
              return measured;
          },
          "evaluation"),
      prediction_([this](std::span<const Tensor> inputs) { return std::vector<Tensor>{model_(inputs[0])}; },
                  "prediction") {
    optimizer_->prepare(parameters_);
    batch_method_ = dynamic_cast<optim::BatchMethod*>(optimizer_.get());
    if (!batch_method_) return;
    gradients_.emplace(
        model_, [this](std::span<const Tensor> batch) { return of_batch(batch[0], batch[1]); },
        std::string(model_.held_type()));
}

std::vector<Tensor> Objective::of_batch(const Tensor& x, const Tensor& y) const {
    Measured measured = measure(terms_, model_, x, y, parameters_);
    std::vector<Tensor> all{measured.cost, measured.loss, measured.error_rate};
    if (measured.present) all.push_back(measured.present);
    return all;
}

/// Examples without a target count for nothing.
void Objective::add(const data::Batch& batch, std::span<const Tensor> measured, Sums& sums) const {
    constexpr std::size_t present = 3;  // of of_batch
    std::int64_t count = measured.size() > present ? measured[present].item<std::int64_t>() : batch.count;
    sums.add(measured[1].item<double>(), measured[2].item<double>(), count);
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
    add(batch, results_, sums);
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
        auto measured = results_.end() - static_cast<std::ptrdiff_t>(parameters_.size());  // gradients stand behind
        gradients.assign(measured, results_.end());
        if (first.empty()) first.assign(results_.begin(), measured);
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
        add(batch, measured, sums);
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
