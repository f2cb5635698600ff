// Linear algebra and Fourier transforms (ops/linalg.h, ops/fft.h).

#include <limits>

#include "bind.h"
#include "weft/ops/fft.h"
#include "weft/ops/linalg.h"

namespace weft::python {
namespace {

using One = Tensor (*)(const Operand&);

template <One f>
void bind_one(nb::module_& module, const char* name) {
    module.def(name, [name](Given x) { return object_of(f(placed(x, name))); });
}

std::optional<Operand> tolerance(nb::handle object, const char* operation) {
    if (object.is_none()) return {};
    return operand(object, operation);
}

/// `ord`: a number, or a name of the matrix norms.
double order(nb::handle object, const char* operation) {
    if (PyUnicode_Check(object.ptr()))
        throw ValueError(text(operation, ": the order '", nb::cast<std::string>(object), "' is not known"));
    double value = PyFloat_AsDouble(object.ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
}

void bind_linalg(nb::module_& m) {
    using namespace linalg;
    bind_one<inv>(m, "inv");
    bind_one<det>(m, "det");
    bind_one<eigvalsh>(m, "eigvalsh");
    bind_one<eigvals>(m, "eigvals");
    bind_one<svdvals>(m, "svdvals");
    bind_one<expm>(m, "expm");
    m.def("cholesky", [](Given x, bool upper) { return object_of(cholesky(placed(x, "cholesky"), upper)); });
    m.def("solve", [](Given a, Given b) { return object_of(solve(placed(a, "solve"), placed(b, "solve"))); });
    m.def("solve_triangular", [](Given a, Given b, bool lower, bool transposed, bool unit) {
        return object_of(
            solve_triangular(placed(a, "solve_triangular"), placed(b, "solve_triangular"), lower, transposed, unit));
    });
    m.def("slogdet", [](Given x) {
        Slogdet found = slogdet(placed(x, "slogdet"));
        return nb::make_tuple(object_of(found.sign), object_of(found.logabsdet));
    });
    m.def("matrix_power", [](Given x, Given n) {
        return object_of(matrix_power(placed(x, "matrix_power"), integer(n, "matrix_power", "n")));
    });
    m.def("qr", [](Given x, const std::string& mode) {
        if (mode != "reduced" && mode != "complete")
            throw ValueError("qr: mode is 'reduced' or 'complete', not '" + mode + "'");
        Qr found = qr(placed(x, "qr"), mode == "reduced" ? QrMode::reduced : QrMode::complete);
        return nb::make_tuple(object_of(found.q), object_of(found.r));
    });
    m.def("eigh", [](Given x) {
        linalg::Eigen found = eigh(placed(x, "eigh"));
        return nb::make_tuple(object_of(found.values), object_of(found.vectors));
    });
    m.def("eig", [](Given x) {
        linalg::Eigen found = eig(placed(x, "eig"));
        return nb::make_tuple(object_of(found.values), object_of(found.vectors));
    });
    m.def("svd", [](Given x, bool full) {
        Svd found = svd(placed(x, "svd"), full);
        return nb::make_tuple(object_of(found.u), object_of(found.s), object_of(found.vh));
    });
    m.def("pinv", [](Given x, Given rtol) { return object_of(pinv(placed(x, "pinv"), tolerance(rtol, "pinv"))); });
    m.def("matrix_rank", [](Given x, Given rtol) {
        return object_of(matrix_rank(placed(x, "matrix_rank"), tolerance(rtol, "matrix_rank")));
    });
    m.def("lstsq", [](Given a, Given b, Given rtol) {
        Lstsq found = lstsq(placed(a, "lstsq"), placed(b, "lstsq"), tolerance(rtol, "lstsq"));
        return nb::make_tuple(object_of(found.x), object_of(found.residuals), object_of(found.rank),
                              object_of(found.singular_values));
    });
    m.def("matrix_norm", [](Given x, Given keep, Given ord) {
        bool keepdims = truth(keep, "matrix_norm");
        Operand given = placed(x, "matrix_norm");
        bool named = PyUnicode_Check(ord.ptr());
        if (named && nb::cast<std::string>(ord) == "fro")
            return object_of(matrix_norm(given, keepdims, MatrixNorm::fro));
        if (named && nb::cast<std::string>(ord) == "nuc")
            return object_of(matrix_norm(given, keepdims, MatrixNorm::nuc));
        return object_of(matrix_norm(given, keepdims, order(ord, "matrix_norm")));
    });
    m.def("vector_norm", [](Given x, Given axis, Given keep, Given ord) {
        bool keepdims = truth(keep, "vector_norm");
        std::optional<Axes> along;
        if (!axis.is_none()) along = axes(axis, "vector_norm", {});
        return object_of(vector_norm(placed(x, "vector_norm"), along, keepdims, order(ord, "vector_norm")));
    });
    m.def("cross", [](Given a, Given b, std::int64_t axis) {
        return object_of(cross(placed(a, "cross"), placed(b, "cross"), axis));
    });
    m.def("vecdot", [](Given a, Given b, std::int64_t axis) {
        return object_of(vecdot(placed(a, "vecdot"), placed(b, "vecdot"), axis));
    });
    m.def("kron", [](Given a, Given b) { return object_of(kron(placed(a, "kron"), placed(b, "kron"))); });
    m.def("multi_dot", [](Given matrices) { return object_of(multi_dot(tensors(matrices, "multi_dot"), here())); });
    m.def("matrix_trace", [](Given x, std::int64_t offset, Given type) {
        Tensor found = linalg::trace(placed(x, "trace"), offset);
        std::optional<DType> wanted = dtype(type);
        return object_of(wanted && *wanted != found.dtype() ? astype(found, *wanted) : found);
    });
    m.def("matrix_diagonal",
          [](Given x, std::int64_t offset) { return object_of(linalg::diagonal(placed(x, "diagonal"), offset)); });
}

using Along = Tensor (*)(const Operand&, fft::Points, std::int64_t, fft::Norm);
using Many = Tensor (*)(const Operand&, const fft::Sizes&, const std::optional<Axes>&, fft::Norm);

template <Along f>
void bind_transform(nb::module_& module, const char* name) {
    module.def(name, [name](Given x, std::optional<std::int64_t> n, std::int64_t axis, const std::string& norm) {
        return object_of(f(placed(x, name), n, axis, fft::norm_named(norm)));
    });
}

template <Many f>
void bind_many(nb::module_& module, const char* name) {
    module.def(name, [name](Given x, Given s, Given along, const std::string& norm) {
        fft::Sizes sizes;
        std::optional<Axes> chosen;
        if (!s.is_none()) sizes = integers(s, name, "a size");
        if (!along.is_none()) chosen = axes(along, name, {});
        return object_of(f(placed(x, name), sizes, chosen, fft::norm_named(norm)));
    });
}

using Shift = Tensor (*)(const Operand&, const std::optional<Axes>&);

template <Shift f>
void bind_shift(nb::module_& module, const char* name) {
    module.def(name, [name](Given x, Given along) {
        std::optional<Axes> chosen;
        if (!along.is_none()) chosen = axes(along, name, {});
        return object_of(f(placed(x, name), chosen));
    });
}

void bind_fft(nb::module_& m) {
    bind_transform<fft::fft>(m, "fft");
    bind_transform<fft::ifft>(m, "ifft");
    bind_transform<fft::rfft>(m, "rfft");
    bind_transform<fft::irfft>(m, "irfft");
    bind_transform<fft::hfft>(m, "hfft");
    bind_transform<fft::ihfft>(m, "ihfft");
    bind_many<fft::fftn>(m, "fftn");
    bind_many<fft::ifftn>(m, "ifftn");
    bind_many<fft::rfftn>(m, "rfftn");
    bind_many<fft::irfftn>(m, "irfftn");
    bind_shift<fft::fftshift>(m, "fftshift");
    bind_shift<fft::ifftshift>(m, "ifftshift");
    m.def("fftfreq", [](std::int64_t n, double d, Given type) {
        return object_of(fft::fftfreq(n, d, dtype(type).value_or(DType::float32)));
    });
    m.def("rfftfreq", [](std::int64_t n, double d, Given type) {
        return object_of(fft::rfftfreq(n, d, dtype(type).value_or(DType::float32)));
    });
}

}  // namespace

void bind_linear_algebra(nb::module_& module) {
    bind_linalg(module);
    bind_fft(module);
}

}  // namespace weft::python
