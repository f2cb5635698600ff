// Systems of equations, inverses and determinants, all of one LU.
// With x = A^-1 b: dx = A^-1 (db - dA x), and back b' = A^-T x', A' = -b' x^T (Giles 2008, 2.3.1). A matrix's lu node stands beside the
// matrix itself: kernels read the lu, derivatives go to the matrix.
#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::linalg {

extern const Operation cofactors_operation;

using namespace detail;
namespace {

Meta infer_lu(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    std::int64_t n = rows_of(inputs[0]);
    Shape shape = batch_of(inputs[0], 2);
    shape.push_back(n * n + n);
    return {shape, inputs[0].dtype()};
}
Meta infer_cofactors(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[0].shape(), inputs[0].dtype()};
}
template <int numbers>
Meta infer_determinant(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    Shape shape = batch_of(inputs[0], 2);
    shape.push_back(numbers);
    return {shape, inputs[0].dtype()};
}

Tensor lu_of(const Tensor& a, std::source_location where) {
    return make_node(lu_operation, {stop_gradient(a)}, of_kind(Factorization::lu), where);
}

/// The node, of operands that are matrices of one dtype.
Tensor lu_solve(const Tensor& a, const Tensor& lu, const Tensor& b, bool transposed, std::source_location where,
                const Operation& operation = solve_operation) {
    Shape batch = common_batch(a, 2, b, 2, "solve", where);
    return make_node(operation, {with_batch(a, batch, 2), with_batch(lu, batch, 1), with_batch(b, batch, 2)},
                     attributes(FactorizationAttributes{.kind = Factorization::lu_solve, .transposed = transposed}),
                     where);
}

Tensor solve_jvp(const Tensor& x, std::span<const Tensor> tangents) {
    bool transposed = attributes_of(x).transposed;
    Tensor side = moved_side(x, tangents[0], tangents[2], transposed);
    return side ? lu_solve(input_of(x, 0), input_of(x, 1), side, transposed, x.node()->where) : side;
}
Tensor solve_transpose(const Tensor& x, std::size_t i, const Tensor& cotangent) {
    if (i == 1) return {};  // a constant: the derivative goes to the matrix
    bool transposed = attributes_of(x).transposed;
    Tensor of_b = lu_solve(input_of(x, 0), input_of(x, 1), cotangent, !transposed, x.node()->where);
    return i == 2 ? of_b : matrix_cotangent(x, of_b, transposed);
}

// tr(A^-1 dA) (Giles 2008, 2.2.4)
Tensor relative_change(const Tensor& result, const Tensor& da) {
    Tensor change = lu_solve(input_of(result, 0), input_of(result, 1), da, false, result.node()->where);
    return sum(diagonal_of(change), -1, true);
}

// The cofactors det(a) a^-T exist where the inverse does not: with a = U S V^H they are conj(U) P V^T det(U) det(V^H), where P_i is the
// product of all singular values but the i-th. So a determinant has a derivative everywhere. Cofactors themselves are differentiated
// as what they are of a regular matrix.
Tensor cofactors(const Tensor& a, std::source_location where) {
    auto [u, s, vh] = svd(Operand(stop_gradient(a), where));
    // A row for each singular value, with 1 in its own place.
    Tensor others =
        prod(weft::where(astype(eye(rows_of(a), -1, 0, s.dtype()), DType::bool_), 1, expand_dims(s, -2)), -1);
    Tensor signs = expand_dims(expand_dims(det(u) * det(vh), -1), -1);
    Tensor value = signs * matmul(conj(u) * expand_dims(others.astype(a.dtype()), -2), conj(vh));
    return make_node(cofactors_operation, std::initializer_list<Tensor>{value, a}, nullptr, where);
}
Tensor cofactors_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    if (!tangents[1]) return {};
    Tensor a = input_of(result, 1);
    Tensor change =
        matrix_transpose(lu_solve(a, lu_of(a, result.node()->where), tangents[1], false, result.node()->where));
    Tensor trace = expand_dims(sum(diagonal_of(change), -1, true), -1);
    return trace * result - matmul(result, change);
}
Tensor cofactors_of(const Tensor& result) { return cofactors(input_of(result, 0), result.node()->where); }

