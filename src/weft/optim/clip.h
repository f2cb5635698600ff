// Clipping: gradients held within bounds before a step. Each function gives new gradients and leaves those given as they are.
// Callers: Optimizer::step (where StepOptions ask for it), users.
#pragma once

#include <span>
#include <vector>

#include "weft/graph/tensor.h"

namespace weft::optim {

/// Every number held between -most and most. ValueError unless most > 0.
std::vector<Tensor> clip_value(std::span<const Tensor> gradients, double most);

/// Each gradient for itself, scaled down if its own Euclidean norm is above `most`. ValueError unless most > 0.
std::vector<Tensor> clip_each_norm(std::span<const Tensor> gradients, double most);

/// The gradients, all scaled down together if their joint Euclidean norm is above `most` (Pascanu et al., 2013). ValueError unless most > 0.
std::vector<Tensor> clip_norm(std::span<const Tensor> gradients, double most);

}  // namespace weft::optim
