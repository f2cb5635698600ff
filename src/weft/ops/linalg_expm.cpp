// The exponential of a matrix, and its derivative L(A, E) at A in the direction E, which is the upper right block of
// expm([[A, E], [0, A]]) (Najfeld & Havel 1995). L is linear in E, and its adjoint is L(A^T, .); with B = [[A, E], [0, A]], the derivative
// of L in A is the same block of L(B, [[dA, 0], [0, dA]]), so every order follows.
#include "weft/graph/node.h"
#include "weft/ops/declare.h"
#include "weft/ops/join.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/view.h"

namespace weft::linalg {
using namespace detail;
namespace {

Tensor frechet(const Tensor& a, const Tensor& direction, std::source_location where) {
    return make_node(expm_frechet_operation, {a, direction}, of_kind(Factorization::expm_frechet), where);
}

Tensor blocks(const Tensor& upper_left, const Tensor& upper_right, const Tensor& lower_right) {
    return concatenate(
        {concatenate({upper_left, upper_right}, -1), concatenate({zeros_like(lower_right), lower_right}, -1)}, -2);
}
/// The n x n block of x that starts at row and column.
Tensor block(const Tensor& x, std::int64_t row, std::int64_t column, std::int64_t n) {
    Shape start(x.ndim(), 0), length = x.shape();
    start[x.ndim() - 2] = row, start[x.ndim() - 1] = column;
    length[x.ndim() - 2] = n, length[x.ndim() - 1] = n;
    return slice(x, start, length);
}

Tensor expm_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    return frechet(input_of(result, 0), tangents[0], result.node()->where);
}

Tensor frechet_jvp(const Tensor& result, std::span<const Tensor> tangents) {
    Tensor a = input_of(result, 0), e = input_of(result, 1), of_e, of_a;
    if (tangents[1]) of_e = frechet(a, tangents[1], result.node()->where);
    if (!tangents[0]) return of_e;
    std::int64_t n = rows_of(a);
    Tensor zero = zeros_like(a);
    of_a = block(frechet(blocks(a, e, a), blocks(tangents[0], zero, tangents[0]), result.node()->where), 0, n, n);
    return of_e ? of_e + of_a : of_a;
}

Tensor frechet_transpose(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    Tensor a = input_of(result, 0), zero = zeros_like(a);
    if (i == 1) return frechet(matrix_transpose(a), cotangent, result.node()->where);
    std::int64_t n = rows_of(a);
    Tensor both = frechet(matrix_transpose(blocks(a, input_of(result, 1), a)), blocks(zero, cotangent, zero),
                          result.node()->where);
    return block(both, 0, 0, n) + block(both, n, n, n);
}

}  // namespace

const Operation expm_operation{
    .name = "expm",
    .family = Family::factorization,
    .doc = "The exponential of square matrices.",
    .numpy = "scipy.linalg.expm",
    .torch = "linalg.matrix_exp",
    .infer = infer_first,
    .jvp = expm_jvp,
    .domain = sample_domain,
    .samples = {{{{3, 3}}, [](auto x) { return expm(x[0]); }, "scipy.linalg.expm(x0)"},
                {{{2, 2, 2}}, [](auto x) { return expm(0.01 * x[0].astype(inexact(x[0].dtype()))); }, ""},
                {{{0, 0}}, [](auto x) { return expm(x[0]); }, ""}}};
const Operation expm_frechet_operation{.name = "expm_frechet",
                                       .family = Family::factorization,
                                       .arity = 2,
                                       .doc = "The derivative of expm in a direction.",
                                       .numpy = "scipy.linalg.expm_frechet",
                                       .infer = infer_first,
                                       .transpose = frechet_transpose,
                                       .jvp = frechet_jvp,
                                       .domain = sample_domain,
                                       .samples = {{{{3, 3}, {3, 3}}, [](auto x) {
                                                        DType dtype = inexact(x[0].dtype());
                                                        if (is_half(dtype))
                                                            throw DTypeError("expm_frechet: half types");
                                                        return frechet(x[0].astype(dtype), x[1].astype(dtype), {});
                                                    }}}};
WEFT_REGISTER(expm_operation);
WEFT_REGISTER(expm_frechet_operation);

Tensor expm(const Operand& x) {
    LineScope line(x.where);
    return make_node(expm_operation, {square_matrices(x, "expm")}, of_kind(Factorization::expm), x.where);
}

}  // namespace weft::linalg