Tensor det_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    return tangents[0] ? sum(sum(cofactors_of(result) * tangents[0], -1), -1, true) : Tensor();
}
Tensor slogdet_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    if (!tangents[0]) return {};
    Tensor change = relative_change(result, tangents[0]);
    if (!is_complex(change.dtype())) return concatenated({zeros_like(change), change});
    // The logarithm's real part is that of the size, its imaginary part the sign's angle.
    Tensor size = real(change).astype(change.dtype());
    return concatenated({row_part(result, 0, 1) * (change - size), size});
}

// Back: factor A^-T.
Tensor scaled_inverse(const Tensor& result, const Tensor& factor) {
    Tensor a = input_of(result, 0), ones = eye(rows_of(a), -1, 0, a.dtype());
    return lu_solve(a, input_of(result, 1), expand_dims(factor, -1) * ones, true, result.node()->where);
}
Tensor det_transpose(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    return i == 0 ? expand_dims(cotangent, -1) * cofactors_of(result) : Tensor();
}
Tensor slogdet_transpose(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    if (i != 0) return {};
    Tensor of_size = row_part(cotangent, 1, 1);
    if (!is_complex(cotangent.dtype())) return scaled_inverse(result, of_size);
    Tensor of_sign = row_part(cotangent, 0, 1) * row_part(result, 0, 1);
    return scaled_inverse(result, of_sign + real(of_size - of_sign).astype(cotangent.dtype()));
}

Tensor inverse(const Tensor& a, std::source_location where) {
    return lu_solve(a, lu_of(a, where), eye(rows_of(a), -1, 0, a.dtype()), false, where, inv_operation);
}

Operation solving(std::string_view name, std::string_view doc, std::string_view known_as, std::vector<Sample> samples) {
    return {.name = name,
            .family = Family::factorization,
            .arity = 3,
            .doc = doc,
            .numpy = known_as,
            .torch = known_as,
            .infer = infer_solution,
            .transpose = solve_transpose,
            .jvp = solve_jvp,
            .domain = sample_domain,
            .samples = std::move(samples)};
}

}  // namespace

const Operation cofactors_operation{
    .name = "cofactors",
    .family = Family::factorization,
    .arity = 2,
    .doc = "det(a) a^-T, of singular matrices too: what the derivative of det is made of.",
    .infer = infer_cofactors,
    .jvp = cofactors_jvp,
    .alias = true,
    .domain = sample_domain,
    .samples = {{{{3, 3}},
                 [](auto x) {
                     Tensor a = regular(x[0]);
                     return cofactors(a, {});
                 },
                 "np.linalg.det(" WEFT_REGULAR(3, 3) ") * np.linalg.inv(" WEFT_REGULAR(3, 3) ").T"}}};
const Operation lu_operation{.name = "lu_factor",
                             .family = Family::factorization,
                             .doc = "L and U with row exchanges, packed: what solving and determinants share.",
                             .torch = "linalg.lu_factor",
                             .infer = infer_lu,
                             .differentiable = false,
                             .domain = sample_domain,
                             .samples = {{{{4, 4}}, [](auto x) { return lu_of(regular(x[0]), {}); }}}};
const Operation solve_operation = solving("solve", "x with a x = b.", "linalg.solve",
                                          {{{{4, 4}, {4}},
                                            [](auto x) { return solve(regular(x[0]), x[1]); },
                                            "np.linalg.solve(" WEFT_REGULAR(4, 4) ", x1 * np.float32(1))"},
                                           {{{2, 1, 3, 3}, {5, 3, 2}},
                                            [](auto x) { return solve(regular(x[0]), x[1]); },
                                            "np.linalg.solve(" WEFT_REGULAR(3, 3) ", x1 * np.float32(1))"},
                                           {{{0, 0}, {0, 2}},
                                            [](auto x) { return solve(regular(x[0]), x[1]); },
                                            "np.linalg.solve(" WEFT_REGULAR(0, 0) ", x1 * np.float32(1))"}});
const Operation inv_operation =
    solving("inv", "The inverse.", "linalg.inv",
            {{{{3, 3}}, [](auto x) { return inv(regular(x[0])); }, "np.linalg.inv(" WEFT_REGULAR(3, 3) ")"}});
