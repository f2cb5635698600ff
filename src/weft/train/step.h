// train_step: one step of training as one compiled program: parameters are read, the loss is written, differentiated, the optimizer
// sets parameters and its state; all cells get their new values together. Everything that the loss sets (running statistics, the
// random generator) is part of it. Model and optimizer are referred to: they must live as long as the step.
// Callers: users' programs, train/'s loop.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/graph/node.h"
#include "weft/nn/module.h"
#include "weft/optim/optimizer.h"
#include "weft/runtime/explain.h"
#include "weft/runtime/function.h"

namespace weft {

/// From tensors (a batch) to the loss and whatever else the loss function gives, compiled for each combination of shapes.
class TrainStep {
  public:
    using Loss = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
    /// From the trained parameters before a step, their gradients, and the parameters behind it, to what else is to be handed back.
    using Watch = std::function<std::vector<Tensor>(std::span<const Tensor> before, std::span<const Tensor> gradients,
                                                    std::span<const Tensor> behind)>;
    /// `loss` gives a 0-d loss, and then anything else that is to be handed back. `name` stands in errors ("Mlp / fc2").
    TrainStep(nn::ModuleRef model, optim::Optimizer& optimizer, Loss loss, std::string_view name, Watch watch = {},
              const CompileOptions& options = {});

    /// One step; the loss before it, and what else the loss function gave. `results` of the last call are overwritten.
    void call(std::span<const Tensor> batch, std::vector<Tensor>& results) const { function_.call(batch, results); }
    /// How a step runs (runtime/explain.h). It takes none.
    Explanation explain(std::span<const Tensor> batch) const;

  private:
    CompiledFunction function_;
};

/// From a batch to what the loss function gives, and behind it the gradients of the model's parameters: for methods that ask at several
/// points before they move. Layers are in the mode of training; what they set (running statistics, the generator) is set.
class LossAndGradients {
  public:
    LossAndGradients(nn::ModuleRef model, TrainStep::Loss loss, std::string_view name,
                     const CompileOptions& options = {});
    void call(std::span<const Tensor> batch, std::vector<Tensor>& results) const { function_.call(batch, results); }
    Explanation explain(std::span<const Tensor> batch) const;

  private:
    CompiledFunction function_;
};

namespace detail {

template <class Result>
std::vector<Tensor> as_vector(Result&& result) {
    if constexpr (std::is_convertible_v<Result, Tensor>)
        return {Tensor(std::forward<Result>(result))};
    else
        return std::forward<Result>(result);
}

/// f(model, batch...) as a function of a span.
template <std::size_t count, class Model, class F>
auto over_batch(Model& model, F f) {
    return [&model, f = std::move(f)](std::span<const Tensor> batch) {
        auto at = [&]<std::size_t... I>(std::index_sequence<I...>) { return as_vector(f(model, batch[I]...)); };
        return at(std::make_index_sequence<count>());
    };
}

}  // namespace detail

/// (x, labels, ...) -> the loss of the model before the step, having made one step. `loss(model, x, labels, ...)` gives a 0-d
/// Tensor, or a std::vector of them whose first is the loss; then the step gives a vector too.
template <class Model, class Loss>
auto train_step(Model& model, optim::Optimizer& optimizer, Loss loss, CompileOptions options = {}) {
    return [&model, &optimizer, options, loss = std::move(loss), step = std::shared_ptr<TrainStep>(),
            results = std::vector<Tensor>()](const auto&... batch) mutable {  // kept, so that a step allocates nothing
        constexpr std::size_t count = sizeof...(batch);
        if (!step) {
            step = std::make_shared<TrainStep>(model, optimizer, detail::over_batch<count, const Model>(model, loss),
                                               nn::type_name<Model>(), TrainStep::Watch(), options);
        }
        const Tensor tensors[] = {Operand(batch).as_tensor()...};
        step->call(tensors, results);
        using Result =
            decltype(loss(std::as_const(model), (static_cast<void>(batch), std::declval<const Tensor&>())...));
        if constexpr (std::is_convertible_v<Result, Tensor>)
            return Tensor(results[0]);
        else
            return std::vector<Tensor>(results);
    };
}

}  // namespace weft
