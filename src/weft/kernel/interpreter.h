// The interpreter: the slow and obvious way to run a Program or a Loop, one element at a time, one instruction at a time.
// It is the oracle of every faster way. Sums and products of floating types are joined in long double and rounded once; running ones
// and what scatters join as their loop says.
// Callers: tests; rewrite/ (constants folded).
#pragma once

#include "weft/kernel/loop.h"

namespace weft {

/// One element: inputs[i] and outputs[i] point to one value each, of the program's types.
void interpret(const Program& program, const void* const* inputs, void* const* outputs);

/// The whole box: loads[i] and stores[i] point to the element at index 0 of every axis.
/// A store may be the memory of a load with the same strides (in place) if the loop is a map.
void interpret(const Loop& loop, const void* const* loads, void* const* stores);

}  // namespace weft
