#include "weft/ops/fft.h"

#include <cmath>

#include "weft/graph/node.h"
#include "weft/ops/arrange.h"
#include "weft/ops/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Meta infer_fourier(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[0].shape(), inputs[0].dtype()};
}

Meta infer_real_fourier(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    auto& a = static_cast<const AttributesOf<FourierAttributes>&>(*attributes).value;
    Shape shape = inputs[0].shape();
    shape[static_cast<std::size_t>(a.axis)] = a.points / 2 + 1;
    return {shape, promote(inputs[0].dtype(), DType::complex64)};
}
Meta infer_fourier_real(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    auto& a = static_cast<const AttributesOf<FourierAttributes>&>(*attributes).value;
    Shape shape = inputs[0].shape();
    shape[static_cast<std::size_t>(a.axis)] = a.points;
    return {shape, inputs[0].dtype() == DType::complex64 ? DType::float32 : DType::float64};
}

Tensor fourier(const Tensor& x, const FourierAttributes& a, std::source_location where) {
    return make_node(fourier_operation, {x}, attributes(a), where);
}

/// Half of a transform times what each point counts for: 1 at the ends, `inner` between, where a point stands for its conjugate too.
Tensor weighed(const Tensor& half, const FourierAttributes& a, double inner) {
    std::int64_t between = (a.points - 1) / 2;
    Tensor weights = concatenate({ones({1}, DType::float64), full({between}, inner, DType::float64),
                                  ones({a.points / 2 - between}, DType::float64)});
    Shape shape(half.ndim(), 1);
    shape[static_cast<std::size_t>(a.axis)] = a.points / 2 + 1;
    DType dtype = half.dtype() == DType::complex64 ? DType::float32 : DType::float64;
    return half * reshape(weights.astype(dtype), shape);
}
Tensor transpose_real_fourier(const Tensor& result, std::size_t, const Tensor& cotangent) {
    auto& a = result.node()->attributes_as<FourierAttributes>();
    return make_node(fourier_real_operation, {weighed(cotangent, a, 0.5)}, attributes(a), result.node()->where);
}
Tensor transpose_fourier_real(const Tensor& result, std::size_t, const Tensor& cotangent) {
    auto& a = result.node()->attributes_as<FourierAttributes>();
    return weighed(make_node(real_fourier_operation, {cotangent}, attributes(a), result.node()->where), a, 2);
}

// The matrix of a transform is symmetric, so it is its own transpose.
Tensor transpose_fourier(const Tensor& result, std::size_t, const Tensor& cotangent) {
    return fourier(cotangent, result.node()->attributes_as<FourierAttributes>(), result.node()->where);
}

Tensor batch_fourier(const Tensor& result, const Batch& batch) {
    FourierAttributes a = result.node()->attributes_as<FourierAttributes>();
    ++a.axis;
    return batch.like(result, batch.inputs, attributes(a));
}

}  // namespace

const Operation fourier_operation{
    .name = "fft",
    .family = Family::fourier,
    .doc = "The discrete Fourier transform along an axis.",
    .numpy = "fft.fft",
    .torch = "fft.fft",
    .infer = infer_fourier,
    .transpose = transpose_fourier,
    .batch = batch_fourier,
    .samples = {
        {{{8}}, [](auto x) { return fft::fft(x[0]); }, "np.fft.fft(x0)"},
        {{{2, 15, 3}}, [](auto x) { return fft::ifft(x[0], {}, 1); }, "np.fft.ifft(x0, axis=1)"},
        {{{3, 7}}, [](auto x) { return fft::fft(x[0], 11, 1, fft::Norm::ortho); }, "np.fft.fft(x0, 11, 1, 'ortho')"},
        {{{3, 60}},
         [](auto x) { return fft::fft(x[0], 37, 1, fft::Norm::forward); },
         "np.fft.fft(x0, 37, 1, 'forward')"}}};
WEFT_REGISTER(fourier_operation);

