// The primitives of linear algebra: what takes a matrix apart, or solves with it, one node each. A node has one result, so what comes
// in several parts (Q and R; U, s and Vh) comes packed: the parts one behind the other along one last axis, each matrix column after
// column, which views take apart again. So a program computes a factorization once, however many parts of it are asked for and
// whatever derivatives need of it, and neither plans nor kernels know more than one result. Callers: ops/linalg_*.cpp, backends, the
// oracle.
#pragma once

#include "weft/graph/operation.h"
#include "weft/ops/declare.h"

namespace weft {

/// Inputs -> result, in sizes of the last axes. A is m x n (n x n), k = min(m, n) or the number of columns of b.
enum class Factorization : std::uint8_t {
    cholesky,  // A -> L (n, n); reads A's lower triangle
    lu,        // A -> n*n of L below the diagonal and U, n row exchanges (row i was exchanged with row number i)
    lu_solve,  // A (not read), its lu, b (n, k) -> x (n, k)
    det,       // A (not read), its lu -> 1
    slogdet,   // A (not read), its lu -> sign, log of the absolute value
    triangular_solve,  // A, b (n, k) -> x (n, k)
    qr,                // A -> Q (m, k), R (k, n); complete: (m, m), (m, n)
    eigh,              // A -> n values, ascending, vectors (n, n); reads A's lower triangle
    eigvalsh,          // A -> n values
    eig,               // A -> n values, vectors (n, n), complex
    eigvals,           // A -> n values, complex
    svd,               // A -> U (m, k), k values, descending, Vh (k, n); complete: (m, m), k, (n, n)
    svdvals,           // A -> k values
    pinv,              // A, a relative tolerance () -> (n, m)
    expm,              // A -> (n, n)
    expm_frechet       // A, E -> (n, n): the derivative of expm at A in the direction E
};

struct FactorizationAttributes {
    Factorization kind = Factorization::lu;
    bool lower = true;           // triangular_solve: which triangle of A is read
    bool transposed = false;     // lu_solve, triangular_solve: with A's transpose (of complex matrices too)
    bool unit_diagonal = false;  // triangular_solve: A's diagonal is taken to be 1, not read
    bool complete = false;       // qr, svd: square orthogonal factors
    template <class V>
    void members(V& visit) {
        visit("kind", kind), visit("lower", lower), visit("transposed", transposed);
        visit("unit_diagonal", unit_diagonal), visit("complete", complete);
    }
};

/// How many of input i's last axes are one matrix (2), packed parts (1) or a number (0); -1: the kernel does not read it.
int core_axes(Factorization kind, std::size_t input);
/// The same of the result.
int result_axes(Factorization kind);

namespace linalg::detail {

/// x as matrices of a type that has factorizations: bool and integers as float32. DTypeError for half types, ShapeError for fewer than
/// two axes and for matrix sizes that are not known yet.
Tensor matrices(const Operand& x, std::string_view operation);
/// The same of square ones.
Tensor square_matrices(const Operand& x, std::string_view operation);
/// One type for both. DTypeError for half types.
DType common_dtype(const Operand& a, const Operand& b, std::string_view operation);

std::int64_t rows_of(const Tensor& x);
std::int64_t columns_of(const Tensor& x);
/// All axes but the last `core`.
Shape batch_of(const Tensor& x, std::size_t core);
Tensor with_batch(const Tensor& x, const Shape& batch, std::size_t core);
/// The batches of a and b, broadcast; ShapeError that names both.
Shape common_batch(const Tensor& a, std::size_t core_a, const Tensor& b, std::size_t core_b, std::string_view operation,
                   std::source_location where);

/// A matrix (a row of numbers) of what is packed, from element `start` on; and parts packed again.
Tensor matrix_part(const Tensor& packed, std::int64_t start, std::int64_t rows, std::int64_t columns);
Tensor row_part(const Tensor& packed, std::int64_t start, std::int64_t count);
Tensor packed(const Tensor& matrix);
Tensor concatenated(std::initializer_list<Tensor> rows);

Tensor adjoint(const Tensor& x);    ///< the conjugate of the transpose
Tensor symmetric(const Tensor& x);  ///< (x + adjoint(x)) / 2
Tensor diagonal_of(const Tensor& x);
/// 1 / x, and 0 at 0.
Tensor reciprocal_or_zero(const Tensor& x);
// What solutions of a x = b share.
/// b as columns of a's rows, of this dtype: a vector (1-d) as one column. ShapeError if a has another number of equations.
Tensor right_side(const Tensor& a, const Operand& b, DType dtype, std::string_view operation,
                  std::source_location where);
/// db - da x (transposed: with da's transpose), where da or db may be null; null if both are.
Tensor moved_side(const Tensor& x, const Tensor& da, const Tensor& db, bool transposed);
/// The cotangent of a from that of b: -b' x^T, of the transposed equation -x b'^T.
Tensor matrix_cotangent(const Tensor& x, const Tensor& of_b, bool transposed);

AttributesHandle of_kind(Factorization kind);
/// A result that is as its first input is; one that is as its last is.
Meta infer_first(const Operation&, std::span<const Tensor> inputs, const Attributes*);
Meta infer_solution(const Operation&, std::span<const Tensor> inputs, const Attributes*);
const FactorizationAttributes& attributes_of(const Tensor& result);

}  // namespace linalg::detail

}  // namespace weft
