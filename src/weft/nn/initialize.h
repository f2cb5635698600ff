// First values of weights, named as PyTorch's nn.init (Glorot and Bengio, 2010; He et al., 2015; Saxe et al., 2014; Martens, 2010).
// A weight's shape is (outputs, inputs, kernel...). Draws take a key (random::key(seed)); without one, the global generator's next.
// Callers: layers, users (layer.weight.set(init::orthogonal(...))), train/.
#pragma once

#include <string_view>

#include "weft/graph/tensor.h"

namespace weft::nn::init {

Tensor constant(const Dims& shape, double value, DType dtype = DType::float32);
Tensor zeros(const Dims& shape, DType dtype = DType::float32);
Tensor ones(const Dims& shape, DType dtype = DType::float32);
Tensor uniform(const Dims& shape, double low = 0, double high = 1, const Tensor& key = {},
               DType dtype = DType::float32);
Tensor normal(const Dims& shape, double mean = 0, double deviation = 1, const Tensor& key = {},
              DType dtype = DType::float32);
/// Normal, but drawn between low and high (values, not deviations).
Tensor truncated_normal(const Dims& shape, double mean = 0, double deviation = 1, double low = -2, double high = 2,
                        const Tensor& key = {}, DType dtype = DType::float32);

/// How many numbers one output is made of (in), and how many outputs one input takes part in (out). ShapeError below two axes.
struct Fan {
    double in = 0, out = 0;
};
Fan fan_of(const Dims& shape);
/// The factor that keeps the deviation through a nonlinearity: "linear", "sigmoid", "tanh", "relu", "leaky_relu" (with its slope), "selu".
double gain(std::string_view nonlinearity, double slope = 0.01);

/// Uniform within +-gain * sqrt(6 / (in + out)); normal with deviation gain * sqrt(2 / (in + out)).
Tensor xavier_uniform(const Dims& shape, double gain = 1, const Tensor& key = {}, DType dtype = DType::float32);
Tensor xavier_normal(const Dims& shape, double gain = 1, const Tensor& key = {}, DType dtype = DType::float32);
/// Uniform within +-gain * sqrt(3 / in); normal with deviation gain / sqrt(in). The default gain is that of relu.
Tensor kaiming_uniform(const Dims& shape, double gain = 1.4142135623730951, const Tensor& key = {},
                       DType dtype = DType::float32);
Tensor kaiming_normal(const Dims& shape, double gain = 1.4142135623730951, const Tensor& key = {},
                      DType dtype = DType::float32);
/// A random matrix with orthonormal rows (or columns, if there are more rows), times gain; further axes count as columns.
Tensor orthogonal(const Dims& shape, double gain = 1, const Tensor& key = {}, DType dtype = DType::float32);
/// Each output has `inputs` weights that are not 0, at random places, normal with the deviation.
Tensor sparse(const Dims& shape, std::int64_t inputs, double deviation = 1, const Tensor& key = {},
              DType dtype = DType::float32);

}  // namespace weft::nn::init
