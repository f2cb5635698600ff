// Triangles: Cholesky's factors, and solving with them. The derivatives of a solution are those of linalg_solve.cpp.
#include "weft/graph/node.h"
#include "weft/ops/declare.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/view.h"

namespace weft::linalg {
using namespace detail;
namespace {

Tensor triangular(const Tensor& a, const Tensor& b, FactorizationAttributes how, std::source_location where) {
    Shape batch = common_batch(a, 2, b, 2, "solve_triangular", where);
    return make_node(solve_triangular_operation, {with_batch(a, batch, 2), with_batch(b, batch, 2)}, attributes(how),
                     where);
}

Tensor in_triangle(const Tensor& x, const FactorizationAttributes& how) {
    std::int64_t off = how.unit_diagonal ? 1 : 0;
    return how.lower ? tril(x, -off) : triu(x, off);
}
Tensor triangular_jvp(const Tensor& x, std::span<const Tensor> tangents) {
    const FactorizationAttributes& how = attributes_of(x);
    Tensor da = tangents[0] ? in_triangle(tangents[0], how) : Tensor();
    Tensor side = moved_side(x, da, tangents[1], how.transposed);
    return side ? triangular(input_of(x, 0), side, how, x.node()->where) : side;
}
Tensor triangular_transpose(const Tensor& x, std::size_t i, const Tensor& cotangent) {
    FactorizationAttributes how = attributes_of(x), turned = how;
    turned.transposed = !how.transposed;
    Tensor of_b = triangular(input_of(x, 0), cotangent, turned, x.node()->where);
    return i == 1 ? of_b : in_triangle(matrix_cotangent(x, of_b, how.transposed), how);
}

// With P = L^-1 dA L^-H: dL = L Phi(P), Phi the lower triangle with half of the diagonal (Giles 2008, 2.2.5 gives the reverse; Murray
// 2016 both).
Tensor cholesky_jvp(const Tensor& l, std::span<const Tensor> tangents) {
    FactorizationAttributes how{.kind = Factorization::triangular_solve};
    Tensor half = triangular(l, symmetric(tangents[0]), how, l.node()->where);
    Tensor both = triangular(l, adjoint(half), how, l.node()->where);
    Tensor i = expand_dims(iota(rows_of(l)), 1), j = expand_dims(iota(rows_of(l)), 0);
    Tensor phi = where(i > j, both, where(i == j, 0.5 * both, 0));
    return matmul(l, phi);
}

}  // namespace

const Operation solve_triangular_operation{
    .name = "solve_triangular",
    .family = Family::factorization,
    .arity = 2,
    .doc = "x with a x = b, reading one triangle of a.",
    .numpy = "scipy.linalg.solve_triangular",
    .torch = "linalg.solve_triangular",
    .infer = infer_solution,
    .transpose = triangular_transpose,
    .jvp = triangular_jvp,
    .domain = sample_domain,
    .samples = {{{{4, 4}, {4}},
                 [](auto x) { return solve_triangular(regular(x[0]), x[1]); },
                 "np.linalg.solve(np.triu(" WEFT_REGULAR(4, 4) "), x1 * np.float32(1))"},
                {{{2, 3, 3}, {3, 2}},
                 [](auto x) { return solve_triangular(regular(x[0]), x[1], true, true); },
                 "np.linalg.solve(np.tril(" WEFT_REGULAR(3, 3) ").swapaxes(-1, -2), x1 * np.float32(1))"},
                {{{3, 3}, {3, 2}},
                 [](auto x) { return solve_triangular(regular(x[0]), x[1], true, false, true); },
                 "np.linalg.solve(np.tril(x0, -1) + np.eye(3, dtype='float32'), x1 * np.float32(1))"}}};
const Operation cholesky_operation{
    .name = "cholesky",
    .family = Family::factorization,
    .doc = "L with L L^H = x, of a positive definite x.",
    .numpy = "linalg.cholesky",
    .torch = "linalg.cholesky",
    .infer = infer_first,
    .jvp = cholesky_jvp,
    .domain = sample_domain,
    .samples = {
        {{{4, 4}}, [](auto x) { return cholesky(positive(x[0])); }, "np.linalg.cholesky(" WEFT_POSITIVE(4) ")"},
        {{{2, 3, 3}},
         [](auto x) { return cholesky(positive(x[0]), true); },
         "np.linalg.cholesky(" WEFT_POSITIVE(3) ").conj().swapaxes(-1, -2)"},
        {{{0, 0}}, [](auto x) { return cholesky(positive(x[0])); }, "np.linalg.cholesky(" WEFT_POSITIVE(0) ")"}}};
WEFT_REGISTER(solve_triangular_operation);
WEFT_REGISTER(cholesky_operation);

Tensor cholesky(const Operand& x, bool upper) {
    LineScope line(x.where);
    Tensor a = square_matrices(x, "cholesky");
    // U is the adjoint of the L of the adjoint, whose lower triangle is x's upper one.
    Tensor l = make_node(cholesky_operation, {upper ? adjoint(a) : a}, of_kind(Factorization::cholesky), x.where);
    return upper ? adjoint(l) : l;
}

Tensor solve_triangular(const Operand& left, const Operand& right, bool lower, bool transposed, bool unit_diagonal) {
    LineScope line(left.where);
    DType dtype = common_dtype(left, right, "solve_triangular");
    Tensor a = square_matrices(left, "solve_triangular").astype(dtype, left.where);
    Tensor x = triangular(a, right_side(a, right, dtype, "solve_triangular", left.where),
                          {Factorization::triangular_solve, lower, transposed, unit_diagonal}, left.where);
    return right.as_tensor().ndim() == 1 ? squeeze(x, {-1}) : x;
}

}  // namespace weft::linalg
