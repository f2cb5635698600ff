// Singular values, and what is made of them. With P = U^H dA V: ds = Re diag(P), F = 1 / (s_j^2 - s_i^2) and 0 where the two are equal,
// dU = U (F o (P S + S P^H) + i Im diag(P) S^-1) + (I - U U^H) dA V S^-1, dV = V (F o (S P + P^H S)) + (I - V V^H) dA^H U S^-1 (Giles
// 2008, 3.2; Townsend 2016; of complex matrices Wan & Zhang 2019).
#include "weft/graph/node.h"
#include "weft/ops/declare.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::linalg {
using namespace detail;
namespace {

/// The sizes of what an svd node holds.
struct SvdSizes {
    std::int64_t m, n, k, left, right;  // U is (m, left), Vh is (right, n)
    SvdSizes(const Tensor& a, bool complete)
        : m(rows_of(a)), n(columns_of(a)), k(std::min(m, n)), left(complete ? m : k), right(complete ? n : k) {}
    Svd parts(const Tensor& result) const {
        return {matrix_part(result, 0, m, left), row_part(result, m * left, k),
                matrix_part(result, m * left + k, right, n)};
    }
};

Meta infer_svd(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    SvdSizes sizes(inputs[0], static_cast<const AttributesOf<FactorizationAttributes>&>(*attributes).value.complete);
    Shape shape = batch_of(inputs[0], 2);
    shape.push_back(sizes.m * sizes.left + sizes.k + sizes.right * sizes.n);
    return {shape, inputs[0].dtype()};
}
Meta infer_svdvals(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    Shape shape = batch_of(inputs[0], 2);
    shape.push_back(std::min(rows_of(inputs[0]), columns_of(inputs[0])));
    return {shape, inputs[0].dtype()};
}
Meta infer_pinv(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    Shape shape = batch_of(inputs[0], 2);
    shape.push_back(columns_of(inputs[0])), shape.push_back(rows_of(inputs[0]));
    return {shape, inputs[0].dtype()};
}

Tensor svd_node(const Tensor& a, bool complete, std::source_location where) {
    return make_node(svd_operation, {a},
                     attributes(FactorizationAttributes{.kind = Factorization::svd, .complete = complete}), where);
}

// What lies outside of the space of the columns of u.
Tensor outside(const Tensor& u, const Tensor& x) { return x - matmul(u, matmul(adjoint(u), x)); }

Tensor svd_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    Tensor a = input_of(result, 0), da = tangents[0];
    SvdSizes sizes(a, attributes_of(result).complete);
    if (sizes.left > sizes.k || sizes.right > sizes.k)
        throw NotDifferentiable(text("svd: the further columns that full matrices of ", a.shape(),
                                     " have are without a derivative; take full_matrices=false",
                                     place(result.node()->where)));
    auto [u, s, vt] = sizes.parts(result);
    Tensor v = adjoint(vt), p = matmul(adjoint(u), matmul(da, v)), pt = adjoint(p);
    Tensor row = expand_dims(s, -2), column = expand_dims(s, -1);
    Tensor f = reciprocal_or_zero((row - column) * (row + column));
    Tensor du = matmul(u, f * (p * row + column * pt)), dv = matmul(v, f * (column * p + pt * row));
    if (sizes.m > sizes.k) du = du + outside(u, matmul(da, v)) * reciprocal_or_zero(row);
    if (sizes.n > sizes.k) dv = dv + outside(v, matmul(adjoint(da), u)) * reciprocal_or_zero(row);
    if (!is_complex(p.dtype())) return concatenated({packed(du), diagonal_of(p), packed(matrix_transpose(dv))});
    // A phase that u and v share is free: all of its change is u's.
    du = du + u * (0.5 * expand_dims(diagonal_of(p - pt), -2) * reciprocal_or_zero(row));
    return concatenated({packed(du), real(diagonal_of(p)).astype(p.dtype()), packed(adjoint(dv))});
}

Tensor svdvals_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    Tensor a = input_of(result, 0);
    Svd found = SvdSizes(a, false).parts(svd_node(a, false, result.node()->where));
    Tensor moved = matmul(tangents[0], adjoint(found.vh));
    if (!is_complex(a.dtype())) return sum(found.u * moved, -2);
    return real(sum(conj(found.u) * moved, -2)).astype(a.dtype());
}

// Where the rank is constant: dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P (Golub & Pereyra 1973, 4.12). The tolerance
// decides the rank alone.
Tensor pinv_jvp(const Tensor& p, std::span<const Tensor> tangents) {
    if (!tangents[0]) return {};
    Tensor a = input_of(p, 0), da = tangents[0], dah = adjoint(da), ph = adjoint(p);
    Tensor left = matmul(p, matmul(ph, dah)), right = matmul(matmul(dah, ph), p);
    return left - matmul(matmul(left, a), p) + right - matmul(p, matmul(a, right)) - matmul(p, matmul(da, p));
}

