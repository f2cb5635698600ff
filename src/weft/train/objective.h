// What is computed a batch, compiled once: a step (loss, gradients, new parameters) and an evaluation (loss and errors, layers in the
// mode of evaluation). Rates that change are set before each step; nothing is compiled anew. Caller: train/run.cpp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "weft/optim/batch_method.h"
#include "weft/runtime/function.h"
#include "weft/train/measure.h"
#include "weft/train/step.h"

namespace weft::train {

/// Sums over examples, from which means are taken.
struct Sums {
    double loss = 0, errors = 0;
    std::int64_t examples = 0;
    void add(double mean_loss, double error_rate, std::int64_t count);
};

class Objective {
  public:
    Objective(const Phase& phase, const nn::Module& model);
    Objective(const Objective&) = delete;
    Objective& operator=(const Objective&) = delete;

    /// One step; what it measured on its batch is added to `sums`.
    void step(const data::Batch& batch, optim::Moment moment, Sums& sums);
    /// How a step on this batch runs; it takes none.
    Explanation explain(const data::Batch& batch) const;
    /// All of a set, in batches.
    Sums evaluate(const data::Dataset& set);
    /// What the network says of a set, a batch after another: f(first row, outputs).
    void outputs(const data::Dataset& set, const std::function<void(std::int64_t first, const Array& values)>& f);

    optim::Optimizer& optimizer() { return *optimizer_; }
    bool counts_errors() const { return counts_errors_; }

  private:
    /// {what is minimised, loss, rate of errors, and, where targets may be missing, how many are there}
    std::vector<Tensor> of_batch(const Tensor& x, const Tensor& y) const;
    void add(const data::Batch& batch, std::span<const Tensor> measured, Sums& sums) const;
    void search(std::span<const Tensor> batch);

    nn::Module model_;
    std::vector<Parameter> parameters_;
    std::vector<CostTerm> terms_;
    Schedules schedules_;                          // of the rates that change
    std::unique_ptr<optim::Optimizer> optimizer_;  // after schedules_, which making it fills
    bool counts_errors_ = false;
    TrainStep step_;
    optim::BatchMethod* batch_method_ = nullptr;  // optimizer_, if it is one
    std::optional<LossAndGradients> gradients_;   // for it
    CompiledFunction evaluation_, prediction_;
    std::vector<Tensor> results_;
};

}  // namespace weft::train