const Operation real_fourier_operation{
    .name = "rfft",
    .family = Family::fourier,
    .doc = "The first half of the discrete Fourier transform of real numbers along an axis; the rest is its conjugate.",
    .numpy = "fft.rfft",
    .torch = "fft.rfft",
    .infer = infer_real_fourier,
    .transpose = transpose_real_fourier,
    .batch = batch_fourier,
    .samples = {{{{2, 9}}, [](auto x) { return fft::rfft(real(x[0])); }, "np.fft.rfft(np.real(x0))"},
                {{{2, 30, 3}}, [](auto x) { return fft::rfft(real(x[0]), {}, 1); }, "np.fft.rfft(np.real(x0), axis=1)"},
                {{{5, 2}},
                 [](auto x) { return fft::rfft(real(x[0]), 6, 0, fft::Norm::forward); },
                 "np.fft.rfft(np.real(x0), 6, 0, 'forward')"},
                {{{3, 60}}, [](auto x) { return fft::ihfft(real(x[0]), 38); }, "np.fft.ihfft(np.real(x0), 38)"}}};
WEFT_REGISTER(real_fourier_operation);

const Operation fourier_real_operation{
    .name = "irfft",
    .family = Family::fourier,
    .doc =
        "The real numbers along an axis of which the given points are the first half of the discrete Fourier "
        "transform.",
    .numpy = "fft.irfft",
    .torch = "fft.irfft",
    .infer = infer_fourier_real,
    .transpose = transpose_fourier_real,
    .batch = batch_fourier,
    .samples = {{{{2, 5}}, [](auto x) { return fft::irfft(x[0]); }, "np.fft.irfft(x0)"},
                {{{2, 16, 3}}, [](auto x) { return fft::irfft(x[0], {}, 1); }, "np.fft.irfft(x0, axis=1)"},
                {{{2, 5}},
                 [](auto x) { return fft::irfft(x[0], 7, -1, fft::Norm::ortho); },
                 "np.fft.irfft(x0, 7, -1, 'ortho')"},
                {{{2, 5}}, [](auto x) { return fft::irfft(x[0], 1); }, "np.fft.irfft(x0, 1)"},
                {{{5, 2}}, [](auto x) { return fft::irfft(x[0], 14, 0); }, "np.fft.irfft(x0, 14, 0)"},
                {{{3, 19}}, [](auto x) { return fft::hfft(x[0], 38); }, "np.fft.hfft(x0, 38)"}}};
WEFT_REGISTER(fourier_real_operation);

namespace fft {
namespace {

DType complex_of(DType dtype) { return promote(dtype, DType::complex64); }

/// x in a type that has transforms.
Tensor taken(const Operand& x, std::string_view operation, bool real) {
    Tensor tensor = x.as_tensor();
    DType dtype = inexact(tensor.dtype());
    if (is_half(dtype))
        throw DTypeError(text(operation,
                              ": takes float32, float64, complex64 and complex128 (bool and integers as float32), not ",
                              tensor.dtype(), "; convert with astype first", place(x.where)));
    if (real && is_complex(dtype))
        throw DTypeError(
            text(operation, ": takes real numbers, not ", tensor.dtype(), "; take fft, or real(x)", place(x.where)));
    return tensor.astype(dtype, x.where);
}

std::int64_t checked_points(Size size, std::string_view operation, const Operand& x) {
    if (!size.known())
        throw ShapeError(text(operation, ": the size ", size, " of the axis is not known yet; give n", place(x.where)));
    if (size.value() < 1)
        throw ValueError(text(operation, ": ", size, " points; there must be at least 1", place(x.where)));
    return size.value();
}

/// The first n along the axis, zeros behind what there is.
Tensor resized(const Tensor& x, std::size_t axis, std::int64_t n) {
    Size size = x.shape()[axis];
    if (size.known() && size.value() == n) return x;
    Shape length = x.shape();
    if (!size.known() || size.value() > n) {
        length[axis] = n;
        return slice(x, Shape(x.ndim(), 0), length);
    }
    Shape none(x.ndim(), 0), behind = none;
    behind[axis] = n - size.value();
    return pad_interior(x, none, behind, Dims(x.ndim()));
}

double factor_of(std::int64_t n, bool inverse, Norm norm) {
    auto points = static_cast<double>(n);
    if (norm == Norm::ortho) return 1 / std::sqrt(points);
    return inverse == (norm == Norm::backward) ? 1 / points : 1;
}

/// One axis of x, complex, n points.
Tensor transformed(const Tensor& x, std::size_t axis, std::int64_t n, bool inverse, Norm norm,
                   std::source_location where) {
    return fourier(resized(x, axis, n).astype(complex_of(x.dtype())),
                   {static_cast<std::int64_t>(axis), inverse, factor_of(n, inverse, norm)}, where);
}

Tensor along(const Operand& x, Points n, std::int64_t axis, bool inverse, Norm norm, std::string_view operation) {
    LineScope line(x.where);
    Tensor tensor = taken(x, operation, false);
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), operation));
    return transformed(tensor, at, checked_points(n ? Size(*n) : tensor.shape()[at], operation, x), inverse, norm,
                       x.where);
}

