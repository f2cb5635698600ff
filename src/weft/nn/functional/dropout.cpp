#include "weft/nn/functional/dropout.h"

#include <cmath>

#include "weft/nn/functional/common.h"
#include "weft/ops/random.h"

namespace weft::nn::functional {
namespace {

void check_probability(std::string_view name, const Operand& x, double p) {
    if (p >= 0 && p <= 1) return;
    refuse(x, text(name, ": p is ", p, "; it is a probability, between 0 and 1"));
}

// True where an element of `x` stays, one draw a channel where `shared` axes at the end share it.
Tensor kept(const Tensor& x, double p, std::size_t shared, const Tensor& key) {
    Shape shape = x.shape();
    for (std::size_t axis = shape.size() - shared; axis < shape.size(); ++axis) shape[axis] = 1;
    return random::bernoulli(1 - p, shape, key);
}

Tensor drop(const Operand& x, double p, std::size_t shared, const Tensor& key) {
    Tensor tensor = floating(x);
    if (p == 1) return tensor * 0;
    return where(kept(tensor, p, shared, key), tensor * (1 / (1 - p)), 0);
}

// The number of spatial axes at the end; x has as many axes as one of the two lists says.
std::size_t spatial_axes(std::string_view name, const Operand& x, std::size_t least, std::size_t most,
                         std::size_t leading) {
    std::size_t ndim = x.as_tensor().ndim();
    if (ndim < least || ndim > most)
        refuse_shape(x, text(name, ": the input has shape ", x.as_tensor().shape(), ", but needs ", least, " to ", most,
                             " axes"));
    return ndim - leading;
}

Tensor alpha(std::string_view name, const Operand& x, double p, bool training, std::size_t shared, const Tensor& key) {
    LineScope line(x.where);
    check_probability(name, x, p);
    if (!training || p == 0) return x.as_tensor();
    Tensor tensor = floating(x);
    if (p == 1) return tensor * 0;
    constexpr double limit = 1.7580993408473766;  // selu's scale times its alpha
    double scale = 1 / std::sqrt((limit * limit * p + 1) * (1 - p)), shift = scale * limit * p;
    return where(kept(tensor, p, shared, key), tensor * scale + shift, shift - scale * limit);
}

}  // namespace

Tensor dropout(const Operand& x, double p, bool training, const Tensor& key) {
    LineScope line(x.where);
    check_probability("dropout", x, p);
    if (!training || p == 0) return x.as_tensor();
    return drop(x, p, 0, key);
}

Tensor dropout1d(const Operand& x, double p, bool training, const Tensor& key) {
    LineScope line(x.where);
    check_probability("dropout1d", x, p);
    (void)spatial_axes("dropout1d", x, 2, 3, 1);
    return training && p > 0 ? drop(x, p, 1, key) : x.as_tensor();
}

Tensor dropout2d(const Operand& x, double p, bool training, const Tensor& key) {
    LineScope line(x.where);
    check_probability("dropout2d", x, p);
    std::size_t spatial = spatial_axes("dropout2d", x, 3, 4, 2);
    return training && p > 0 ? drop(x, p, spatial, key) : x.as_tensor();
}

Tensor dropout3d(const Operand& x, double p, bool training, const Tensor& key) {
    LineScope line(x.where);
    check_probability("dropout3d", x, p);
    (void)spatial_axes("dropout3d", x, 4, 5, 1);
    return training && p > 0 ? drop(x, p, 3, key) : x.as_tensor();
}

Tensor alpha_dropout(const Operand& x, double p, bool training, const Tensor& key) {
    return alpha("alpha_dropout", x, p, training, 0, key);
}

Tensor feature_alpha_dropout(const Operand& x, double p, bool training, const Tensor& key) {
    std::size_t shared = training ? spatial_axes("feature_alpha_dropout", x, 2, 64, 2) : 0;
    return alpha("feature_alpha_dropout", x, p, training, shared, key);
}

}  // namespace weft::nn::functional
