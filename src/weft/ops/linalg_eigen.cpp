// Eigenvalues. Of Hermitian matrices, with P = V^H dA V: dw = diag(P), dV = V (F o P) where F is 1 / (w_j - w_i) and 0 where the two are
// equal (Giles 2008, 3.1).
#include "weft/graph/node.h"
#include "weft/ops/declare.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::linalg {
using namespace detail;
namespace {

DType complex_of(DType dtype) { return promote(dtype, DType::complex64); }

template <bool vectors, bool hermitian>
Meta infer_eigen(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    std::int64_t n = rows_of(inputs[0]);
    Shape shape = batch_of(inputs[0], 2);
    shape.push_back(vectors ? n + n * n : n);
    return {shape, hermitian ? inputs[0].dtype() : complex_of(inputs[0].dtype())};
}

Tensor node_of(const Operation& operation, Factorization kind, const Tensor& a, std::source_location where) {
    return make_node(operation, {a}, of_kind(kind), where);
}

Eigen parts(const Tensor& both, std::int64_t n) { return {row_part(both, 0, n), matrix_part(both, n, n, n)}; }

Tensor eigh_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    auto [w, v] = parts(result, rows_of(tangents[0]));
    Tensor p = matmul(adjoint(v), matmul(symmetric(tangents[0]), v));
    Tensor f = reciprocal_or_zero(expand_dims(w, -2) - expand_dims(w, -1));
    return concatenated({diagonal_of(p), packed(matmul(v, f * p))});
}

Tensor eigvalsh_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    Tensor a = input_of(result, 0);
    Tensor v = parts(node_of(eigh_operation, Factorization::eigh, a, result.node()->where), rows_of(a)).vectors;
    return sum((is_complex(v.dtype()) ? conj(v) : v) * matmul(symmetric(tangents[0]), v), -2);
}

// P = V^-1 dA V: dw = diag(P), and dV = V (F o P), less what would change the length of a column (Giles 2008, 3.1; Boeddeker et al. 2017).
// Phases of columns are LAPACK's choice, and have no derivative.
Tensor in_eigenbasis(const Tensor& v, const Tensor& da) { return solve(v, matmul(da.astype(v.dtype()), v)); }

Tensor eig_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    auto [w, v] = parts(result, rows_of(tangents[0]));
    Tensor p = in_eigenbasis(v, tangents[0]);
    Tensor moved = matmul(v, reciprocal_or_zero(expand_dims(w, -2) - expand_dims(w, -1)) * p);
    Tensor longer = real(diagonal_of(matmul(adjoint(v), moved))).astype(v.dtype());
    return concatenated({diagonal_of(p), packed(moved - v * expand_dims(longer, -2))});
}

Tensor eigvals_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    Tensor a = input_of(result, 0);
    Tensor v = parts(node_of(eig_operation, Factorization::eig, a, result.node()->where), rows_of(a)).vectors;
    return diagonal_of(in_eigenbasis(v, tangents[0]));
}

// What neither the order nor the signs of vectors change.
Tensor rebuilt(const Eigen& e) { return matmul(e.vectors * expand_dims(e.values, -2), adjoint(e.vectors)); }
// Of distinct diagonal elements far apart, so that vectors have a derivative that differences can measure.
Tensor spread(const Tensor& x) {
    Tensor i = iota(rows_of(x)), y = regular(x);
    return y + adjoint(y) +
           where(expand_dims(i, 0) == expand_dims(i, 1), 20 * expand_dims(i, 0).astype(DType::float32), 0);
}
#define WEFT_SPREAD(n) \
    "(lambda y: y + y.conj().swapaxes(-1, -2) + np.diag(20 * np.arange(" #n ", dtype='float32')))" WEFT_REGULAR(n, n)

}  // namespace

const Operation eigh_operation{
    .name = "eigh",
    .family = Family::factorization,
    .doc = "Eigenvalues and eigenvectors of Hermitian matrices.",
    .numpy = "linalg.eigh",
    .torch = "linalg.eigh",
    .infer = infer_eigen<true, true>,
    .jvp = eigh_jvp,
    .domain = sample_domain,
    .samples = {
        {{{4, 4}}, [](auto x) { return eigh(spread(x[0])).values; }, "np.linalg.eigh(" WEFT_SPREAD(4) ")[0]"},
        {{{2, 3, 3}}, [](auto x) { return rebuilt(eigh(spread(x[0]))); }, WEFT_SPREAD(3)},
        {{{3, 3}},
         [](auto x) { return square(abs(eigh(spread(x[0])).vectors)); },
         "np.abs(np.linalg.eigh(" WEFT_SPREAD(3) ")[1]) ** 2"},
        {{{0, 0}}, [](auto x) { return eigh(regular(x[0])).vectors; }, "np.linalg.eigh(" WEFT_REGULAR(0, 0) ")[1]"}}};
