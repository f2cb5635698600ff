#include "weft/train/step.h"

#include "weft/autodiff/derivative.h"
#include "weft/nn/training.h"

namespace weft {
namespace {

struct Measured {
    std::vector<Tensor> results, gradients, values;
};

std::vector<Tensor> values_of(std::span<const Parameter> parameters) {
    std::vector<Tensor> values;
    for (const Parameter& parameter : parameters) values.push_back(parameter.value());
    return values;
}

Measured measured(std::span<const Parameter> parameters, const TrainStep::Loss& loss, std::string_view name,
                  std::span<const Tensor> batch) {
    nn::Training training;
    ModuleScope scope(name);
    // Read before the loss is written, so that the gradient is with respect to these very values.
    std::vector<Tensor> values = values_of(parameters), results = loss(batch);
    if (results.empty() || !results[0])
        throw ValueError("train_step: the loss function returned nothing; it must return the loss");
    const Tensor& total = results[0];
    if (total.ndim() != 0) {
        throw ShapeError(text("train_step: the loss has shape ", total.shape(),
                              ", but must be a single number; take its mean or sum", place(total.node()->where)));
    }
    if (!is_floating(total.dtype())) {
        throw DTypeError(
            text("train_step: the loss is ", total.dtype(), ", which has no derivative", place(total.node()->where)));
    }
    return {results, gradient(total, values), values};
}

std::vector<Parameter> trained(nn::ModuleRef model, std::string_view name) {
    std::vector<Parameter> parameters = nn::parameters(model);
    if (!parameters.empty()) return parameters;
    throw ValueError(text("train_step: ", name,
                          " has no parameter to train; name its parts in members(), and freeze not all of them"));
}

}  // namespace

Explanation TrainStep::explain(std::span<const Tensor> batch) const { return function_.explain(batch); }

Explanation LossAndGradients::explain(std::span<const Tensor> batch) const { return function_.explain(batch); }

TrainStep::TrainStep(nn::ModuleRef model, optim::Optimizer& optimizer, Loss loss, std::string_view name, Watch watch,
                     const CompileOptions& options)
    : function_(
          [parameters = trained(model, name), &optimizer, loss = std::move(loss), name = std::string(name),
           watch = std::move(watch)](std::span<const Tensor> batch) {
              Measured now = measured(parameters, loss, name, batch);
              optimizer.step(parameters, now.gradients);
              if (!watch) return now.results;
              std::vector<Tensor> seen = watch(now.values, now.gradients, values_of(parameters));
              now.results.insert(now.results.end(), seen.begin(), seen.end());
              return now.results;
          },
          options) {}

LossAndGradients::LossAndGradients(nn::ModuleRef model, TrainStep::Loss loss, std::string_view name,
                                   const CompileOptions& options)
    : function_(
          [parameters = trained(model, name), loss = std::move(loss),
           name = std::string(name)](std::span<const Tensor> batch) {
              Measured now = measured(parameters, loss, name, batch);
              now.results.insert(now.results.end(), now.gradients.begin(), now.gradients.end());
              return now.results;
          },
          options) {}

}  // namespace weft
