// Products of matrices of complex numbers as products of real ones: of four real products each, none saved, so infinities and digits are those of
// the definition. Callers: backend/cpu/generic_gemm.cpp.
#pragma once

#include "weft/backend/cpu/gemm.h"

namespace weft::cpu {

/// The product, where this pays: false for types that are not complex, and for few numbers.
bool complex_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                  void* c, std::int64_t c_row_stride, bool accumulate);

}  // namespace weft::cpu
