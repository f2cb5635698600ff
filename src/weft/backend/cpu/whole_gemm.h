// Products of matrices of whole numbers, which wrap. Callers: backend/cpu/generic_gemm.cpp.
#pragma once

#include "weft/backend/cpu/gemm.h"

namespace weft::cpu {

/// The product, where there are loops for it: false for types that are not whole numbers, and where it is too small for them.
bool whole_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
                std::int64_t c_row_stride, bool accumulate);

}  // namespace weft::cpu
