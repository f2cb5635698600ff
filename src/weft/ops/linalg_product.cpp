#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/declare.h"
#include "weft/ops/linalg.h"
#include "weft/ops/linalg_samples.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::linalg {
using namespace detail;
namespace {

// The axis, counted from the end so that it is the same one behind broadcasting; both sizes must be `size` if that is not 0.
std::int64_t common_axis(const Operand& a, const Operand& b, std::int64_t axis, std::string_view operation) {
    Shape left = a.as_tensor().shape(), right = b.as_tensor().shape();
    std::size_t least = std::min(left.size(), right.size());
    if (axis >= 0) {
        if (left.size() != right.size())
            throw AxisError(text(operation, ": axis ", axis, " counts from the front, but shapes ", left, " and ",
                                 right, " have different numbers of axes; count from the end", place(a.where)));
        axis -= static_cast<std::int64_t>(least);
    }
    checked_axis(a, axis, least, operation);
    Size size = left[left.size() - static_cast<std::size_t>(-axis)],
         other = right[right.size() - static_cast<std::size_t>(-axis)];
    if (!may_equal(size, other))
        throw ShapeError(text(operation, ": axis ", axis, " of shapes ", left, " and ", right, " has sizes ", size,
                              " and ", other, ", which must be equal", place(a.where)));
    return axis;
}

// The order in which a chain of matrices multiplies least (Cormen, Leiserson, Rivest & Stein, 15.2): cut[i][j] is where i..j is cut last.
std::vector<std::vector<std::size_t>> best_cuts(const std::vector<double>& sizes) {
    std::size_t count = sizes.size() - 1;
    std::vector<std::vector<double>> cost(count, std::vector<double>(count, 0));
    std::vector<std::vector<std::size_t>> cut(count, std::vector<std::size_t>(count, 0));
    for (std::size_t length = 2; length <= count; ++length) {
        for (std::size_t i = 0, j = length - 1; j < count; ++i, ++j) {
            cost[i][j] = std::numeric_limits<double>::infinity();
            for (std::size_t k = i; k < j; ++k) {
                double found = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
                if (found < cost[i][j]) cost[i][j] = found, cut[i][j] = k;
            }
        }
    }
    return cut;
}

Tensor multiplied(std::span<const Tensor> all, const std::vector<std::vector<std::size_t>>& cut, std::size_t i,
                  std::size_t j) {
    if (i == j) return all[i];
    std::size_t k = cut[i][j];
    return matmul(multiplied(all, cut, i, k), multiplied(all, cut, k + 1, j));
}

}  // namespace

Tensor cross(const Operand& a, const Operand& b, std::int64_t axis) {
    LineScope line(a.where);
    axis = common_axis(a, b, axis, "cross");
    Tensor x = a.as_tensor(), y = b.as_tensor();
    if (Size size = x.shape()[x.ndim() - static_cast<std::size_t>(-axis)]; !may_equal(size, 3))
        throw ShapeError(text("cross: axis ", axis, " of shapes ", x.shape(), " and ", y.shape(), " has size ", size,
                              ", but the product is one of 3 dimensions", place(a.where)));
    // Element i is a[i + 1] b[i + 2] - a[i + 2] b[i + 1].
    return roll(x, -1, axis) * roll(y, -2, axis) - roll(x, -2, axis) * roll(y, -1, axis);
}

Tensor vecdot(const Operand& a, const Operand& b, std::int64_t axis) {
    LineScope line(a.where);
    axis = common_axis(a, b, axis, "vecdot");
    Tensor x = a.as_tensor();
    Tensor products = (is_complex(x.dtype()) ? conj(x) : x) * b;
    return astype(sum(products, axis), products.dtype());  // integers stay what they are, as in a product of matrices
}

Tensor kron(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    Tensor x = a.as_tensor(), y = b.as_tensor();
    while (x.ndim() < y.ndim()) x = expand_dims(x, 0);
    while (y.ndim() < x.ndim()) y = expand_dims(y, 0);
    Shape left, right, shape;
    for (std::size_t i = 0; i < x.ndim(); ++i) {
        left.push_back(x.shape()[i]), left.push_back(1);
        right.push_back(1), right.push_back(y.shape()[i]);
        shape.push_back(x.shape()[i] * y.shape()[i]);
    }
    return reshape(reshape(x, left) * reshape(y, right), shape);
}

