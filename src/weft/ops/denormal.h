// Numbers so near to 0 that a type holds them with fewer digits. They are of no use where something fades away by products, and some processors
// take a hundred times as long for one of them. Callers: autodiff/loop_pull.cpp.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// x, but 0 where it is nearer to 0 than the least normal number of its type (of float16: than that of float32, as which it is computed; so it
/// stays as it is). NaN stays NaN. Its derivative is 1 everywhere: where x is 0, what it changes by need not be.
Tensor normal_or_zero(const Operand& x);
extern const Operation normal_or_zero_operation;

}  // namespace weft