const Operation eigvalsh_operation{
    .name = "eigvalsh",
    .family = Family::factorization,
    .doc = "Eigenvalues of Hermitian matrices, ascending.",
    .numpy = "linalg.eigvalsh",
    .torch = "linalg.eigvalsh",
    .infer = infer_eigen<false, true>,
    .jvp = eigvalsh_jvp,
    .domain = sample_domain,
    .samples = {
        {{{4, 4}}, [](auto x) { return eigvalsh(spread(x[0])); }, "np.linalg.eigvalsh(" WEFT_SPREAD(4) ")"},
        {{{2, 3, 3}}, [](auto x) { return eigvalsh(spread(x[0])); }, "np.linalg.eigvalsh(" WEFT_SPREAD(3) ")"}}};
const Operation eig_operation{.name = "eig",
                              .family = Family::factorization,
                              .doc = "Complex eigenvalues and eigenvectors of square matrices.",
                              .numpy = "linalg.eig",
                              .torch = "linalg.eig",
                              .infer = infer_eigen<true, false>,
                              .jvp = eig_jvp,
                              .domain = sample_domain,
                              .samples = {{{{4, 4}},
                                           [](auto x) {
                                               Tensor a = 0.1 * regular(x[0]);
                                               Eigen e = eig(a);
                                               return matmul(a, e.vectors) - e.vectors * expand_dims(e.values, -2);
                                           },
                                           "0j * x0"},
                                          {{{2, 3, 3}},
                                           [](auto x) { return sum(square(abs(eig(regular(x[0])).vectors)), -2); },
                                           "np.sum(np.abs(np.linalg.eig(" WEFT_REGULAR(3, 3) ")[1]) ** 2, -2)"}}};
const Operation eigvals_operation{.name = "eigvals",
                                  .family = Family::factorization,
                                  .doc = "Complex eigenvalues of square matrices.",
                                  .numpy = "linalg.eigvals",
                                  .torch = "linalg.eigvals",
                                  .infer = infer_eigen<false, false>,
                                  .jvp = eigvals_jvp,
                                  .domain = sample_domain,
                                  .samples = {{{{4, 4}},
                                               [](auto x) { return prod(eigvals(regular(x[0])), -1); },
                                               "np.linalg.det(" WEFT_REGULAR(4, 4) ") + 0j"},
                                              {{{2, 3, 3}},
                                               [](auto x) { return sum(square(eigvals(regular(x[0]))), -1); },
                                               "np.sum(np.linalg.eigvals(" WEFT_REGULAR(3, 3) ") ** 2, -1) + 0j"}}};
WEFT_REGISTER(eigh_operation);
WEFT_REGISTER(eigvalsh_operation);
WEFT_REGISTER(eig_operation);
WEFT_REGISTER(eigvals_operation);

Eigen eigh(const Operand& x) {
    LineScope line(x.where);
    Tensor a = square_matrices(x, "eigh");
    Eigen found = parts(node_of(eigh_operation, Factorization::eigh, a, x.where), rows_of(a));
    return {is_complex(a.dtype()) ? real(found.values) : found.values, found.vectors};
}

Tensor eigvalsh(const Operand& x) {
    LineScope line(x.where);
    Tensor a = square_matrices(x, "eigvalsh");
    Tensor values = node_of(eigvalsh_operation, Factorization::eigvalsh, a, x.where);
    return is_complex(a.dtype()) ? real(values) : values;
}

Eigen eig(const Operand& x) {
    LineScope line(x.where);
    Tensor a = square_matrices(x, "eig");
    return parts(node_of(eig_operation, Factorization::eig, a, x.where), rows_of(a));
}

Tensor eigvals(const Operand& x) {
    LineScope line(x.where);
    return node_of(eigvals_operation, Factorization::eigvals, square_matrices(x, "eigvals"), x.where);
}

}  // namespace weft::linalg
