#include "weft/nn/variational.h"

#include <cmath>

#include "weft/autodiff/derivative.h"
#include "weft/graph/node.h"
#include "weft/nn/activation.h"
#include "weft/nn/check.h"
#include "weft/nn/keys.h"
#include "weft/nn/notes.h"
#include "weft/nn/training.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft::nn {
namespace {

Tensor batch_mean(const Tensor& of_examples) { return weft::mean(of_examples); }

}  // namespace

Variational::Variational(std::int64_t in_features, std::int64_t units, VariationalOptions options)
    : mean(in_features, units, {.key = two_keys(options.key).first}),
      log_variance(in_features, units, {.key = two_keys(options.key).second}),
      options_(std::move(options)) {
    if (!(options_.factor >= 0))
        throw ValueError(text("Variational: factor is ", options_.factor, "; it must be at least 0"));
    if (!options_.key) options_.key = random::next_key();
}

Tensor Variational::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(mean.weight, "Variational"));
    Tensor value = x.as_tensor(), middle = mean(value), logs = log_variance(value);
    Tensor divergence = sum(exp(logs) + square(middle) - 1.0 - logs, -1) * 0.5;
    add_cost("divergence", batch_mean(divergence) * options_.factor);
    if (!training() && !options_.sampled) return middle;
    Tensor noise = random::normal(middle.shape(), 0, 1, training() ? Tensor() : options_.key, middle.dtype());
    Tensor code = middle + exp(logs * 0.5) * noise;
    if (Notes* notes = Notes::current())
        notes->values.emplace_back(log_ratio, sum(square(noise) + logs - square(code), -1) * 0.5);
    return code;
}

Contractive::Contractive(Linear layer, std::string activation, double factor)
    : linear(std::move(layer)), name_(std::move(activation)), activation_(nn::activation(name_)), factor_(factor) {
    if (!(factor >= 0)) throw ValueError(text("Contractive: factor is ", factor, "; it must be at least 0"));
}

Tensor Contractive::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor before = linear(x), value = activation_(before);
    // Number by number: the derivative of the sum is the derivative of each.
    Tensor slope = gradient(sum(value), before);
    Tensor squares = matmul(square(slope), sum(square(linear.weight.value()), 1));
    add_cost("contraction", batch_mean(squares) * factor_, AddedCost::Part::penalty);
    return value;
}

ActivityPenalty::ActivityPenalty(ActivityOptions options) : options_(options) {
    if (options.target && !(*options.target > 0 && *options.target < 1))
        throw ValueError(text("ActivityPenalty: the target is ", *options.target, "; it must be between 0 and 1"));
    for (double factor : {options.l1, options.l2, options.factor})
        if (!(factor >= 0)) throw ValueError(text("ActivityPenalty: a factor is ", factor, "; it must be at least 0"));
}

Tensor ActivityPenalty::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor value = x.as_tensor();
    auto of_batch = [&](const Tensor& numbers) {
        Axes axes;
        for (std::size_t axis = 1; axis < numbers.ndim(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
        return batch_mean(axes.empty() ? numbers : sum(numbers, axes));
    };
    Tensor total(0.0f);
    if (options_.l1 > 0) total = total + of_batch(abs(value)) * options_.l1;
    if (options_.l2 > 0) total = total + of_batch(square(value)) * (options_.l2 / 2);
    if (options_.target) {
        constexpr double edge = 1e-6;  // a unit that is always off is far from the target, not infinitely far
        double q = *options_.target;
        Tensor p = minimum(maximum(weft::mean(value, 0), edge), 1 - edge);
        Tensor divergence = q * (std::log(q) - log(p)) + (1 - q) * (std::log(1 - q) - log(1.0 - p));
        total = total + sum(divergence) * options_.factor;
    }
    add_cost("activity", total, AddedCost::Part::penalty);
    return value;
}

Tied::Tied(const Linear& to)
    : bias(Tensor(Array::zeros(to.weight.dtype(), {to.weight.shape()[1].value()}))), weight_(to.weight) {}

Tensor Tied::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(bias, "Tied"));
    check_axis("Tied", x, 1, -1, weight_.shape()[0].value(), "features");
    return matmul(x, weight_.value()) + bias;
}

}  // namespace weft::nn