const Operation det_operation{
    .name = "det",
    .family = Family::factorization,
    .arity = 2,
    .doc = "The determinant.",
    .numpy = "linalg.det",
    .torch = "linalg.det",
    .infer = infer_determinant<1>,
    .transpose = det_transpose,
    .jvp = det_jvp,
    .domain = sample_domain,
    .samples = {{{{3, 3}}, [](auto x) { return det(regular(x[0])); }, "np.linalg.det(" WEFT_REGULAR(3, 3) ")"},
                {{{2, 0, 0}}, [](auto x) { return det(regular(x[0])); }, "np.linalg.det(" WEFT_REGULAR(0, 0) ")"},
                {{{2, 2, 2}}, [](auto x) { return det(regular(x[0])); }, "np.linalg.det(" WEFT_REGULAR(2, 2) ")"}}};
const Operation slogdet_operation{.name = "slogdet",
                                  .family = Family::factorization,
                                  .arity = 2,
                                  .doc = "The determinant's sign and the logarithm of its absolute value.",
                                  .numpy = "linalg.slogdet",
                                  .torch = "linalg.slogdet",
                                  .infer = infer_determinant<2>,
                                  .transpose = slogdet_transpose,
                                  .jvp = slogdet_jvp,
                                  .domain = sample_domain,
                                  .samples = {{{{3, 3}},
                                               [](auto x) { return slogdet(regular(x[0])).logabsdet; },
                                               "np.linalg.slogdet(" WEFT_REGULAR(3, 3) ")[1]"},
                                              {{{2, 3, 3}},
                                               [](auto x) { return slogdet(-regular(x[0])).sign; },
                                               "np.linalg.slogdet(-" WEFT_REGULAR(3, 3) ")[0]"}}};
static const Operation power_record =
    composite("matrix_power", "A product of a matrix with itself.", "linalg.matrix_power", "linalg.matrix_power",
              {{{{3, 3}}, [](auto x) { return matrix_power(x[0], 3); }, "np.linalg.matrix_power(x0, 3)"},
               {{{3, 3}},
                [](auto x) { return matrix_power(0.1 * regular(x[0]), 5); },
                "np.linalg.matrix_power(0.1 * " WEFT_REGULAR(3, 3) ", 5)"},
               {{{3, 3}},
                [](auto x) { return matrix_power(regular(x[0]), -2); },
                "np.linalg.matrix_power(" WEFT_REGULAR(3, 3) ", -2)"}});
WEFT_REGISTER(lu_operation);
WEFT_REGISTER(solve_operation);
WEFT_REGISTER(det_operation);
WEFT_REGISTER(slogdet_operation);
WEFT_REGISTER(inv_operation);
WEFT_REGISTER(power_record);

Tensor solve(const Operand& left, const Operand& right) {
    LineScope line(left.where);
    DType dtype = common_dtype(left, right, "solve");
    Tensor a = square_matrices(left, "solve").astype(dtype, left.where);
    Tensor b = right_side(a, right, dtype, "solve", left.where);
    Tensor x = lu_solve(a, lu_of(a, left.where), b, false, left.where);
    return right.as_tensor().ndim() == 1 ? squeeze(x, {-1}) : x;
}

Tensor inv(const Operand& x) {
    LineScope line(x.where);
    return inverse(square_matrices(x, "inv"), x.where);
}

Tensor det(const Operand& x) {
    LineScope line(x.where);
    Tensor a = square_matrices(x, "det");
    return squeeze(make_node(det_operation, {a, lu_of(a, x.where)}, of_kind(Factorization::det), x.where), {-1});
}

Slogdet slogdet(const Operand& x) {
    LineScope line(x.where);
    Tensor a = square_matrices(x, "slogdet");
    Tensor both = make_node(slogdet_operation, {a, lu_of(a, x.where)}, of_kind(Factorization::slogdet), x.where);
    Tensor logarithm = squeeze(row_part(both, 1, 1), {-1});
    return {squeeze(row_part(both, 0, 1), {-1}), is_complex(a.dtype()) ? real(logarithm) : logarithm};
}

Tensor matrix_power(const Operand& x, std::int64_t n) {
    LineScope line(x.where);
    Tensor a = square_matrices(x, "matrix_power"), given = x.as_tensor();
    if (n >= 0 && !is_inexact(given.dtype())) a = given;  // products of whole numbers are whole
    if (n == 0) return broadcast_to(eye(rows_of(a), -1, 0, a.dtype()), a.shape());
    Tensor square = n < 0 ? inverse(a, x.where) : a, result;
    for (auto rest = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);;
         square = matmul(square, square)) {
        if (rest & 1) result = result ? matmul(result, square) : square;
        if ((rest >>= 1) == 0) return result;
    }
}

}  // namespace weft::linalg
