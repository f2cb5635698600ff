#include "weft/ops/polynomial.h"

#include <algorithm>
#include <limits>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/linalg.h"
#include "weft/ops/reduce.h"
#include "weft/ops/signal.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Tensor coefficients(const Operand& p, std::string_view name) {
    Tensor x = p.as_tensor();
    if (x.ndim() == 0) x = reshape(x, {1});
    if (x.ndim() != 1) throw ShapeError(text(name, ": coefficients are a vector, not ", x.shape(), place(p.where)));
    return x;
}

std::int64_t count_of(const Tensor& p) { return p.shape()[0].value(); }

/// Whole numbers as int64, where powers and factors have room; uint64 has no room there.
Tensor widened_type(const Tensor& p) {
    if (is_inexact(p.dtype())) return p;
    return astype(p, p.dtype() == DType::uint64 ? DType::float32 : DType::int64);
}

/// With zeros for the highest powers.
Tensor widened(const Tensor& p, std::int64_t count) { return pad(p, {count - count_of(p)}, {0}); }

std::pair<Tensor, Tensor> alike(const Operand& a, const Operand& b, std::string_view name) {
    Tensor x = coefficients(a, name), y = coefficients(b, name);
    std::int64_t count = std::max(count_of(x), count_of(y));
    return {widened(x, count), widened(y, count)};
}

void refuse_negative(std::int64_t m, std::string_view name, const std::source_location& where) {
    if (m < 0) throw ValueError(text(name, ": ", m, " times; the number must not be negative", place(where)));
}

}  // namespace

Tensor polyval(const Operand& p, const Operand& x) {
    LineScope line(p.where);
    Tensor given = coefficients(p, "polyval"),
           at = x.weak() ? x.as(promote_weak(given.dtype(), x.literal.kind)) : x.tensor;
    DType meet = promote(given.dtype(), at.dtype());
    Tensor value = full(at.shape(), 0, meet);
    at = astype(at, meet);
    for (std::int64_t i = 0; i < count_of(given); ++i) value = value * at + astype(given[i], meet);
    return value;
}

Tensor polyadd(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    auto [x, y] = alike(a, b, "polyadd");
    return x + y;
}

Tensor polysub(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    auto [x, y] = alike(a, b, "polysub");
    return x - y;
}

Tensor polymul(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    return convolve(coefficients(a, "polymul"), coefficients(b, "polymul"));
}

std::pair<Tensor, Tensor> polydiv(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    Tensor u = coefficients(a, "polydiv"), v = coefficients(b, "polydiv");
    DType meet = inexact(promote(u.dtype(), v.dtype()));
    u = astype(u, meet), v = astype(v, meet);
    std::int64_t n = count_of(u), m = count_of(v);
    if (m == 0) throw ValueError(text("polydiv: by a polynomial without coefficients", place(b.where)));
    if (n < m) return {zeros({1}, meet), u};
    std::vector<Tensor> quotient;
    for (std::int64_t k = 0; k + m <= n; ++k) {  // long division, a power at a time
        Tensor factor = u[0] / v[0];
        quotient.push_back(factor);
        u = (u - pad(v * factor, {0}, {n - k - m}))[{slice(1, {})}];
    }
    return {stack(quotient), m == 1 ? zeros({1}, meet) : u};
}

Tensor polyder(const Operand& p, std::int64_t m) {
    LineScope line(p.where);
    refuse_negative(m, "polyder", p.where);
    Tensor given = coefficients(p, "polyder");
    given = widened_type(given);
    for (; m > 0 && count_of(given) > 0; --m) {
        std::int64_t degree = count_of(given) - 1;
        given = given[{slice({}, -1)}] * astype(flip(iota(degree) + 1), given.dtype());
    }
    return given;
}

Tensor polyint(const Operand& p, std::int64_t m, const std::vector<double>& k) {
    LineScope line(p.where);
    refuse_negative(m, "polyint", p.where);
    if (!k.empty() && k.size() != 1 && static_cast<std::int64_t>(k.size()) < m)
        throw ValueError(text("polyint: ", k.size(), " constants for ", m, " integrals", place(p.where)));
    Tensor given = coefficients(p, "polyint");
    given = astype(given, inexact(given.dtype()));
    for (std::int64_t i = 0; i < m; ++i) {
        double constant = k.empty() ? 0 : k.size() == 1 ? k[0] : k[static_cast<std::size_t>(i)];
        given = concatenate(
            {given / astype(flip(iota(count_of(given)) + 1), given.dtype()), full({1}, constant, given.dtype())});
    }
    return given;
}

Tensor vander(const Operand& x, std::optional<std::int64_t> columns, bool increasing) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() != 1)
        throw ShapeError(text("vander: takes a vector, not the shape ", tensor.shape(), place(x.where)));
    std::int64_t n = columns ? *columns : count_of(tensor);
    refuse_negative(n, "vander", x.where);
    if (n > (std::int64_t{1} << 26)) throw OutOfMemory(text("vander: of ", n, " columns", place(x.where)));
    tensor = widened_type(tensor);
    std::vector<Tensor> powers;
    for (std::int64_t i = 0; i < n; ++i) powers.push_back(i == 0 ? ones_like(tensor) : powers.back() * tensor);
    if (!increasing) std::reverse(powers.begin(), powers.end());
    return n == 0 ? zeros({tensor.shape()[0], 0}, tensor.dtype()) : stack(powers, 1);
}

