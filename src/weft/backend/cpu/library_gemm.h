// Matrix products by oneDNN or OpenBLAS, where they are measurably better than weft's own. Whether one takes a product,
// and the blocks of rows into which it is split, depend on sizes and layout alone. Caller: backend/cpu/gemm.cpp.
#pragma once

#include "weft/backend/cpu/own_gemm.h"

namespace weft::cpu {

/// Does the product and returns true, or leaves it alone and returns false.
bool library_gemm(const GemmProblem<float>& problem);
bool library_gemm(const GemmProblem<double>& problem);

}  // namespace weft::cpu