/// Real numbers to half of their transform.
Tensor real_forward(const Tensor& x, std::size_t axis, std::int64_t n, bool inverse, Norm norm,
                    std::source_location where) {
    FourierAttributes a{static_cast<std::int64_t>(axis), inverse, factor_of(n, inverse, norm), n};
    return make_node(real_fourier_operation, {resized(x, axis, n)}, attributes(a), where);
}

/// Half of a transform of n real numbers to these.
Tensor real_backward(const Tensor& x, std::size_t axis, std::int64_t n, bool inverse, Norm norm,
                     std::source_location where) {
    FourierAttributes a{static_cast<std::int64_t>(axis), inverse, factor_of(n, inverse, norm), n};
    Tensor half = resized(x.astype(complex_of(x.dtype())), axis, n / 2 + 1);
    return make_node(fourier_real_operation, {half}, attributes(a), where);
}

/// The points of a real result of `half` frequencies.
std::int64_t whole_points(Points n, Size half, std::string_view operation, const Operand& x) {
    return checked_points(n ? Size(*n) : 2 * (half - 1), operation, x);
}

struct Plan {
    std::vector<std::size_t> axes;
    std::vector<std::optional<std::int64_t>> points;
};
/// Which axes, and how many points of each where `s` says so.
Plan planned(const Operand& x, std::size_t ndim, const Sizes& s, const std::optional<Axes>& axes,
             std::string_view operation) {
    Plan plan;
    if (s && axes && s->size() != axes->size())
        throw ValueError(text(operation, ": s = ", *s, " and axes = ", *axes, " differ in number", place(x.where)));
    if (s && s->size() > ndim)
        throw ValueError(
            text(operation, ": s = ", *s, " names more axes than the ", ndim, " of the value", place(x.where)));
    std::size_t count = axes ? axes->size() : s ? s->size() : ndim;
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(ndim - count + i);
        plan.axes.push_back(static_cast<std::size_t>(checked_axis(x, axis, ndim, operation)));
        plan.points.push_back(s && (*s)[i] != -1 ? std::optional((*s)[i]) : std::nullopt);
    }
    return plan;
}

/// Of axis i of the plan: what was asked for, or its size.
std::int64_t points_along(const Plan& plan, std::size_t i, const Tensor& x, std::string_view operation,
                          const Operand& given) {
    Size size = plan.points[i] ? Size(*plan.points[i]) : x.shape()[plan.axes[i]];
    return checked_points(size, operation, given);
}

Tensor over_axes(const Operand& x, const Sizes& s, const std::optional<Axes>& axes, bool inverse, Norm norm,
                 std::string_view operation) {
    LineScope line(x.where);
    Tensor result = taken(x, operation, false);
    Plan plan = planned(x, result.ndim(), s, axes, operation);
    if (plan.axes.empty()) return result.astype(complex_of(result.dtype()));
    for (std::size_t i = plan.axes.size(); i-- > 0;) {
        std::int64_t n = points_along(plan, i, result, operation, x);
        result = transformed(result, plan.axes[i], n, inverse, norm, x.where);
    }
    return result;
}

Plan planned_halves(const Operand& x, std::size_t ndim, const Sizes& s, const std::optional<Axes>& axes,
                    std::string_view operation) {
    Plan plan = planned(x, ndim, s, axes, operation);
    if (plan.axes.empty()) throw ValueError(text(operation, ": there must be at least one axis", place(x.where)));
    return plan;
}

Tensor real_over_axes(const Operand& x, const Sizes& s, const std::optional<Axes>& axes, Norm norm,
                      std::string_view operation) {
    LineScope line(x.where);
    Tensor result = taken(x, operation, true);
    Plan plan = planned_halves(x, result.ndim(), s, axes, operation);
    for (std::size_t i = plan.axes.size(); i-- > 0;) {
        std::int64_t n = points_along(plan, i, result, operation, x);
        result = i + 1 == plan.axes.size() ? real_forward(result, plan.axes[i], n, false, norm, x.where)
                                           : transformed(result, plan.axes[i], n, false, norm, x.where);
    }
    return result;
}

