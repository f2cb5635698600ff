// What optimizers keep of gradients, and Adam's step, as one operation each: written out they would be three of four nodes of a transformer's
// training step, and the time that it takes to compile goes by nodes. Kernels are the same. Callers: optim/adam.cpp, adaptive.cpp, lion.cpp.
#pragma once

#include "weft/graph/tensor.h"

namespace weft::optim {

/// Means over steps, which keep `decay` of what they were.
class RunningMean {
  public:
    RunningMean(double decay, DType dtype);
    /// decay * mean + (1 - decay) * x
    Tensor next(const Tensor& mean, const Tensor& x) const;
    /// decay * mean + (1 - decay) * x * x
    Tensor next_of_squares(const Tensor& mean, const Tensor& x) const;

  private:
    Tensor decay_, share_;
};

/// value * kept - rate * average / (sqrt(squares) * root + eps); no `kept`: 1. `root`: 1 / sqrt(1 - beta2**t), what makes up for the start of `squares` at zero.
Tensor adam_step(const Tensor& value, const Tensor& kept, const Tensor& average, const Tensor& squares,
                 const Tensor& rate, const Tensor& root, const Tensor& eps);

}  // namespace weft::optim
