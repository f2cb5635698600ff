#include "weft/ops/products.h"

#include "weft/graph/node.h"
#include "weft/ops/contraction.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

void refuse_rank(const Operand& x, std::size_t least, std::string_view name, std::string_view what) {
    std::size_t ndim = x.as_tensor().ndim();
    if (ndim < least)
        throw ShapeError(text(name, ": ", what, " need ", least, " axes or more, not the shape ", x.as_tensor().shape(),
                              place(x.where)));
}

std::int64_t last_axis(const Tensor& x, std::int64_t before = 0) {
    return static_cast<std::int64_t>(x.ndim()) - 1 - before;
}

}  // namespace

Tensor dot(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    if (a.weak() || b.weak() || a.tensor.ndim() == 0 || b.tensor.ndim() == 0) return multiply(a, b);
    return tensordot(a, b, Axes{last_axis(a.tensor)}, Axes{b.tensor.ndim() == 1 ? 0 : last_axis(b.tensor, 1)});
}

Tensor inner(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    if (a.weak() || b.weak() || a.tensor.ndim() == 0 || b.tensor.ndim() == 0) return multiply(a, b);
    return tensordot(a, b, Axes{last_axis(a.tensor)}, Axes{last_axis(b.tensor)});
}

Tensor vdot(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    return tensordot(conj(ravel(a)), Operand(ravel(b), b.where), 1);
}

Tensor matvec(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    refuse_rank(a, 2, "matvec", "matrices"), refuse_rank(b, 1, "matvec", "vectors");
    return squeeze(matmul(a, Operand(expand_dims(b, -1), b.where)), Axes{-1});
}

Tensor vecmat(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    refuse_rank(a, 1, "vecmat", "vectors"), refuse_rank(b, 2, "vecmat", "matrices");
    return squeeze(matmul(Operand(expand_dims(conj(a), -2), a.where), b), Axes{-2});
}

WEFT_RECORD(dot, "The product of vectors or matrices.", "dot", "",
            {{{{2, 3, 4}, {5, 4, 2}}, [](auto x) { return dot(x[0], x[1]); }, "np.dot(x0, x1)"},
             {{{3}, {3}}, [](auto x) { return dot(x[0], x[1]); }, "np.dot(x0, x1)"},
             {{{2, 3}, {3}}, [](auto x) { return dot(x[0], x[1]); }, "np.dot(x0, x1)"}})
WEFT_RECORD(inner, "The sum of products over the last axes.", "inner", "inner",
            {{{{2, 3}, {4, 3}}, [](auto x) { return inner(x[0], x[1]); }, "np.inner(x0, x1)"}})
WEFT_RECORD(vdot, "The sum of products of all elements, the first conjugated.", "vdot", "vdot",
            {{{{2, 3}, {3, 2}}, [](auto x) { return vdot(x[0], x[1]); }, "np.vdot(x0, x1)"}})
WEFT_RECORD(matvec, "Matrices times vectors.", "", "mv",
            {{{{2, 3, 4}, {4}}, [](auto x) { return matvec(x[0], x[1]); }, "np.matmul(x0, x1)"}})
WEFT_RECORD(vecmat, "Vectors, conjugated, times matrices.", "", "",
            {{{{3}, {2, 3, 4}},
              [](auto x) { return vecmat(x[0], x[1]); },
              "np.matmul(np.conj(x0) if x0.dtype.kind == 'c' else x0, x1)"}})

}  // namespace weft
