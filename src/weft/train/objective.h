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
    void add(const Judged& batch);
};

class Objective {
  public:
    Objective(const Phase& phase, const Network& network);
    Objective(const Objective&) = delete;
    Objective& operator=(const Objective&) = delete;

    /// Layers that learn by rules of their own, and have not learned yet, take their first values from rows of the training set. ConfigError
    /// if these do not suffice.
    void begin(const data::Dataset& train, std::uint64_t seed);
    /// A pass over the training set has ended: these layers learn of it, and what is state of an epoch begins again. Gives what they say.
    std::vector<std::string> end_pass();
    /// One step, and what it measured on its batch.
    Judged step(const data::Batch& batch, optim::Moment moment);
    /// How a step on this batch runs; it takes none.
    Explanation explain(const data::Batch& batch) const;
    /// All of a set, in batches; each is shown to `see`.
    Sums evaluate(const data::Dataset& set, const std::function<void(const Judged&)>& see = {});
    /// What stands behind the numbers of a Judged.
    Names names() const;
    /// What the network says of a set, a batch after another: f(first row, outputs); numbers with a point as float32.
    void outputs(const data::Dataset& set, const std::function<void(std::int64_t first, const Array& values)>& f);

    optim::Optimizer& optimizer() { return *optimizer_; }
    /// The rate of learning, and the others that change.
    std::vector<std::pair<std::string, double>> rates() const;
    bool counts_errors() const { return counts_errors_; }

  private:
    std::vector<Tensor> of_batch(std::span<const Tensor> batch, const Wants& wants, Tensor* cost = nullptr) const;
    Tensor output_of(const Tensor& x, std::vector<Tensor>* layers) const;
    Judged judged(std::span<const Tensor> results, const data::Batch& batch, const Wants& wants) const;
    Array targets_of(const data::Batch& batch, std::size_t term) const;
    void search(std::span<const Tensor> batch);
    std::vector<Tensor> cost_of_batch(std::span<const Tensor> batch) const;

    nn::Module model_;
    Feed feed_;
    std::int64_t buckets_ = 1;
    std::vector<Parameter> parameters_;
    std::vector<CostTerm> terms_;
    std::vector<std::pair<std::string, nn::Module>> layers_;  // one behind the other, where that is what the model is
    std::vector<std::string> term_names_, added_, told_;
    std::vector<std::string> further_rates_;  // the terms, behind the first, that count errors
    std::vector<std::shared_ptr<nn::OwnRule>> learners_;
    std::vector<Parameter> of_epoch_;  // state that begins at zeros with each epoch
    bool may_be_missing_ = false;      // some examples have no target
    Wants in_steps_, in_sets_;
    Schedules schedules_;                          // of the rates that change
    std::unique_ptr<optim::Optimizer> optimizer_;  // after schedules_, which making it fills
    bool counts_errors_ = false;
    std::vector<Json> judged_targets_;            // of the terms that count errors; null: y
    std::optional<TrainStep> step_;               // where gradients are what is learned by
    CompiledFunction pass_;                       // a step without them
    optim::BatchMethod* batch_method_ = nullptr;  // optimizer_, if it is one
    std::optional<LossAndGradients> gradients_;   // for it
    CompiledFunction evaluation_, prediction_;
    std::vector<Tensor> results_;
};

}  // namespace weft::train
