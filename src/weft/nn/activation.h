// Nonlinearities as modules, under PyTorch's names, for Sequential; in code one calls the functions (weft::relu). Callers: users' models.
#pragma once

#include "weft/nn/sequential.h"
#include "weft/ops/elementwise.h"

namespace weft::nn {

/// A unary elementwise operation as a module.
template <const Operation& operation>
struct Pointwise {
    Tensor operator()(const Operand& x) const { return apply(operation, {x}); }
    template <class V>
    void members(V&) {}
};

struct ReLU : Pointwise<relu_operation> {};
struct ReLU6 : Pointwise<relu6_operation> {};
struct Sigmoid : Pointwise<sigmoid_operation> {};
struct Tanh : Pointwise<tanh_operation> {};
struct GELU : Pointwise<gelu_operation> {};
struct SiLU : Pointwise<silu_operation> {};
struct Mish : Pointwise<mish_operation> {};
struct Softplus : Pointwise<softplus_operation> {};
struct SELU : Pointwise<selu_operation> {};
struct Softsign : Pointwise<softsign_operation> {};
struct Hardtanh : Pointwise<hardtanh_operation> {};
struct Hardsigmoid : Pointwise<hardsigmoid_operation> {};
struct Hardswish : Pointwise<hardswish_operation> {};
struct Tanhshrink : Pointwise<tanhshrink_operation> {};

struct LeakyReLU {
    double negative_slope = 0.01;
    Tensor operator()(const Operand& x) const { return leaky_relu(x, negative_slope); }
    template <class V>
    void members(V& visit) {
        visit("negative_slope", negative_slope);
    }
};
struct ELU {
    double alpha = 1;
    Tensor operator()(const Operand& x) const { return elu(x, alpha); }
    template <class V>
    void members(V& visit) {
        visit("alpha", alpha);
    }
};
/// x above 0, weight * x below; the weight (one, or one a channel of axis 1) is learned (He et al., 2015).
class PReLU {
  public:
    explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25, DType dtype = DType::float32);
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("weight", weight);
    }
    Parameter weight;
};
struct Softmax {
    std::int64_t dim = -1;
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("dim", dim);
    }
};
struct LogSoftmax {
    std::int64_t dim = -1;
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("dim", dim);
    }
};

/// The unary elementwise operation of this name ("relu", "tanh", a user's own) as a module. ValueError names the nearest.
Module activation(std::string_view name);
/// The names that it takes.
std::vector<std::string_view> activation_names();

}  // namespace weft::nn
