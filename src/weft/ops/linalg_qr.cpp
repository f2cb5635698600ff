// QR. With dA1 and R1 the first k columns of dA and R, X = dA1 R1^-1 and W = Q^H X: Q^H dQ = L - L^H + i Im diag(W), L the part of W
// below its diagonal; dQ = Q (Q^H dQ - W) + X; dR = Q^H dA - Q^H dQ R (Seeger, Hetzel, Dai & Lawrence 2017; wide matrices: Roberts & Roberts 2020).
#include "weft/graph/node.h"
#include "weft/ops/declare.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/view.h"

namespace weft::linalg {
using namespace detail;
namespace {

/// The sizes of what a qr node holds.
struct QrSizes {
    std::int64_t m, n, inner;  // Q is (m, inner), R is (inner, n)
    QrSizes(const Tensor& a, bool complete) : m(rows_of(a)), n(columns_of(a)), inner(complete ? m : std::min(m, n)) {}
    Tensor q(const Tensor& result) const { return matrix_part(result, 0, m, inner); }
    Tensor r(const Tensor& result) const { return matrix_part(result, m * inner, inner, n); }
};

Meta infer_qr(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    QrSizes sizes(inputs[0], static_cast<const AttributesOf<FactorizationAttributes>&>(*attributes).value.complete);
    Shape shape = batch_of(inputs[0], 2);
    shape.push_back(sizes.m * sizes.inner + sizes.inner * sizes.n);
    return {shape, inputs[0].dtype()};
}

Tensor first_columns(const Tensor& x, std::int64_t count) {
    Shape start(x.ndim(), 0), length = x.shape();
    length[x.ndim() - 1] = count;
    return slice(x, start, length);
}

Tensor in_diagonal(const Tensor& x) { return tril(triu(x, 0), 0); }

Tensor qr_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    Tensor a = input_of(result, 0), da = tangents[0];
    QrSizes sizes(a, attributes_of(result).complete);
    if (sizes.inner > sizes.n)
        throw NotDifferentiable(text("qr: the further columns of a complete Q of ", a.shape(),
                                     " have no derivative; take the reduced one", place(result.node()->where)));
    Tensor q = sizes.q(result), r = sizes.r(result), qh = adjoint(q);
    Operand r1(first_columns(r, sizes.inner), result.node()->where);
    Tensor x = matrix_transpose(
        solve_triangular(r1, matrix_transpose(first_columns(da, sizes.inner)), false, /*transposed=*/true));
    Tensor w = matmul(qh, x), below = tril(w, -1), turn = below - adjoint(below);
    if (is_complex(w.dtype())) turn = turn + in_diagonal(0.5 * (w - adjoint(w)));  // R's diagonal stays real
    Tensor dq = matmul(q, turn - w) + x;
    return concatenated({packed(dq), packed(triu(matmul(qh, da) - matmul(turn, r)))});
}

}  // namespace

const Operation qr_operation{
    .name = "qr",
    .family = Family::factorization,
    .doc = "Q with orthonormal columns times R, an upper triangle.",
    .numpy = "linalg.qr",
    .torch = "linalg.qr",
    .infer = infer_qr,
    .jvp = qr_jvp,
    .domain = sample_domain,
    .samples = {{{{4, 3}}, [](auto x) { return qr(regular(x[0])).q; }, "np.linalg.qr(" WEFT_REGULAR(4, 3) ")[0]"},
                {{{2, 3, 3}}, [](auto x) { return qr(regular(x[0])).r; }, "np.linalg.qr(" WEFT_REGULAR(3, 3) ")[1]"},
                {{{3, 5}},
                 [](auto x) { return matmul(qr(regular(x[0])).q, qr(regular(x[0])).r); },
                 "np.matmul(*np.linalg.qr(" WEFT_REGULAR(3, 5) "))"},
                {{{2, 3}}, [](auto x) { return qr(regular(x[0])).r; }, "np.linalg.qr(" WEFT_REGULAR(2, 3) ")[1]"},
                {{{3, 0}}, [](auto x) { return qr(regular(x[0])).q; }, "np.linalg.qr(" WEFT_REGULAR(3, 0) ")[0]"}}};
WEFT_REGISTER(qr_operation);

Qr qr(const Operand& x, QrMode mode) {
    LineScope line(x.where);
    Tensor a = matrices(x, "qr");
    bool complete = mode == QrMode::complete && rows_of(a) > columns_of(a);
    QrSizes sizes(a, complete);
    Tensor both =
        make_node(qr_operation, {a},
                  attributes(FactorizationAttributes{.kind = Factorization::qr, .complete = complete}), x.where);
    return {sizes.q(both), sizes.r(both)};
}

}  // namespace weft::linalg