Tensor polyfit(const Operand& x, const Operand& y, std::int64_t degree, const Tensor& weights) {
    LineScope line(x.where);
    Tensor points = x.as_tensor(), values = y.as_tensor();
    refuse_negative(degree, "polyfit", x.where);
    if (points.ndim() != 1 || count_of(points) == 0 || values.ndim() < 1 || values.ndim() > 2 ||
        values.shape()[0] != points.shape()[0])
        throw ShapeError(text("polyfit: points (N) and values (N) or (N, K), not ", points.shape(), " and ",
                              values.shape(), place(x.where)));
    DType meet = inexact(promote(points.dtype(), values.dtype()));
    Tensor left = vander(astype(points, meet), degree + 1), right = astype(values, meet);
    bool one = right.ndim() == 1;
    if (one) right = expand_dims(right, 1);
    if (weights) {
        if (weights.shape() != points.shape())
            throw ShapeError(text("polyfit: weights of shape ", weights.shape(), " for points of shape ",
                                  points.shape(), place(x.where)));
        Tensor column = expand_dims(astype(weights, meet), 1);
        left = left * column, right = right * column;
    }
    Tensor scale = sqrt(sum(square(abs(left)), {0}));  // columns of one length: powers differ by orders of magnitude
    Tensor solved = linalg::lstsq(left / scale, right).x / expand_dims(scale, 1);
    return one ? squeeze(solved, {1}) : solved;
}

Tensor poly(const Operand& given) {
    LineScope line(given.where);
    Tensor zeros_of = coefficients(given, "poly");
    zeros_of = astype(zeros_of, inexact(zeros_of.dtype()));
    Tensor product = ones({1}, zeros_of.dtype());
    for (std::int64_t i = 0; i < count_of(zeros_of); ++i)
        product = pad(product, {0}, {1}) - pad(product * zeros_of[i], {1}, {0});
    return product;
}

Tensor roots(const Operand& given) {
    LineScope line(given.where);
    Tensor p = coefficients(given, "roots");
    if (!has_numbers(p))
        throw ValueError(
            text("roots: how many there are is not known before the coefficients are computed, and here they are only "
                 "declared",
                 place(given.where)));
    p = astype(p, inexact(p.dtype()));
    std::vector<bool> some = not_equal(p, 0).to_vector<bool>();
    auto first = std::find(some.begin(), some.end(), true);
    DType complex = promote(p.dtype(), DType::complex64);
    if (first == some.end()) return zeros({0}, complex);
    auto last = std::find(some.rbegin(), some.rend(), true);
    auto leading = first - some.begin(), trailing = last - some.rbegin();
    std::int64_t degree = static_cast<std::int64_t>(some.size()) - leading - trailing - 1;
    Tensor none = zeros({trailing}, complex);
    if (degree == 0) return none;
    p = p[{slice(leading, leading + degree + 1)}];
    Tensor top = reshape(-p[{slice(1, {})}] / p[0], {1, degree});
    Tensor companion = concatenate({top, eye(degree - 1, degree, 0, p.dtype())});
    return concatenate({astype(linalg::eigvals(companion), complex), none});
}

WEFT_RECORD(polyval, "A polynomial at points.", "polyval", "",
            {{{{4}, {2, 3}}, [](auto x) { return polyval(x[0], x[1]); }, "np.polyval(x0, x1)"}})
WEFT_RECORD(polyadd, "The sum of polynomials.", "polyadd", "",
            {{{{4}, {2}}, [](auto x) { return polyadd(x[0], x[1]); }, "np.polyadd(x0, x1)"}})
WEFT_RECORD(polysub, "The difference of polynomials.", "polysub", "",
            {{{{4}, {2}}, [](auto x) { return polysub(x[0], x[1]); }, "np.polysub(x0, x1)"}})
WEFT_RECORD(polymul, "The product of polynomials.", "polymul", "",
            {{{{4}, {2}}, [](auto x) { return polymul(x[0], x[1]); }, "np.convolve(x0, x1)"}})
WEFT_RECORD(polyder, "The derivative of a polynomial.", "polyder", "",
            {{{{5}}, [](auto x) { return polyder(x[0], 2); }, "np.polyder(x0, 2)"}})
WEFT_RECORD(polyint, "The integral of a polynomial.", "polyint", "",
            {{{{4}}, [](auto x) { return polyint(x[0], 1, {2}); }, "np.polyint(x0, 1, 2)"}})
WEFT_RECORD(poly, "The polynomial with these roots.", "poly", "",
            {{{{4}}, [](auto x) { return poly(x[0]); }, "np.poly(x0)"}})
WEFT_RECORD(vander, "Powers of a vector as columns.", "vander", "vander",
            {{{{4}}, [](auto x) { return vander(x[0], 3); }, "np.vander(x0, 3)"}})

}  // namespace weft
