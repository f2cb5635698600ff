#include "weft/nn/loss.h"

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/reduced.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

// Losses of single elements, on operands that were found to fit.
template <class F>
Tensor elementwise_loss(std::string_view name, const Operand& prediction, const Operand& target,
                        LossReduction reduction, F formula) {
    Tensor p = prediction.as_tensor(), t = target.as_tensor();
    check_same_shape(name, p, t, prediction.where);
    DType dtype = inexact(p.dtype());
    return reduced(formula(astype(p, dtype), astype(t, dtype)), reduction);
}

Tensor weighted(const Tensor& losses, const Tensor& weight) { return weight ? losses * weight : losses; }

// With a weight for each element, whose sum means are divided by.
template <class F>
Tensor weighted_loss(std::string_view name, const Operand& prediction, const Operand& target, LossReduction reduction,
                     const Tensor& weight, F formula) {
    if (!weight) return elementwise_loss(name, prediction, target, reduction, formula);
    Tensor losses = elementwise_loss(name, prediction, target, LossReduction::none, formula);
    if (!may_be_equal(weight.shape(), losses.shape())) {
        throw ShapeError(text(name, ": the weight has shape ", weight.shape(), ", the prediction ", losses.shape(),
                              "; they must be the same", place(prediction.where)));
    }
    losses = losses * weight;
    return reduction == LossReduction::mean ? sum(losses) / sum(weight) : reduced(losses, reduction);
}

}  // namespace

LossReduction reduction_named(std::string_view name) {
    if (name == "mean") return LossReduction::mean;
    if (name == "sum") return LossReduction::sum;
    if (name == "none") return LossReduction::none;
    throw ValueError(text("the reduction of a loss is 'mean', 'sum' or 'none', not '", name, "'"));
}

Tensor mse_loss(const Operand& prediction, const Operand& target, const WeightedOptions& options) {
    LineScope line(prediction.where);
    return weighted_loss("mse_loss", prediction, target, options.reduction, options.weight,
                         [](const Tensor& p, const Tensor& t) { return square(p - t); });
}

Tensor l1_loss(const Operand& prediction, const Operand& target, const WeightedOptions& options) {
    LineScope line(prediction.where);
    return weighted_loss("l1_loss", prediction, target, options.reduction, options.weight,
                         [](const Tensor& p, const Tensor& t) { return abs(p - t); });
}

Tensor smooth_l1_loss(const Operand& prediction, const Operand& target, const SmoothL1Options& options) {
    LineScope line(prediction.where);
    double beta = options.beta;
    if (!(beta >= 0)) throw ValueError(text("smooth_l1_loss: beta is ", beta, "; it must be at least 0"));
    if (beta == 0) return l1_loss(prediction, target, {options.reduction});
    return elementwise_loss("smooth_l1_loss", prediction, target, options.reduction,
                            [&](const Tensor& p, const Tensor& t) {
                                Tensor distance = abs(p - t);
                                return where(distance < beta, square(distance) * (0.5 / beta), distance - 0.5 * beta);
                            });
}

Tensor huber_loss(const Operand& prediction, const Operand& target, const HuberOptions& options) {
    LineScope line(prediction.where);
    double delta = options.delta;
    if (!(delta > 0)) throw ValueError(text("huber_loss: delta is ", delta, "; it must be above 0"));
    return weighted_loss("huber_loss", prediction, target, options.reduction, options.weight,
                         [&](const Tensor& p, const Tensor& t) {
                             Tensor distance = abs(p - t);
                             return where(distance <= delta, 0.5 * square(distance), delta * (distance - 0.5 * delta));
                         });
}

Tensor binary_cross_entropy(const Operand& probabilities, const Operand& target, const BinaryOptions& options) {
    LineScope line(probabilities.where);
    return elementwise_loss("binary_cross_entropy", probabilities, target, options.reduction,
                            [&](const Tensor& p, const Tensor& t) {
                                Tensor yes = maximum(log(p), -100.0), no = maximum(log1p(-p), -100.0);
                                return weighted(-(t * yes + (1 - t) * no), options.weight);
                            });
}

Tensor binary_cross_entropy_with_logits(const Operand& logits, const Operand& target,
                                        const BinaryLogitsOptions& options) {
    LineScope line(logits.where);
    return elementwise_loss(
        "binary_cross_entropy_with_logits", logits, target, options.reduction, [&](const Tensor& x, const Tensor& t) {
            // log(1 + exp(-x)) = softplus(-x); log(1 + exp(x)) = x + softplus(-x)
            Tensor losses = options.pos_weight ? (1 - t) * x + (1 + (options.pos_weight - 1) * t) * softplus(-x)
                                               : (1 - t) * x + softplus(-x);
            return weighted(losses, options.weight);
        });
}

Tensor kl_div(const Operand& input, const Operand& target, const KlDivOptions& options) {
    LineScope line(input.where);
    using Reduction = KlDivOptions::Reduction;
    LossReduction reduction = options.reduction == Reduction::none   ? LossReduction::none
                              : options.reduction == Reduction::mean ? LossReduction::mean
                                                                     : LossReduction::sum;
    Tensor loss = elementwise_loss("kl_div", input, target, reduction, [&](const Tensor& x, const Tensor& t) {
        return options.log_target ? exp(t) * (t - x) : xlogy(t, t) - t * x;
    });
    if (options.reduction != Reduction::batchmean) return loss;
    Shape shape = input.as_tensor().shape();
    return shape.empty() ? loss : loss / size_as_tensor(shape[0], loss.dtype());
}

Tensor hinge_loss(const Operand& prediction, const Operand& target, const MarginOptions& options) {
    LineScope line(prediction.where);
    return elementwise_loss("hinge_loss", prediction, target, options.reduction,
                            [&](const Tensor& p, const Tensor& t) { return maximum(options.margin - t * p, 0.0); });
}

Tensor hinge_embedding_loss(const Operand& x, const Operand& target, const MarginOptions& options) {
    LineScope line(x.where);
    return elementwise_loss("hinge_embedding_loss", x, target, options.reduction,
                            [&](const Tensor& p, const Tensor& t) {
                                Tensor rest = options.margin - p;
                                return where(t != -1.0, p, 0.0) + where((t != 1.0) & (rest > 0.0), rest, 0.0);
                            });
}

Tensor soft_margin_loss(const Operand& prediction, const Operand& target, const LossOptions& options) {
    LineScope line(prediction.where);
    return elementwise_loss("soft_margin_loss", prediction, target, options.reduction,
                            [](const Tensor& p, const Tensor& t) { return softplus(-t * p); });
}

}  // namespace weft::nn