Tensor back_over_axes(const Operand& x, const Sizes& s, const std::optional<Axes>& axes, Norm norm,
                      std::string_view operation) {
    LineScope line(x.where);
    Tensor result = taken(x, operation, false);
    Plan plan = planned_halves(x, result.ndim(), s, axes, operation);
    std::size_t last = plan.axes.size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
        std::int64_t n = points_along(plan, i, result, operation, x);
        result = transformed(result, plan.axes[i], n, true, norm, x.where);
    }
    std::int64_t n = whole_points(plan.points[last], result.shape()[plan.axes[last]], operation, x);
    return real_backward(result, plan.axes[last], n, true, norm, x.where);
}

Tensor real_one(const Operand& x, Points n, std::int64_t axis, bool inverse, Norm norm, std::string_view operation) {
    LineScope line(x.where);
    Tensor tensor = taken(x, operation, true);
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), operation));
    std::int64_t points = checked_points(n ? Size(*n) : tensor.shape()[at], operation, x);
    return real_forward(tensor, at, points, inverse, norm, x.where);
}
Tensor back_one(const Operand& x, Points n, std::int64_t axis, bool inverse, Norm norm, std::string_view operation) {
    LineScope line(x.where);
    Tensor tensor = taken(x, operation, false);
    auto at = static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), operation));
    return real_backward(tensor, at, whole_points(n, tensor.shape()[at], operation, x), inverse, norm, x.where);
}

}  // namespace

Norm norm_named(std::string_view name) {
    if (name == "backward") return Norm::backward;
    if (name == "ortho") return Norm::ortho;
    if (name == "forward") return Norm::forward;
    throw ValueError(text("fft: there is no norm '", name, "'; take backward, ortho or forward"));
}

Tensor fft(const Operand& x, Points n, std::int64_t axis, Norm norm) { return along(x, n, axis, false, norm, "fft"); }
Tensor ifft(const Operand& x, Points n, std::int64_t axis, Norm norm) { return along(x, n, axis, true, norm, "ifft"); }
Tensor fftn(const Operand& x, const Sizes& s, const std::optional<Axes>& axes, Norm norm) {
    return over_axes(x, s, axes, false, norm, "fftn");
}
Tensor ifftn(const Operand& x, const Sizes& s, const std::optional<Axes>& axes, Norm norm) {
    return over_axes(x, s, axes, true, norm, "ifftn");
}
Tensor rfft(const Operand& x, Points n, std::int64_t axis, Norm norm) {
    return real_one(x, n, axis, false, norm, "rfft");
}
Tensor irfft(const Operand& x, Points n, std::int64_t axis, Norm norm) {
    return back_one(x, n, axis, true, norm, "irfft");
}
Tensor rfftn(const Operand& x, const Sizes& s, const std::optional<Axes>& axes, Norm norm) {
    return real_over_axes(x, s, axes, norm, "rfftn");
}
Tensor irfftn(const Operand& x, const Sizes& s, const std::optional<Axes>& axes, Norm norm) {
    return back_over_axes(x, s, axes, norm, "irfftn");
}
// Halves are completed to Hermitian wholes as irfft completes them, but the transform is the forward one.
Tensor hfft(const Operand& x, Points n, std::int64_t axis, Norm norm) {
    return back_one(x, n, axis, false, norm, "hfft");
}
Tensor ihfft(const Operand& x, Points n, std::int64_t axis, Norm norm) {
    return real_one(x, n, axis, true, norm, "ihfft");
}

Tensor fft2(const Operand& x, const Sizes& s, const Axes& axes, Norm norm) {
    return over_axes(x, s, axes, false, norm, "fft2");
}
Tensor ifft2(const Operand& x, const Sizes& s, const Axes& axes, Norm norm) {
    return over_axes(x, s, axes, true, norm, "ifft2");
}
Tensor rfft2(const Operand& x, const Sizes& s, const Axes& axes, Norm norm) {
    return real_over_axes(x, s, axes, norm, "rfft2");
}
Tensor irfft2(const Operand& x, const Sizes& s, const Axes& axes, Norm norm) {
    return back_over_axes(x, s, axes, norm, "irfft2");
}

}  // namespace fft
}  // namespace weft
