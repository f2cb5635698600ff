// Declared expressions, compiled: inputs are declared with input(), sizes may be named, and everything is written before any number is
// known. Sizes are bound when the function is called; what could not be checked before is checked then.
//
//     Tensor x = input("x", {"batch", 784});
//     auto step = function({x}, {loss}, {{w, w.value() - 0.1 * gradient(loss, w.value())}});
//
// Callers: users.
#pragma once

#include <utility>
#include <vector>

#include "weft/graph/attributes.h"
#include "weft/runtime/function.h"

namespace weft {

/// Outputs as a function of inputs; all updates take effect together, after the outputs. Parameters read in the expressions are read
/// anew at each call. ValueError for an input that is used but not given, ShapeError for sizes that contradict each other.
CompiledFunction function(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                          std::vector<std::pair<Parameter, Tensor>> updates = {});

/// The same expressions over other leaves: each node of `from` becomes its counterpart in `to`, named sizes become numbers.
std::vector<Tensor> substitute(std::span<const Tensor> expressions, std::span<const Tensor> from,
                               std::span<const Tensor> to, const SizeLookup& lookup);

}  // namespace weft
