// Large products of floats where vectors have 16 registers, by slabs of b: one that stays in the third-level cache at a time, copied once for all
// threads, which few rows of a, copied too, pass from the second-level one. (Of doubles own_gemm takes as long.) Callers: backend/cpu/gemm.cpp.
#pragma once

#include "weft/backend/cpu/own_gemm.h"

namespace weft::cpu {

/// Whether a product is made so: large, where tiles take four rows of b at a time. Whatever the data.
bool takes_slabs(const GemmProblem<float>& problem);

/// Any product of at least a row, a column and a number along k: every element is one chain in the order of k, as own_gemm's of what takes_slabs
/// takes. By all threads, each with memory of its own for its rows.
void slab_gemm(const GemmProblem<float>& problem);

}  // namespace weft::cpu
