#include "weft/optim/clip.h"

#include "weft/base/error.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft::optim {
namespace {

void above_zero(const char* name, const char* what, double most) {
    if (!(most > 0)) throw ValueError(text(name, ": the largest ", what, " is ", most, "; it must be above 0"));
}

Tensor squared_norm(const Tensor& gradient) { return sum(square(astype(gradient, compute_dtype(gradient.dtype())))); }

/// As PyTorch's clip_grad_norm_, whose small term keeps the norm of zeros from being divided by.
Tensor shrinking(const Tensor& squares, double most) { return minimum(most / (sqrt(squares) + 1e-6), 1.0); }

Tensor times(const Tensor& gradient, const Tensor& factor) { return astype(gradient * factor, gradient.dtype()); }

}  // namespace

std::vector<Tensor> clip_value(std::span<const Tensor> gradients, double most) {
    above_zero("clip_value", "value", most);
    std::vector<Tensor> clipped;
    for (const Tensor& gradient : gradients) clipped.push_back(clip(gradient, -most, most));
    return clipped;
}

std::vector<Tensor> clip_each_norm(std::span<const Tensor> gradients, double most) {
    above_zero("clip_each_norm", "norm", most);
    std::vector<Tensor> clipped;
    for (const Tensor& gradient : gradients)
        clipped.push_back(times(gradient, shrinking(squared_norm(gradient), most)));
    return clipped;
}

std::vector<Tensor> clip_norm(std::span<const Tensor> gradients, double most) {
    above_zero("clip_norm", "norm", most);
    Tensor total;
    for (const Tensor& gradient : gradients) total = total ? total + squared_norm(gradient) : squared_norm(gradient);
    if (!total) return {};
    Tensor factor = shrinking(total, most);
    std::vector<Tensor> clipped;
    for (const Tensor& gradient : gradients) clipped.push_back(times(gradient, factor));
    return clipped;
}

}  // namespace weft::optim
