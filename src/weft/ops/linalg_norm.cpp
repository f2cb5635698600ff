#include "weft/graph/node.h"
#include "weft/ops/declare.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::linalg {
using namespace detail;
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor floating(const Operand& x) {
    Tensor tensor = x.as_tensor();
    return tensor.astype(inexact(tensor.dtype()), x.where);
}

// Of |x|: sqrt(sum |x|^2), with a derivative of 0 at 0.
Tensor euclidean(const Tensor& size, const Axes& axes, bool keepdims) {
    Tensor squares = sum(square(size), axes, keepdims);
    return where(squares == 0, 0, sqrt(where(squares == 0, 1, squares)));
}

// Sums of |x| along one of the last two axes, the largest (smallest) of them.
Tensor of_sums(const Tensor& size, std::int64_t summed, bool largest, bool keepdims) {
    std::int64_t rest = summed == -2 ? -1 : -2;
    Tensor sums = sum(size, summed, true);
    Tensor found = largest ? max(sums, rest, true) : min(sums, rest, true);
    return keepdims ? found : squeeze(found, {-2, -1});
}

Tensor of_singular_values(const Tensor& a, bool keepdims, Tensor (*join)(const Operand&, const Axes&, bool),
                          std::source_location where) {
    Tensor found = join(svdvals(Operand(a, where)), {-1}, keepdims);
    return keepdims ? expand_dims(found, -1) : found;
}

}  // namespace

Tensor matrix_norm(const Operand& x, bool keepdims, MatrixNorm ord) {
    LineScope line(x.where);
    Tensor a = matrices(x, "matrix_norm");
    if (ord == MatrixNorm::fro) return euclidean(abs(a), {-2, -1}, keepdims);
    return of_singular_values(a, keepdims, sum, x.where);
}

Tensor matrix_norm(const Operand& x, bool keepdims, double ord) {
    LineScope line(x.where);
    Tensor a = matrices(x, "matrix_norm");
    double kind = std::abs(ord);
    if (kind == 1 || kind == inf) return of_sums(abs(a), kind == 1 ? -2 : -1, ord > 0, keepdims);
    if (ord == 2) return of_singular_values(a, keepdims, max, x.where);
    if (ord == -2) return of_singular_values(a, keepdims, min, x.where);
    throw ValueError(text("matrix_norm: there is no norm of order ", ord,
                          " of matrices; take fro, nuc, or 1, -1, 2, -2, inf, -inf", place(x.where)));
}

Tensor vector_norm(const Operand& x, const std::optional<Axes>& axes, bool keepdims, double ord) {
    LineScope line(x.where);
    Tensor tensor = floating(x);
    Axes along = checked(
        x, [&] { return axes ? normalize_axes(*axes, tensor.ndim(), "vector_norm") : all_axes(tensor.ndim()); });
    Operand size(abs(tensor), x.where);
    if (ord == inf) return max(size, along, keepdims);
    if (ord == -inf) return min(size, along, keepdims);
    if (is_half(tensor.dtype())) {  // powers of half types leave their range soon
        Tensor wide = astype(tensor, DType::float32);
        return astype(vector_norm(Operand(wide, x.where), along, keepdims, ord), tensor.dtype());
    }
    if (ord == 0) return sum((size != 0).astype(size.tensor.dtype()), along, keepdims);
    if (ord == 1) return sum(size, along, keepdims);
    if (ord == 2) return euclidean(size.tensor, along, keepdims);
    return pow(sum(pow(size, ord), along, keepdims), 1 / ord);
}

WEFT_RECORD(matrix_norm, "The norm of matrices.", "linalg.matrix_norm", "linalg.matrix_norm",
            {{{{3, 4}}, [](auto x) { return matrix_norm(x[0]); }, "np.linalg.norm(x0)"},
             {{{2, 3, 2}},
              [](auto x) { return matrix_norm(regular(x[0]), true, MatrixNorm::nuc); },
              "np.linalg.norm(" WEFT_REGULAR(3, 2) ", 'nuc', (-2, -1), True)"},
             {{{3, 4}}, [](auto x) { return matrix_norm(x[0], false, 1); }, "np.linalg.norm(x0, 1)"},
             {{{3, 4}}, [](auto x) { return matrix_norm(x[0], true, -1); }, "np.linalg.norm(x0, -1, keepdims=True)"},
             {{{3, 4}}, [](auto x) { return matrix_norm(x[0], false, inf); }, "np.linalg.norm(x0, np.inf)"},
             {{{3, 4}}, [](auto x) { return matrix_norm(x[0], false, -inf); }, "np.linalg.norm(x0, -np.inf)"},
             {{{3, 4}},
              [](auto x) { return matrix_norm(regular(x[0]), false, 2); },
              "np.linalg.norm(" WEFT_REGULAR(3, 4) ", 2)"},
             {{{4, 3}},
              [](auto x) { return matrix_norm(regular(x[0]), true, -2); },
              "np.linalg.norm(" WEFT_REGULAR(4, 3) ", -2, keepdims=True)"}})
WEFT_RECORD(
    vector_norm, "The norm of vectors.", "linalg.vector_norm", "linalg.vector_norm",
    {{{{3, 4}}, [](auto x) { return vector_norm(x[0]); }, "np.linalg.norm(x0.ravel())"},
     {{{3, 4}}, [](auto x) { return vector_norm(x[0], Axes{0}, true, 1); }, "np.linalg.norm(x0, 1, 0, True)"},
     {{{3, 4}}, [](auto x) { return vector_norm(x[0], Axes{1}, false, 3); }, "np.linalg.norm(x0, 3, 1)"},
     {{{3, 4}}, [](auto x) { return vector_norm(x[0], Axes{1}, false, inf); }, "np.linalg.norm(x0, np.inf, 1)"},
     {{{3, 4}}, [](auto x) { return vector_norm(x[0], Axes{-1}, false, -inf); }, "np.linalg.norm(x0, -np.inf, 1)"},
     {{{3, 4}}, [](auto x) { return vector_norm(x[0], Axes{1}, false, 0); }, "np.linalg.norm(x0, 0, 1)"}})

}  // namespace weft::linalg
