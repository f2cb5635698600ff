// Losses of linear classifiers: from their input on, and of many classes.
#include "weft/graph/node.h"
#include "weft/nn/functional/linear.h"
#include "weft/nn/loss.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn {

Tensor linear_cross_entropy(const Operand& x, const Operand& weight, const Operand& target, const Tensor& bias,
                            const CrossEntropyOptions& options) {
    LineScope line(x.where);
    Tensor input = x.as_tensor(), w = weight.as_tensor();
    if (w.ndim() < 2 || input.ndim() < 1 || input.ndim() > 2) {
        throw ShapeError(text("linear_cross_entropy: an input of shape ", input.shape(), " and a weight of shape ",
                              w.shape(), "; they must be (N, in) or (in), and (C, ..., in)", place(x.where)));
    }
    if (w.ndim() > 2 && input.ndim() == 1) {
        throw ShapeError(text("linear_cross_entropy: a weight of shape ", w.shape(), " needs an input (N, in), not ",
                              input.shape(), place(x.where)));
    }
    CrossEntropyOptions chosen = options;
    if (options.ignore_index && is_floating(target.as_tensor().dtype())) {
        throw ValueError(text("linear_cross_entropy: ignore_index is for class numbers, the target holds probabilities",
                              place(x.where)));
    }
    if (!options.ignore_index) chosen.ignore_index = -100;
    Tensor logits = functional::linear(input, reshape(w, {-1, w.shape().back()}), bias ? ravel(bias) : Tensor());
    Shape shape(input.shape().begin(), input.shape().end() - 1);
    for (std::size_t axis = 0; axis + 1 < w.ndim(); ++axis) shape.push_back(w.shape()[axis]);
    return cross_entropy(Operand(reshape(logits, shape), x.where), target, chosen);
}

Tensor adaptive_log_softmax(const Operand& head, std::span<const Tensor> tails) {
    LineScope line(head.where);
    Tensor logits = head.as_tensor();
    auto clusters = static_cast<std::int64_t>(tails.size());
    if (logits.ndim() != 2 || (logits.shape()[1].known() && logits.shape()[1].value() < clusters)) {
        throw ShapeError(text("adaptive_log_softmax: the head has shape ", logits.shape(), "; it must be (N, common + ",
                              clusters, " clusters)", place(head.where)));
    }
    Size rows = logits.shape()[0], common = logits.shape()[1] - clusters;
    Tensor of_head = log_softmax(logits, 1);
    std::vector<Tensor> parts = {slice(of_head, {0, 0}, {rows, common})};
    for (std::int64_t i = 0; i < clusters; ++i) {
        const Tensor& tail = tails[static_cast<std::size_t>(i)];
        parts.push_back(slice(of_head, {0, common + i}, {rows, 1}) + log_softmax(tail, 1));
    }
    return concatenate(parts, 1);
}

}  // namespace weft::nn
