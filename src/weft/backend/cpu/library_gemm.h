// Matrix products by oneDNN, where it is measurably better than weft's own. Whether it takes a product, and the blocks of rows into which it is split, depend on sizes and layout alone. Caller: backend/cpu/gemm.cpp.
#pragma once

#include "weft/backend/cpu/own_gemm.h"

namespace weft::cpu {

/// Does the product (of float or double) and returns true, or leaves it alone and returns false.
template <class T>
bool library_gemm(const GemmProblem<T>& problem);

/// How many rows at a time a library is given of this product, whatever its pointers; 0: none takes it.
template <class T>
std::int64_t library_gemm_rows(const GemmProblem<T>& problem);

/// Whether a library might take such a product of float32, or its turned one, however its matrices lie.
bool library_gemm_may_take(std::int64_t m, std::int64_t n, std::int64_t k);

// No library has products of float32 as bfloat16.
template <int parts>
bool library_gemm(const GemmProblem<FloatOfParts<parts>>&) {
    return false;
}
template <int parts>
std::int64_t library_gemm_rows(const GemmProblem<FloatOfParts<parts>>&) {
    return 0;
}

}  // namespace weft::cpu
