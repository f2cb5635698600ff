// The oracle of the tests: the same tensors computed slowly and obviously, an operation at a time, by the interpreter.
// Callers: tests, check(), WEFT_DEBUG.
#pragma once

#include <span>
#include <vector>

#include "weft/graph/tensor.h"

namespace weft {

/// The tensors' numbers without fusion, without libraries, without vectors. The tensors stay as they are (pending stays pending).
std::vector<Array> interpret(std::span<const Tensor> tensors);
Array interpret(const Tensor& tensor);

}  // namespace weft
