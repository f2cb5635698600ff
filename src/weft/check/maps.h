// The column of the matrix that is about vmap. Callers: check/check.cpp.
#pragma once

#include "weft/check/check.h"

namespace weft {

bool can_be_mapped(const Operation& operation);

/// For each choice of mapped inputs: a mapped call, its derivatives of first and second order, and a map of a map give what a loop over
/// the examples gives; so does the derivative of a mapped call.
Failures check_maps(const Operation& operation);

}  // namespace weft