Tensor multi_dot(std::span<const Tensor> matrices, std::source_location where) {
    LineScope line(where);
    if (matrices.size() < 2)
        throw ValueError(text("multi_dot: takes at least two matrices, not ", matrices.size(), place(where)));
    std::vector<double> sizes;
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        bool first = i == 0, last = i + 1 == matrices.size();
        const Shape& shape = Operand(matrices[i], where).tensor.shape();
        if (!(shape.size() == 2 || (shape.size() == 1 && (first || last))))
            throw ShapeError(text("multi_dot: matrix ", i, " has shape ", shape,
                                  "; takes matrices (2-d), of which the first and the last may be vectors",
                                  place(where)));
        auto number = [](Size size) { return size.known() ? static_cast<double>(size.value()) : 1e3; };
        sizes.push_back(first && shape.size() == 1 ? 1 : number(shape[0]));
        if (last) sizes.push_back(shape.size() == 1 ? 1 : number(shape[1]));
    }
    return multiplied(matrices, best_cuts(sizes), 0, matrices.size() - 1);
}
Tensor multi_dot(std::initializer_list<Tensor> matrices, std::source_location where) {
    return multi_dot(std::span<const Tensor>(matrices.begin(), matrices.size()), where);
}

namespace {
void refuse_no_matrices(const Operand& x, std::string_view operation) {
    if (Shape shape = x.as_tensor().shape(); shape.size() < 2)
        throw ShapeError(text(operation, ": takes matrices, the last two axes, but shape ", shape, " has ",
                              shape.size() == 1 ? "one axis" : "none", place(x.where)));
}
}  // namespace

Tensor trace(const Operand& x, std::int64_t offset) {
    refuse_no_matrices(x, "trace");
    return weft::trace(x, offset, -2, -1);
}
Tensor diagonal(const Operand& x, std::int64_t offset) {
    refuse_no_matrices(x, "diagonal");
    return weft::diagonal(x, offset, -2, -1);
}

WEFT_RECORD(cross, "The cross product of vectors of 3 numbers.", "linalg.cross", "linalg.cross",
            {{{{4, 3}, {3}}, [](auto x) { return cross(x[0], x[1]); }, "np.cross(x0, x1)"},
             {{{3, 2}, {3, 2}}, [](auto x) { return cross(x[0], x[1], 0); }, "np.cross(x0, x1, axis=0)"}})
WEFT_RECORD(kron, "The Kronecker product.", "kron", "kron",
            {{{{2, 3}, {4, 2}}, [](auto x) { return kron(x[0], x[1]); }, "np.kron(x0, x1)"},
             {{{3}, {2, 2}}, [](auto x) { return kron(x[0], x[1]); }, "np.kron(x0, x1)"}})
WEFT_RECORD(multi_dot, "The product of several matrices.", "linalg.multi_dot", "linalg.multi_dot",
            {{{{3, 5}, {5, 2}, {2, 4}},
              [](auto x) {
                  return multi_dot({x[0], x[1], x[2]});
              },
              "np.linalg.multi_dot([x0, x1, x2])"},
             {{{3}, {3, 2}, {2}},
              [](auto x) {
                  return multi_dot({x[0], x[1], x[2]});
              },
              "np.linalg.multi_dot([x0, x1, x2])"}})
WEFT_RECORD(linalg_vecdot, "The sum of products along an axis, the first operand conjugated.", "linalg.vecdot",
            "linalg.vecdot",
            {{{{2, 3}, {3}},
              [](auto x) { return linalg::vecdot(x[0], x[1]); },
              "(np.conj(x0) * x1).sum(-1, dtype=(x0 * x1).dtype)"},
             {{{3, 2}, {3, 2}},
              [](auto x) { return linalg::vecdot(x[0], x[1], 0); },
              "(np.conj(x0) * x1).sum(0, dtype=(x0 * x1).dtype)"}})
WEFT_RECORD(linalg_trace, "The sum of the diagonal of the last two axes.", "linalg.trace", "",
            {{{{2, 3, 3}}, [](auto x) { return linalg::trace(x[0]); }, "np.trace(x0, 0, -2, -1)"}})
WEFT_RECORD(linalg_diagonal, "The diagonal of the last two axes.", "linalg.diagonal", "linalg.diagonal",
            {{{{2, 3, 4}}, [](auto x) { return linalg::diagonal(x[0], 1); }, "np.diagonal(x0, 1, -2, -1)"}})

}  // namespace weft::linalg
