// A model judged on examples: compiled, in evaluation mode, a slice of the examples at a time, so that any number of them fits.
// Callers: users' programs, train/.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "weft/nn/module.h"
#include "weft/runtime/function.h"

namespace weft::nn {

/// metrics(batch) compiled in evaluation mode: each call gives the metrics of one batch. What it refers to must outlive it.
class Evaluation {
  public:
    using Metrics = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
    Evaluation(Metrics metrics, std::string_view name);
    std::vector<Tensor> operator()(std::span<const Tensor> batch) const { return function_(batch); }

  private:
    CompiledFunction function_;
};

/// Counts what a model gets wrong, batch after batch (error_rate of nn/loss.h says what is wrong).
class ErrorCounter {
  public:
    /// `predict` gives scores for rows of x.
    ErrorCounter(std::function<Tensor(const Tensor&)> predict, std::string_view name);
    void add(const Tensor& x, const Tensor& labels);
    /// Errors per example; 0 of none.
    double rate() const { return count_ ? static_cast<double>(wrong_) / static_cast<double>(count_) : 0; }

  private:
    Evaluation evaluation_;
    std::int64_t wrong_ = 0, count_ = 0;
};

template <class Model>
concept Predicts = std::is_invocable_r_v<Tensor, const Model&, const Tensor&>;

/// The part of a data set that the model gets wrong: of anything that gives batches of x and labels (weft::data::Dataset).
template <Predicts Model, class Data>
requires requires(const Data& data) { data.batches(1); }
double error_rate(const Model& model, const Data& data, std::int64_t batch_size = 1000) {
    ErrorCounter counter([&model](const Tensor& rows) { return model(rows); }, type_name<Model>());
    for (const auto& [x, labels] : data.batches(batch_size)) counter.add(x, labels);
    return counter.rate();
}

/// The same of x and labels, a slice at a time. ShapeError unless both have as many rows.
double error_rate(const std::function<Tensor(const Tensor&)>& predict, std::string_view name, const Tensor& x,
                  const Tensor& labels, std::int64_t batch_size);
template <Predicts Model>
double error_rate(const Model& model, const Tensor& x, const Tensor& labels, std::int64_t batch_size = 1000) {
    return error_rate([&model](const Tensor& rows) { return model(rows); }, type_name<Model>(), x, labels, batch_size);
}

}  // namespace weft::nn
