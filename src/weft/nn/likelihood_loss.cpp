// Negative log-likelihoods of distributions whose parameters a model predicts.
#include <cmath>
#include <numbers>

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/reduced.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft::nn {

Tensor poisson_nll_loss(const Operand& input, const Operand& target, const PoissonOptions& options) {
    LineScope line(input.where);
    Tensor x = input.as_tensor(), t = target.as_tensor();
    check_same_shape("poisson_nll_loss", x, t, input.where);
    x = astype(x, inexact(x.dtype())), t = astype(t, x.dtype());
    Tensor losses = options.log_input ? exp(x) - t * x : x - t * log(x + options.eps);
    if (options.full) {
        Tensor large = where(t > 1, t, 1);
        Tensor factorial = large * log(large) - large + 0.5 * log(2 * std::numbers::pi * large);
        losses = losses + where(t > 1, factorial, 0);
    }
    return reduced(losses, options.reduction);
}

Tensor gaussian_nll_loss(const Operand& input, const Operand& target, const Operand& var,
                         const GaussianOptions& options) {
    LineScope line(input.where);
    Tensor x = input.as_tensor(), t = target.as_tensor();
    check_same_shape("gaussian_nll_loss", x, t, input.where);
    x = astype(x, inexact(x.dtype())), t = astype(t, x.dtype());
    Tensor v = var.weak() ? broadcast_to(var.as(x.dtype()), x.shape()) : var.tensor;
    Shape shape = x.shape(), without = shape, one = shape;
    if (!shape.empty()) without.pop_back(), one.back() = 1;
    if (v.shape() != shape) {
        if (!shape.empty() && v.shape() == without)
            v = expand_dims(v, -1);
        else if (v.shape() != one)
            throw ShapeError(text("gaussian_nll_loss: the input has shape ", shape, ", the variance ", v.shape(),
                                  "; it may lack the last axis, or be 1 along it", place(input.where)));
    }
    if (v.computed() && !v.node()->symbolic) {
        for (double value : astype(v, DType::float64).to_vector<double>())
            if (value < 0)
                throw ValueError(
                    text("gaussian_nll_loss: a variance is ", value, "; it must not be negative", place(input.where)));
    }
    v = v + stop_gradient(maximum(v, options.eps) - v);
    Tensor losses = 0.5 * (log(v) + square(x - t) / v);
    if (options.full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
    return reduced(losses, options.reduction);
}

}  // namespace weft::nn
