// NumPy's functions beyond the standard (ops/: nan, quantile, histogram, pad_modes, signal, polynomial, rearrange, pointwise, sets).

#include "bind.h"

namespace weft::python {
namespace {

using Pairwise = Tensor (*)(const Operand&, const Operand&);

void bind_statistics(nb::module_& m) {
    bind_along(m, "nansum", nansum);
    bind_along(m, "nanprod", nanprod);
    bind_along(m, "nanmax", nanmax);
    bind_along(m, "nanmin", nanmin);
    bind_along(m, "nanargmax", nanargmax, true);
    bind_along(m, "nanargmin", nanargmin, true);
    bind_along(m, "nanmean", nanmean);
    bind_along(m, "nanvar", nanvar);
    bind_along(m, "nanstd", nanstd);
    bind(m, "nancumsum", nancumsum);
    bind(m, "nancumprod", nancumprod);
    bind(m, "kept", kept);
    bind_along(m, "masked_mean", masked_mean);
    bind_along(m, "masked_var", masked_var);
    bind_along(m, "max_from", max_from);
    bind_along(m, "min_from", min_from);
    bind_along(m, "ptp", ptp);
    bind_along(m, "average", average);
    m.def("signed_logsumexp", [](Given x, Given axis, Given weights, Given keep) {
        bool keepdims = truth(keep, "logsumexp");
        Operand given = placed(x, "logsumexp"), factor = placed(weights, "logsumexp");
        std::size_t ndim = std::max(given.as_tensor().ndim(), factor.as_tensor().ndim());
        SignedLog found = logsumexp(given, axes(axis, "logsumexp", all_axes(ndim)), factor, keepdims);
        return nb::make_tuple(object_of(found.log), object_of(found.sign));
    });
    bind(m, "corrcoef", corrcoef);
    m.def("nan_to_num", [](Given x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
        return object_of(nan_to_num(placed(x, "nan_to_num"), {nan, posinf, neginf}));
    });
    m.def("cov", [](Given x, bool rows, double correction, Given frequencies, Given reliabilities) {
        Call call{"cov"};
        Operand given = placed(x, "cov");
        return object_of(cov(given, {rows, correction, Taken<Tensor>::convert(frequencies, call),
                                     Taken<Tensor>::convert(reliabilities, call)}));
    });
    m.def("quantile", [](Given x, Given q, Given axis, const std::string& method, Given keep, bool ignore_nan,
                         bool percent) {
        const char* name = percent ? "percentile" : "quantile";
        bool keepdims = truth(keep, name);
        Operand given = placed(x, name);
        Axes along = axes(axis, name, all_axes(given.as_tensor().ndim()));
        // Plain numbers are shares in double precision: 0.3 is not float32's.
        Operand share = PyList_Check(q.ptr()) || PyTuple_Check(q.ptr()) ? Operand(from_lists(q.ptr(), DType::float64))
                                                                        : operand(q, name);
        if (!share.weak() && !share.tensor.node()->symbolic) compute(share.tensor);
        QuantileOptions options{quantile_method_named(method), keepdims, ignore_nan};
        return object_of(percent ? percentile(given, share, along, options) : quantile(given, share, along, options));
    });
}

HistogramOptions histogram_options(std::optional<std::pair<double, double>> range, Given weights, bool density) {
    Call call{"histogram"};
    return {range, Taken<Tensor>::convert(weights, call), density};
}

/// Edges from a number of bins, a rule's name, or themselves.
Tensor edges_of(const Operand& x, nb::handle bins, const HistogramOptions& options) {
    if (PyUnicode_Check(bins.ptr())) return histogram_bin_edges(x, nb::cast<std::string>(bins), options);
    if (PyIndex_Check(bins.ptr()) && !is_tensor(bins.ptr()))
        return histogram_bin_edges(x, integer(bins, "histogram", "the number of bins"), options);
    return tensor(bins, "histogram");
}

Operand computed_operand(nb::handle x, const char* name) {
    Call call{name, true};
    return Taken<Operand>::convert(Given(x), call);
}

void bind_counting(nb::module_& m) {
    using Range = std::optional<std::pair<double, double>>;
    bind_computing(m, "bincount", bincount);
    bind_computing(m, "digitize", digitize);
    m.def("histogram_bin_edges", [](Given x, Given bins, Range range, Given weights) {
        return object_of(
            edges_of(computed_operand(x, "histogram_bin_edges"), bins, histogram_options(range, weights, false)));
    });
    m.def("histogram", [](Given x, Given bins, Range range, Given weights, bool density) {
        Operand given = computed_operand(x, "histogram");
        HistogramOptions options = histogram_options(range, weights, density);
        return returned(histogram(given, Operand(edges_of(given, bins, options), given.where), options));
    });
    m.def("histogramdd", [](Given sample, Given edges, Given weights, bool density) {
        Operand given = computed_operand(sample, "histogramdd");
        return object_of(histogramdd(given, tensors(edges, "histogramdd"), histogram_options({}, weights, density)));
    });
    bind(m, "isin", isin);
    bind_computing(m, "union1d", union1d);
    bind_computing(m, "intersect1d", intersect1d);
    bind_computing(m, "setdiff1d", setdiff1d);
    bind_computing(m, "setxor1d", setxor1d);
    bind(m, "lexsort", lexsort);
    m.def("unique_along", [](Given x, Given axis) {
        Unique found = unique(computed_operand(x, "unique"), integer(axis, "unique", "axis"));
        return nb::make_tuple(object_of(found.values), object_of(found.indices), object_of(found.inverse),
                              object_of(found.counts));
    });
}

void bind_signal(nb::module_& m) {
    m.def("convolve", [](Given a, Given v, const std::string& mode) {
        return object_of(convolve(placed(a, "convolve"), placed(v, "convolve"), overlap_named(mode)));
    });
    m.def("correlate", [](Given a, Given v, const std::string& mode) {
        return object_of(correlate(placed(a, "correlate"), placed(v, "correlate"), overlap_named(mode)));
    });
    m.def("interp", [](Given x, Given xp, Given fp, std::optional<double> left, std::optional<double> right,
                       std::optional<double> period) {
        return object_of(
            interp(placed(x, "interp"), placed(xp, "interp"), placed(fp, "interp"), {left, right, period}));
    });
    bind(m, "trapezoid", static_cast<Tensor (*)(const Operand&, double, std::int64_t)>(trapezoid));
    bind(m, "trapezoid_at", static_cast<Tensor (*)(const Operand&, const Operand&, std::int64_t)>(trapezoid));
    m.def("differences", [](Given f, Given spacing, Given axis, int edge_order) {
        return object_of(differences(placed(f, "gradient"), placed(spacing, "gradient"),
                                     integer(axis, "gradient", "axis"), edge_order));
    });
    bind(m, "unwrap", unwrap);
    bind(m, "bartlett", bartlett);
    bind(m, "blackman", blackman);
    bind(m, "hanning", hanning);
    bind(m, "hamming", hamming);
    bind(m, "kaiser", kaiser);
    m.def("pad_mode", [](Given x, Given before, Given after, const std::string& mode,
                         const std::vector<std::pair<double, double>>& values,
                         const std::vector<std::pair<std::int64_t, std::int64_t>>& lengths, bool odd) {
        return object_of(pad(placed(x, "pad"), integers(before, "pad", "a width"), integers(after, "pad", "a width"),
                             pad_mode_named(mode), {values, lengths, odd}));
    });
    bind(m, "polyval", polyval);
    bind(m, "polyadd", polyadd);
    bind(m, "polysub", polysub);
    bind(m, "polymul", polymul);
    bind(m, "polydiv", polydiv);
    bind(m, "polyder", polyder);
    bind(m, "polyint", polyint);
    bind(m, "polyfit", polyfit);
    bind(m, "poly", poly);
    bind_computing(m, "roots", roots);
    bind(m, "vander", vander);
}

Outside outside_named(const std::string& mode, const char* operation) {
    if (mode == "raise") return Outside::raise;
    if (mode == "wrap") return Outside::wrap;
    if (mode == "clip") return Outside::clip;
    throw ValueError(text(operation, ": mode is 'raise', 'wrap' or 'clip', not '", mode, "'"));
}

void bind_arrangement(nb::module_& m) {
    bind(m, "hstack", hstack);
    bind(m, "vstack", vstack);
    bind(m, "dstack", dstack);
    bind(m, "column_stack", column_stack);
    bind(m, "atleast_1d", atleast_1d);
    bind(m, "atleast_2d", atleast_2d);
    bind(m, "atleast_3d", atleast_3d);
    bind(m, "array_split", array_split);
    bind(m, "split", static_cast<std::vector<Tensor> (*)(const Operand&, std::int64_t, std::int64_t)>(split));
    bind(m, "split_at", static_cast<std::vector<Tensor> (*)(const Operand&, const Dims&, std::int64_t)>(split));
    bind(m, "rot90", rot90);
    bind(m, "remove", remove);
    bind(m, "insert", insert);
    bind(m, "diag", diag);
    bind(m, "diagflat", diagflat);
    bind(m, "fill_diagonal", fill_diagonal);
    bind(m, "resize", resize);
    bind(m, "tri", tri);
    bind(m, "indices", indices);
    bind(m, "tril_indices", tril_indices);
    bind(m, "triu_indices", triu_indices);
    bind_computing(m, "unravel_index", unravel_index);
    m.def("ravel_multi_index", [](Given list, Given shape, const std::string& mode, bool columns) {
        return object_of(ravel_multi_index(tensors(list, "ravel_multi_index"),
                                           integers(shape, "ravel_multi_index", "a size"),
                                           outside_named(mode, "ravel_multi_index"), columns));
    });
    m.def("choose", [](Given which, Given options, const std::string& mode) {
        return object_of(
            choose(computed_operand(which, "choose"), tensors(options, "choose"), outside_named(mode, "choose")));
    });
    bind(m, "select",
         static_cast<Tensor (*)(std::span<const Tensor>, std::span<const Tensor>, const Operand&)>(select));
}

void bind_pointwise(nb::module_& m) {
    m.def("isclose", [](Given a, Given b, Given rtol, Given atol, Given equal_nan) {
        return object_of(
            isclose(operand(a, "isclose"), operand(b, "isclose"),
                    {as_double(rtol, "isclose"), as_double(atol, "isclose"), truth(equal_nan, "isclose")}));
    });
    bind(m, "heaviside", heaviside);
    bind(m, "round_to", static_cast<Tensor (*)(const Operand&, std::int64_t)>(round));
    bind(m, "float_power", float_power);
    bind(m, "divmod", divmod);
    bind(m, "modf", static_cast<std::pair<Tensor, Tensor> (*)(const Operand&)>(modf));
    bind(m, "ldexp", static_cast<Pairwise>(ldexp));
    bind(m, "angle", angle);
    bind(m, "isposinf", isposinf);
    bind(m, "isneginf", isneginf);
    bind(m, "isreal", isreal);
    bind(m, "iscomplex", iscomplex);
    bind(m, "bitwise_count", bitwise_count);
    bind(m, "gcd", static_cast<Pairwise>(gcd));
    bind(m, "lcm", static_cast<Pairwise>(lcm));
    bind(m, "logaddexp2", logaddexp2);
    bind(m, "frexp", static_cast<std::pair<Tensor, Tensor> (*)(const Operand&)>(frexp));
    bind(m, "dot", dot);
    bind(m, "inner", inner);
    bind(m, "vdot", vdot);
    bind(m, "matvec", matvec);
    bind(m, "vecmat", vecmat);
}

}  // namespace

void bind_numpy(nb::module_& module) {
    bind_statistics(module);
    bind_counting(module);
    bind_signal(module);
    bind_arrangement(module);
    bind_pointwise(module);
}

}  // namespace weft::python
