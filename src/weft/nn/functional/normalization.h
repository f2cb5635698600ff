// Normalisations with PyTorch's names, arguments and defaults: batch (Ioffe & Szegedy, 2015), layer (Ba et al., 2016), group (Wu & He,
// 2018), instance (Ulyanov et al., 2016), response (Krizhevsky et al., 2012), root mean square (Zhang & Sennrich, 2019). Weights and
// biases may be left out. Callers: users, nn/, the Python package.
#pragma once

#include <optional>

#include "weft/graph/tensor.h"

namespace weft::nn::functional {

/// What a normalisation by batch statistics gives: its result, and what the running statistics are afterwards (empty without them).
struct Normalized {
    Tensor value, running_mean, running_var;
};
/// x (N, C, ...): each channel less its mean, over its deviation: of this batch while training, else the running ones. ValueError while
/// training on one number a channel, ShapeError for statistics that are not one number a channel.
Normalized batch_norm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                      const Tensor& weight = {}, const Tensor& bias = {}, bool training = false, double momentum = 0.1,
                      double eps = 1e-5);
/// The same for each example by itself.
Normalized instance_norm(const Operand& x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                         const Tensor& weight = {}, const Tensor& bias = {}, bool use_input_stats = true,
                         double momentum = 0.1, double eps = 1e-5);
/// Over the last axes, which have the sizes `normalized_shape`.
Tensor layer_norm(const Operand& x, const Dims& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) over the last axes. Without eps: the difference of 1 and the next number of x's type.
Tensor rms_norm(const Operand& x, const Dims& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = {});
Tensor group_norm(const Operand& x, std::int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / (k + alpha * mean of squares over `size` neighbouring channels)^beta.
Tensor local_response_norm(const Operand& x, std::int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1);

}  // namespace weft::nn::functional
