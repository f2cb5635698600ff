// The columns of the matrix that are about values. Callers: check/check.cpp.
#pragma once

#include "weft/check/check.h"

namespace weft {

Failures check_values(const Operation& operation);   ///< compiled = interpreted, sizes around the edges of blocks
Failures check_layouts(const Operation& operation);  ///< compiled = interpreted, however the inputs lie in memory
Failures check_specials(
    const Operation& operation);  ///< compiled = interpreted on NaN, infinities, zeros, denormals, ends
Failures check_accuracy(const Operation& operation);  ///< within `ulp` + 1/2 units of `oracle`
Failures check_promotion(
    const Operation& operation);                    ///< mixed types meet in the promoted type; plain numbers are weak
Failures check_fusion(const Operation& operation);  ///< the same in the middle of an expression, fused or not
Failures check_refusals(
    const Operation& operation);  ///< wrong types and shapes are typed errors that name the operation

}  // namespace weft
