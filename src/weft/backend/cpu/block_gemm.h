// Large products by blocks of b: one that stays in the second-level cache at a time, which all rows of a pass, some at a time, from the first-level one.
// Callers: backend/cpu/gemm.cpp.
#pragma once

#include "weft/backend/cpu/own_gemm.h"

namespace weft::cpu {

/// Whether a product is made so: large, its rows of a in one piece each, where tiles take two panels of b together. Whatever the data.
template <class T>
bool takes_blocks(const GemmProblem<T>& problem);

/// Any product whose rows of a lie in one piece each: every element is one chain in the order of k, as own_gemm's of what takes_blocks takes. By all
/// threads, each with memory of its own for a block.
template <class T>
void block_gemm(const GemmProblem<T>& problem);

}  // namespace weft::cpu