Tensor tolerance(const Tensor& a, const std::optional<Operand>& rtol, std::string_view operation,
                 std::source_location where) {
    DType dtype = real_of(a.dtype());
    if (!rtol)
        return constant(
            static_cast<double>(std::max(rows_of(a), columns_of(a))) * (dtype == DType::float64 ? 0x1p-52 : 0x1p-23),
            dtype);
    Tensor given = rtol->as(dtype);
    if (is_complex(given.dtype()))
        throw DTypeError(text(operation, ": rtol must be real, not ", given.dtype(), place(where)));
    return given.astype(dtype, where);
}

Tensor small_product(const Svd& f) { return matmul(f.u * expand_dims(f.s, -2), f.vh); }
// Of distinct singular values, so that vectors have a derivative that differences can measure.
Tensor uneven(const Tensor& x) {
    std::int64_t m = rows_of(x), n = columns_of(x);
    Tensor i = expand_dims(iota(m), 1), j = expand_dims(iota(n), 0);
    return x + where(i == j, 10 * (1 + j).astype(DType::float32), 0);
}
#define WEFT_UNEVEN(m, n) \
    "(x0 + np.eye(" #m ", " #n ", dtype='float32') * (10 * np.arange(1, 1 + " #n ", dtype='float32')))"

}  // namespace

const Operation svd_operation{
    .name = "svd",
    .family = Family::factorization,
    .doc = "Singular values and vectors.",
    .numpy = "linalg.svd",
    .torch = "linalg.svd",
    .infer = infer_svd,
    .jvp = svd_jvp,
    .domain = sample_domain,
    .samples = {
        {{{4, 3}}, [](auto x) { return small_product(svd(uneven(x[0]), false)); }, WEFT_UNEVEN(4, 3)},
        {{{2, 2, 4}},
         [](auto x) { return abs(svd(uneven(x[0]), false).vh); },
         "np.abs(np.linalg.svd(" WEFT_UNEVEN(2, 4) ", False)[2])"},
        {{{3, 3}}, [](auto x) { return abs(svd(uneven(x[0])).u); }, "np.abs(np.linalg.svd(" WEFT_UNEVEN(3, 3) ")[0])"},
        {{{2, 4, 3}},
         [](auto x) { return matmul(adjoint(svd(x[0].astype(inexact(x[0].dtype())), false).u), svd(x[0], false).u); },
         ""}}};
const Operation svdvals_operation{
    .name = "svdvals",
    .family = Family::factorization,
    .doc = "Singular values, descending.",
    .numpy = "linalg.svdvals",
    .torch = "linalg.svdvals",
    .infer = infer_svdvals,
    .jvp = svdvals_jvp,
    .domain = sample_domain,
    .samples = {{{{4, 3}}, [](auto x) { return svdvals(uneven(x[0])); }, "np.linalg.svd(" WEFT_UNEVEN(4, 3) ")[1]"},
                {{{2, 2, 5}}, [](auto x) { return svdvals(uneven(x[0])); }, "np.linalg.svd(" WEFT_UNEVEN(2, 5) ")[1]"},
                {{{0, 3}}, [](auto x) { return svdvals(uneven(x[0])); }, "np.linalg.svd(" WEFT_UNEVEN(0, 3) ")[1]"}}};
const Operation pinv_operation{
    .name = "pinv",
    .family = Family::factorization,
    .arity = 2,
    .doc = "The pseudo-inverse.",
    .numpy = "linalg.pinv",
    .torch = "linalg.pinv",
    .infer = infer_pinv,
    .jvp = pinv_jvp,
    .domain = sample_domain,
    .samples = {{{{4, 3}}, [](auto x) { return pinv(uneven(x[0])); }, "np.linalg.pinv(" WEFT_UNEVEN(4, 3) ")"},
                {{{2, 2, 3}}, [](auto x) { return pinv(uneven(x[0])); }, "np.linalg.pinv(" WEFT_UNEVEN(2, 3) ")"},
                {{{3, 0}}, [](auto x) { return pinv(uneven(x[0])); }, "np.linalg.pinv(" WEFT_UNEVEN(3, 0) ")"}}};
