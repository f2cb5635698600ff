// Activations with PyTorch's names, arguments and defaults (torch.nn.functional). Those without options are operations of their own
// (ops/activation.inc). Shapes stay; integers become float32. Callers: users, nn/, the Python package.
#pragma once

#include <optional>
#include <string_view>

#include "weft/graph/tensor.h"
#include "weft/ops/elementwise.h"

namespace weft::nn::functional {

using weft::hardsigmoid;
using weft::hardswish;
using weft::mish;
using weft::relu;
using weft::relu6;
using weft::selu;
using weft::sigmoid;
using weft::silu;
using weft::softsign;
using weft::tanh;
using weft::tanhshrink;
inline Tensor logsigmoid(const Operand& x) { return log_sigmoid(x); }

/// x where x > 0, else alpha (exp(x) - 1) (Clevert et al., 2016).
Tensor elu(const Operand& x, double alpha = 1);
/// x where x > 0, else alpha (exp(x / alpha) - 1) (Barron, 2017). ValueError for alpha = 0.
Tensor celu(const Operand& x, double alpha = 1);
Tensor leaky_relu(const Operand& x, double negative_slope = 0.01);
/// `weight`: one slope, or one a channel (axis 1).
Tensor prelu(const Operand& x, const Tensor& weight);
/// Slopes drawn from [lower, upper) while training, else their mean (Xu et al., 2015).
Tensor rrelu(const Operand& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false,
             const Tensor& key = {});
/// The first half along the axis times the sigmoid of the second (Dauphin et al., 2017).
Tensor glu(const Operand& x, std::int64_t axis = -1);
/// `approximate`: "none" or "tanh".
Tensor gelu(const Operand& x, std::string_view approximate = "none");
/// 0 within +-lambd; x beyond (hard), x moved towards 0 by lambd (soft).
Tensor hardshrink(const Operand& x, double lambd = 0.5);
Tensor softshrink(const Operand& x, double lambd = 0.5);
/// log(1 + exp(beta x)) / beta; x itself where beta x > threshold.
Tensor softplus(const Operand& x, double beta = 1, double threshold = 20);
Tensor hardtanh(const Operand& x, double min_val = -1, double max_val = 1);
/// x where x > threshold, else value.
Tensor threshold(const Operand& x, double threshold, double value);
/// Along `axis`; without one PyTorch's old choice: 0 of values with 0, 1 or 3 axes, else 1. `dtype`: x is converted first.
Tensor softmax(const Operand& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {});
Tensor softmin(const Operand& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {});
Tensor log_softmax(const Operand& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {});
/// softmax((logits + Gumbel noise) / tau); `hard`: 1 at the largest, with the derivative of the soft one (Jang et al., 2017).
Tensor gumbel_softmax(const Operand& logits, double tau = 1, bool hard = false, std::int64_t axis = -1,
                      const Tensor& key = {});
/// x / max(its p-norm along axes, eps).
Tensor normalize(const Operand& x, double p = 2, const Axes& axes = {1}, double eps = 1e-12);

}  // namespace weft::nn::functional
