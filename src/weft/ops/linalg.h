// Linear algebra, with the names and arguments of the array API's linalg (2024.12) and NumPy's for what it lacks. The last two axes are
// matrices, the others are batches and broadcast. float32, float64, complex64, complex128; bool and integers are taken as float32;
// half types are a DTypeError. The sizes of matrices must be known, those of batches need not be. A matrix that has no result (singular,
// not positive definite, with NaN where values are iterated for) is a ValueError when the numbers are computed, which names it.
//
// Derivatives, forward and reverse, of any order, are the published rules: Giles, Collected matrix derivative results for forward and
// reverse mode algorithmic differentiation (2008) for products, inverses, determinants, Cholesky, eigenvalues, singular values;
// Seeger, Hetzel, Dai & Lawrence, Auto-differentiating linear algebra (2017) for QR and eigenvectors; Golub & Pereyra (1973) for the
// pseudo-inverse; Najfeld & Havel (1995) for the exponential. Where eigenvalues (singular values) are equal, their vectors have no
// derivative: there the term that would divide by 0 is left out, so what does not depend on the choice of vectors is still right.
// Callers: everyone.
#pragma once

#include <limits>
#include <optional>

#include "weft/graph/operation.h"

namespace weft::linalg {

struct Slogdet {
    Tensor sign, logabsdet;
};
struct Qr {
    Tensor q, r;
};
struct Eigen {
    Tensor values, vectors;  // vectors are columns
};
struct Svd {
    Tensor u, s, vh;
};
struct Lstsq {
    Tensor x, residuals, rank, singular_values;
};
enum class QrMode : std::uint8_t { reduced, complete };
/// The matrix norms that are not a number.
enum class MatrixNorm : std::uint8_t { fro, nuc };

// Solving (linalg_solve.cpp)

/// L with L L^H = x (upper: U with U^H U = x) of a Hermitian positive definite x, of which one triangle is read. Its derivative takes the
/// directions to be Hermitian.
Tensor cholesky(const Operand& x, bool upper = false);
/// x with a x = b; b is a vector only if it is 1-d.
Tensor solve(const Operand& a, const Operand& b);
/// x with a x = b (transposed: a^T x = b), reading one triangle of a; with unit_diagonal its diagonal is taken to be 1.
Tensor solve_triangular(const Operand& a, const Operand& b, bool lower = false, bool transposed = false,
                        bool unit_diagonal = false);
Tensor inv(const Operand& x);
/// Of a 0 x 0 matrix: 1. The derivative of it, and of slogdet, needs the inverse.
Tensor det(const Operand& x);
/// Sign (complex: of modulus 1; 0 if singular) and the logarithm of the absolute value, real.
Slogdet slogdet(const Operand& x);
/// a^n by squaring; negative powers of the inverse. Of bool and integers, powers from 0 on keep their type.
Tensor matrix_power(const Operand& x, std::int64_t n);

// Orthogonal factors and eigenvalues (linalg_qr.cpp, linalg_eigen.cpp)

/// Q R = x. Derivative: of full rank, and not of the further columns of a complete Q.
Qr qr(const Operand& x, QrMode mode = QrMode::reduced);
/// Of Hermitian matrices, of which the lower triangle is read: real values in ascending order. Derivative: as cholesky's.
Eigen eigh(const Operand& x);
Tensor eigvalsh(const Operand& x);
/// Of any square matrices: complex values in no order, vectors of length 1. No derivative yet, as of all complex results.
Eigen eig(const Operand& x);
Tensor eigvals(const Operand& x);

// Singular values and what is made of them (linalg_svd.cpp)

/// U diag(s) Vh = x, s descending and real. Derivative: not of the further columns that full matrices have.
Svd svd(const Operand& x, bool full_matrices = true);
Tensor svdvals(const Operand& x);
/// Moore and Penrose's. Singular values up to rtol (default: max(m, n) epsilon) times the largest count as 0.
Tensor pinv(const Operand& x, const std::optional<Operand>& rtol = {});
/// How many singular values lie above rtol (default as pinv's) times the largest; int64.
Tensor matrix_rank(const Operand& x, const std::optional<Operand>& rtol = {});
/// The least squares solution of least norm, the squared residuals of each column (none where a has no more rows than columns; NumPy gives
/// none of lower rank either), the rank and the singular values. b: (..., m) of a 1-d b, else (..., m, k).
Lstsq lstsq(const Operand& a, const Operand& b, const std::optional<Operand>& rtol = {});

// Norms (linalg_norm.cpp)

/// Of the last two axes. ord: fro, nuc, or 1, -1, 2, -2, inf, -inf; ValueError for others.
Tensor matrix_norm(const Operand& x, bool keepdims = false, MatrixNorm ord = MatrixNorm::fro);
Tensor matrix_norm(const Operand& x, bool keepdims, double ord);
/// Of all axes, or of some: any ord; 0 counts what is not 0. Its derivative at 0 is 0 for ord 2.
Tensor vector_norm(const Operand& x, const std::optional<Axes>& axes = {}, bool keepdims = false, double ord = 2);

// Products (linalg_product.cpp)

/// Along an axis of size 3.
Tensor cross(const Operand& a, const Operand& b, std::int64_t axis = -1);
/// The sum of conj(a) b along an axis, which counts from the end: both have it at the same place behind broadcasting.
Tensor vecdot(const Operand& a, const Operand& b, std::int64_t axis = -1);
Tensor kron(const Operand& a, const Operand& b);
/// The product of several matrices in the order that multiplies least; the first and the last may be 1-d.
Tensor multi_dot(std::span<const Tensor> matrices, std::source_location where = std::source_location::current());
Tensor multi_dot(std::initializer_list<Tensor> matrices, std::source_location where = std::source_location::current());
/// Of the last two axes (weft::trace and weft::diagonal: of the first two).
Tensor trace(const Operand& x, std::int64_t offset = 0);
Tensor diagonal(const Operand& x, std::int64_t offset = 0);
/// The exponential of square matrices by scaling, a Pade approximant of degree 13 and squaring (Higham 2005).
Tensor expm(const Operand& x);

extern const Operation cholesky_operation, lu_operation, solve_operation, inv_operation, solve_triangular_operation,
    det_operation, slogdet_operation, qr_operation, eigh_operation, eigvalsh_operation, eig_operation,
    eigvals_operation, svd_operation, svdvals_operation, pinv_operation, expm_operation, expm_frechet_operation;

}  // namespace weft::linalg
