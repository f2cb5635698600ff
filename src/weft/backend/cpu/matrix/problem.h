// One matrix at a time: what a factorization asks of a library or of weft's own code. Matrices are column-major and dense; inputs are
// copies, which may be written over. Callers: backend/cpu/factorization.cpp, matrix/*.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "weft/ops/factorization.h"

namespace weft::cpu::matrix {

struct Problem {
    Factorization kind = Factorization::lu;
    std::int64_t m = 0, n = 0;  // of the first input that is a matrix
    std::int64_t k = 0;         // columns of b
    bool lower = true, transposed = false, unit_diagonal = false, complete = false;

    int work[2] = {};  // what LAPACK's routines asked for, in their order: filled in by lapack_scratch

    std::int64_t least() const { return std::min(m, n); }
    std::int64_t q_columns() const { return complete ? m : least(); }  // of Q, U
    std::int64_t vh_rows() const { return complete ? n : least(); }    // of R, Vh
};

enum class Outcome : std::uint8_t { done, singular, indefinite, unsettled };

template <class T>
struct RealOf {
    using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
    using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
inline constexpr bool is_complex_v = !std::is_same_v<T, Real<T>>;

/// weft's own code, textbook algorithms, for builds without LAPACK and for what LAPACK does not have. `in`: the inputs that are read, in
/// order. `out`: the result, packed as ops/factorization.h says; of eig and eigvals it is complex. A scratch of own_scratch() bytes,
/// aligned to 64.
template <class T>
std::size_t own_scratch(const Problem& problem);
template <class T>
Outcome own_factorization(const Problem& problem, T* const* in, void* out, std::byte* scratch);

/// The same by LAPACK; whether it takes the problem at all.
bool lapack_takes(const Problem& problem);
template <class T>
std::size_t lapack_scratch(Problem& problem);
template <class T>
Outcome lapack_factorization(const Problem& problem, T* const* in, void* out, std::byte* scratch);

/// f of each type that has factorizations, for explicit instantiations.
#define WEFT_MATRIX_TYPES(X) X(float) X(double) X(std::complex<float>) X(std::complex<double>)

}  // namespace weft::cpu::matrix
