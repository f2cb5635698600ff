// The matrix product of the types that have no kernel of their own: integers, bool, the half types, complex. Slow and
// plain. Caller: backend/cpu/gemm.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/gemm.h"

namespace weft::cpu {

/// As gemm() of any dtype; each element is summed in the order of k.
void generic_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                  void* c, std::int64_t c_row_stride, bool accumulate, const Epilogue& epilogue);

}  // namespace weft::cpu
