// A program written into another. Callers: compile/row_numbers.cpp, backend/cpu/stored_reduction.cpp.
#pragma once

#include "weft/kernel/builder.h"

namespace weft {

/// What the program gives where its inputs are these values of the builder, one an input, of its types.
std::vector<Scalar> splice(ProgramBuilder& builder, const Program& program, std::span<const Scalar> inputs);

}  // namespace weft
