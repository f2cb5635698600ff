// Multiplication and addition by one rounding: what products of matrices are made of, where a program writes them number by number.
// Callers: compile/numbers.cpp.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// a * b + c, rounded once.
Tensor fused_multiply_add(const Operand& a, const Operand& b, const Operand& c);
extern const Operation fused_multiply_add_operation;

}  // namespace weft
