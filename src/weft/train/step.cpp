#include "weft/train/step.h"

#include "weft/autodiff/derivative.h"
#include "weft/nn/training.h"

namespace weft {
namespace {

std::vector<Tensor> traced_step(std::span<const Parameter> parameters, optim::Optimizer& optimizer,
                                const TrainStep::Loss& loss, std::string_view name, std::span<const Tensor> batch) {
    nn::Training training;
    ModuleScope scope(name);
    // Read before the loss is written, so that the gradient is with respect to these very values.
    std::vector<Tensor> values;
    for (const Parameter& parameter : parameters) values.push_back(parameter.value());
    std::vector<Tensor> results = loss(batch);
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
    optimizer.step(parameters, gradient(total, values));
    return results;
}

}  // namespace

TrainStep::TrainStep(nn::ModuleRef model, optim::Optimizer& optimizer, Loss loss, std::string_view name)
    : function_([parameters = nn::parameters(model), &optimizer, loss = std::move(loss), name = std::string(name)](
                    std::span<const Tensor> batch) { return traced_step(parameters, optimizer, loss, name, batch); },
                "train_step") {
    if (nn::parameters(model).empty()) {
        throw ValueError(text("train_step: ", name,
                              " has no parameter to train; name its parts in members(), and freeze not all of them"));
    }
}

}  // namespace weft