static const Operation rank_record = composite(
    "matrix_rank", "How many singular values are not 0.", "linalg.matrix_rank", "linalg.matrix_rank",
    {{{{4, 3}}, [](auto x) { return matrix_rank(uneven(x[0])); }, "np.linalg.matrix_rank(" WEFT_UNEVEN(4, 3) ")"},
     {{{3}},
      [](auto x) { return matrix_rank(outer(x[0], x[0]), 1e-3); },
      "np.linalg.matrix_rank(np.outer(x0, x0), 1e-3)"}});
static const Operation lstsq_record = composite("lstsq", "Least squares.", "linalg.lstsq", "linalg.lstsq",
                                                {{{{4, 3}, {4, 2}},
                                                  [](auto x) { return lstsq(uneven(x[0]), x[1]).x; },
                                                  "np.linalg.lstsq(" WEFT_UNEVEN(4, 3) ", x1 * np.float32(1))[0]"},
                                                 {{{4, 3}, {4, 2}},
                                                  [](auto x) { return lstsq(uneven(x[0]), x[1]).residuals; },
                                                  "np.linalg.lstsq(" WEFT_UNEVEN(4, 3) ", x1 * np.float32(1))[1]"},
                                                 {{{2, 3}, {2}},
                                                  [](auto x) { return lstsq(uneven(x[0]), x[1]).x; },
                                                  "np.linalg.lstsq(" WEFT_UNEVEN(2, 3) ", x1 * np.float32(1))[0]"}});
WEFT_REGISTER(svd_operation);
WEFT_REGISTER(svdvals_operation);
WEFT_REGISTER(pinv_operation);
WEFT_REGISTER(rank_record);
WEFT_REGISTER(lstsq_record);

Svd svd(const Operand& x, bool full_matrices) {
    LineScope line(x.where);
    Tensor a = matrices(x, "svd");
    bool complete = full_matrices && rows_of(a) != columns_of(a);
    Svd found = SvdSizes(a, complete).parts(svd_node(a, complete, x.where));
    return {found.u, is_complex(a.dtype()) ? real(found.s) : found.s, found.vh};
}

Tensor svdvals(const Operand& x) {
    LineScope line(x.where);
    Tensor a = matrices(x, "svdvals");
    Tensor s = make_node(svdvals_operation, {a}, of_kind(Factorization::svdvals), x.where);
    return is_complex(a.dtype()) ? real(s) : s;
}

Tensor pinv(const Operand& x, const std::optional<Operand>& rtol) {
    LineScope line(x.where);
    Tensor a = matrices(x, "pinv"), cut = tolerance(a, rtol, "pinv", x.where).astype(a.dtype());
    Shape batch = common_batch(a, 2, cut, 0, "pinv", x.where);
    return make_node(pinv_operation, {with_batch(a, batch, 2), with_batch(cut, batch, 0)}, of_kind(Factorization::pinv),
                     x.where);
}

Tensor matrix_rank(const Operand& x, const std::optional<Operand>& rtol) {
    LineScope line(x.where);
    if (Tensor flat = x.as_tensor(); flat.ndim() < 2)  // of a vector, as NumPy has it: whether it is another one than 0
        return astype(any(not_equal(flat, 0)), DType::int64);
    Tensor a = matrices(x, "matrix_rank"), s = svdvals(Operand(a, x.where));
    if (std::min(rows_of(a), columns_of(a)) == 0) return zeros(batch_of(a, 2), DType::int64);
    Tensor cut = tolerance(a, rtol, "matrix_rank", x.where);
    return sum(s > max(s, -1, true) * expand_dims(cut, -1), -1);
}

Lstsq lstsq(const Operand& left, const Operand& right, const std::optional<Operand>& rtol) {
    LineScope line(left.where);
    DType dtype = common_dtype(left, right, "lstsq");
    Tensor a = matrices(left, "lstsq").astype(dtype, left.where), b = right.as_tensor().astype(dtype, left.where);
    bool vector = b.ndim() == 1;
    if (b.ndim() == 0 || !may_equal(b.shape()[vector ? 0 : b.ndim() - 2], rows_of(a)))
        throw ShapeError(text("lstsq: shapes ", a.shape(), " and ", b.shape(), " do not fit: b must have ", rows_of(a),
                              " rows, as a", place(left.where)));
    Operand placed(a, left.where);
    Tensor columns = vector ? expand_dims(b, 1) : b, x = matmul(pinv(placed, rtol), columns);
    Tensor rest = columns - matmul(a, x), size = is_complex(dtype) ? abs(rest) : rest;
    Tensor residuals = sum(square(size), -2);
    if (rows_of(a) <= columns_of(a))
        residuals = zeros({0}, residuals.dtype());  // nothing is left over: none, as NumPy has it
    return {vector ? squeeze(x, {-1}) : x, residuals, matrix_rank(placed, rtol), svdvals(placed)};
}

}  // namespace weft::linalg
