// Factorizations of small matrices, one in each lane of a vector: once an instruction set. Caller: backend/cpu/small_factorization.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"
#include "weft/ops/factorization.h"

namespace weft::cpu {

struct SmallProblem {
    Factorization kind = Factorization::lu;  // one of cholesky, lu, lu_solve, det, slogdet, triangular_solve
    int n = 0, k = 0;                        // the matrix; columns of b
    bool lower = true, transposed = false, unit_diagonal = false;
};

/// Element e of the matrix in lane l lies at [e * lanes + l], column-major; so do the inputs that are read, in order, and the result.
template <class T>
struct SmallMatrices {
    int lanes;
    /// Which lanes have no result: a matrix that is singular or, for cholesky, not positive definite. `bad`: one a lane.
    void (*factor)(const SmallProblem& problem, const T* a, const T* b, T* out, bool* bad);
};

#define WEFT_SMALL_MATRICES(isa)                          \
    namespace isa {                                       \
    extern const SmallMatrices<float> small_matrices_32;  \
    extern const SmallMatrices<double> small_matrices_64; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_SMALL_MATRICES)
#undef WEFT_SMALL_MATRICES

}  // namespace weft::cpu
