// The loss of a linear classifier, from its input on.
#include "weft/graph/node.h"
#include "weft/nn/functional/linear.h"
#include "weft/nn/loss.h"
#include "weft/ops/elementwise.h"
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

}  // namespace weft::nn
