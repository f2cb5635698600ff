// weft's operations as functions of Python objects. Elementwise ones come from the registry; those with options are bound one by one,
// with plain arguments: names, defaults and documentation are weft/*.py's.

#include <algorithm>
#include <cstring>
#include <numeric>

#include "bind.h"
#include "weft/graph/node.h"

namespace weft::python {
namespace {

void bind_plain(nb::module_& module) {
    module.def("clip_between", [](Given x, Given low, Given high) {
        Tensor given = tensor(x, "clip");
        auto bound = [&](Given object) { return operand(object, "clip"); };
        if (!low.is_none() && !high.is_none()) return object_of(clip(given, bound(low), bound(high)));
        if (!low.is_none()) return object_of(maximum(given, bound(low)));
        if (!high.is_none()) return object_of(minimum(given, bound(high)));
        return object_of(given);
    });
    module.def("broadcast_shapes", [](Given a, Given b) {
        Shape x = shape(a, "broadcast_shapes"), y = shape(b, "broadcast_shapes");
        std::optional<Shape> both = broadcast(x, y);
        if (!both) throw ShapeError(text("broadcast_shapes: ", x, " and ", y, " do not broadcast"));
        nb::list sizes;
        for (Size size : *both) sizes.append(size.value());
        return nb::tuple(sizes);
    });
    module.def("same", [](Given x) { return object_of(tensor(x, "copy")); });
    module.def("array_interface", [](Given x, Given view) { return to_array_interface(x, view); });
    module.def("bits_of_bfloat16", [](Given x) {
        Array bits = tensor(x, "bfloat16").array();
        bits.dtype = DType::uint16;
        return object_of(bits);
    });
    module.def("restored", [](nb::bytes bytes, const std::string& type, Given sizes) {
        Array array = Array::empty(dtype_named(type), dims_of(shape(sizes, "pickle")));
        if (array.bytes() != bytes.size()) throw ValueError("pickle: the numbers do not fill the shape");
        if (array.bytes() > 0) std::memcpy(array.address(), bytes.c_str(), array.bytes());
        return object_of(array);
    });
    module.def("astype", [](Given x, Given type) { return object_of(astype(operand(x, "astype"), *dtype(type))); });
}

/// For what asks for the numbers at once: computed while others may run.
Operand computed(Given x, const char* operation) {
    Operand given = placed(x, operation);
    if (!given.tensor.node()->symbolic) compute(given.tensor);
    return given;
}

using Reduce = Tensor (*)(const Operand&, const Axes&, bool);

template <Reduce f>
void bind_reduction(nb::module_& module, const char* name) {
    module.def(name, [name](Given x, Given axis, Given keepdims) {
        Operand given = placed(x, name);
        return object_of(f(given, joined_axes(axis, name, given.tensor.ndim()), truth(keepdims, name)));
    });
}

void bind_reductions(nb::module_& m) {
    bind_reduction<sum>(m, "sum");
    bind_reduction<prod>(m, "prod");
    bind_reduction<max>(m, "max");
    bind_reduction<min>(m, "min");
    bind_reduction<any>(m, "any");
    bind_reduction<all>(m, "all");
    bind_reduction<argmax>(m, "argmax");
    bind_reduction<argmin>(m, "argmin");
    bind_reduction<mean>(m, "mean");
    bind_reduction<logsumexp>(m, "logsumexp");
    m.def("var", [](Given x, Given axis, Given correction, Given keepdims) {
        Operand given = placed(x, "var");
        return object_of(var(given, joined_axes(axis, "var", given.tensor.ndim()), as_double(correction, "var"),
                             truth(keepdims, "var")));
    });
    m.def("std", [](Given x, Given axis, Given correction, Given keepdims) {
        Operand given = placed(x, "std");
        return object_of(standard_deviation(given, joined_axes(axis, "std", given.tensor.ndim()),
                                            as_double(correction, "std"), truth(keepdims, "std")));
    });
    m.def("softmax", [](Given x, Given axis) {
        return object_of(softmax(operand(x, "softmax"), integer(axis, "softmax", "axis")));
    });
    m.def("log_softmax", [](Given x, Given axis) {
        return object_of(log_softmax(operand(x, "log_softmax"), integer(axis, "log_softmax", "axis")));
    });
    m.def("running", [](Given x, Given axis, bool sums, bool include_initial) {
        const char* name = sums ? "cumulative_sum" : "cumulative_prod";
        Operand given = placed(x, name);
        if (axis.is_none() && given.tensor.ndim() != 1)
            throw ValueError(text(name, ": the array has ", given.tensor.ndim(), " axes; say which one, with axis="));
        std::int64_t along = axis.is_none() ? 0 : integer(axis, name, "axis");
        ScanOptions options{.include_initial = include_initial};
        return object_of(sums ? cumulative_sum(given, along, options) : cumulative_prod(given, along, options));
    });
    m.def("diff", [](Given x, std::int64_t axis, std::int64_t times, Given prepend, Given append) {
        std::vector<Tensor> parts;
        Tensor middle = tensor(x, "diff");
        auto end = [&](Given given) {
            Tensor part = tensor(given, "diff");
            if (part.ndim() == 0 && middle.ndim() > 0) {
                Shape one = middle.shape();
                one[static_cast<std::size_t>(normalize_axis(axis, one.size(), "diff"))] = 1;
                part = broadcast_to(part, one);
            }
            parts.push_back(part);
        };
        if (!prepend.is_none()) end(prepend);
        parts.push_back(middle);
        if (!append.is_none()) end(append);
        return object_of(diff(parts.size() == 1 ? middle : concatenate(parts, axis), axis, times));
    });
}

/// A plain number, or the only one of an array.
Literal number(nb::handle value, const char* operation) {
    Operand given = operand(value, operation);
    return given.weak() ? given.literal : given.tensor.literal();
}

/// The number of a diagonal: one beyond all sizes is as good as the largest.
std::int64_t diagonal_number(nb::handle object) {
    Py_ssize_t value = PyNumber_AsSsize_t(object.ptr(), nullptr);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return std::clamp<std::int64_t>(value, -(std::int64_t{1} << 62), std::int64_t{1} << 62);
}

void bind_creation(nb::module_& m) {
    m.def("asarray", [](Given object, Given type, std::optional<bool> copy) -> nb::object {
        std::optional<DType> wanted = dtype(type);
        auto converted = [&](const Tensor& x) {
            if (wanted && *wanted != x.dtype()) {
                if (copy == false)
                    throw ValueError(
                        text("asarray: another dtype than ", x.dtype(), " needs a copy, and copy=False forbids one"));
                return object_of(astype(x, *wanted));
            }
            return object_of(x);
        };
        if (is_tensor(object.ptr())) {
            nb::object same = converted(tensor_in(object.ptr()));
            return copy == false ? nb::borrow(object) : same;  // the same name, as NumPy gives
        }
        if (std::optional<Literal> number = literal_of(object.ptr())) {
            if (copy == false)
                throw ValueError("asarray: a number becomes an array by a copy, and copy=False forbids one");
            return object_of(from_lists(object.ptr(), wanted));
        }
        if (std::optional<Tensor> shown = imported(object.ptr(), copy)) return converted(*shown);
        if (std::optional<Operand> known = operand_of(object.ptr())) return converted(known->as_tensor());
        if (copy == false) throw ValueError("asarray: lists become an array by a copy, and copy=False forbids one");
        return object_of(from_lists(object.ptr(), wanted));
    });
    m.def("full", [](Given sizes, Given value, Given type) {
        Shape shape = python::shape(sizes, "full");
        std::optional<DType> wanted = dtype(type);
        if (std::optional<Literal> number = literal_of(value.ptr()))
            return object_of(full(shape, *number, wanted.value_or(default_dtype(number->kind))));
        Tensor x = tensor(value, "full");
        return object_of(broadcast_to(wanted ? astype(x, *wanted) : x, shape));
    });
    m.def("iota", [](std::int64_t n) { return object_of(iota(n)); });
    m.def("arange", [](Given start, Given stop, Given step, Given type) {
        return object_of(arange(number(start, "arange"), number(stop, "arange"), number(step, "arange"), dtype(type)));
    });
    m.def("linspace", [](Given start, Given stop, Given number_of, Given with_end, Given type) {
        std::int64_t count = integer(number_of, "linspace", "num");
        bool endpoint = truth(with_end, "linspace");
        Operand from = operand(start, "linspace"), to = operand(stop, "linspace");
        if (from.as_tensor().ndim() + to.as_tensor().ndim() > 0) {
            Tensor line = linspace(from, to, count, endpoint);
            std::optional<DType> asked = dtype(type);
            return object_of(asked ? astype(is_integer(*asked) ? floor(line) : line, *asked) : line);
        }
        Literal first = number(start, "linspace"), last = number(stop, "linspace");
        bool complex = first.kind == weft::Kind::complex || last.kind == weft::Kind::complex;
        DType wanted = dtype(type).value_or(complex ? DType::complex64 : DType::float32);
        if (!complex) return object_of(linspace(first.as<double>(), last.as<double>(), count, wanted, endpoint));
        auto a = first.as<std::complex<double>>(), b = last.as<std::complex<double>>();
        auto part = [&](double from, double to) { return linspace(from, to, count, DType::float64, endpoint); };
        return object_of(
            astype(part(a.real(), b.real()) + part(a.imag(), b.imag()) * Operand(std::complex<double>(0, 1)), wanted));
    });
    m.def("meshgrid", [](Given vectors, const std::string& indexing) {
        if (indexing != "xy" && indexing != "ij")
            throw ValueError("meshgrid: indexing is 'xy' or 'ij', not '" + indexing + "'");
        return list_of(meshgrid(tensors(vectors, "meshgrid"), indexing == "ij"));
    });
    m.def("eye", [](std::int64_t rows, std::int64_t columns, Given diagonal, Given type) {
        return object_of(eye(rows, columns, diagonal_number(diagonal), dtype(type).value_or(DType::float32)));
    });
    m.def("tril", [](Given x, Given k) { return object_of(tril(operand(x, "tril"), diagonal_number(k))); });
    m.def("triu", [](Given x, Given k) { return object_of(triu(operand(x, "triu"), diagonal_number(k))); });
    m.def("one_hot", [](Given labels, std::int64_t classes, Given type) {
        return object_of(one_hot(operand(labels, "one_hot"), classes, dtype(type).value_or(DType::float32)));
    });
}

void bind_views(nb::module_& m) {
    m.def("reshape", [](Given x, Given sizes) {
        Shape shape;
        for (std::int64_t size : integers(sizes, "reshape", "a size")) shape.push_back(size);
        return object_of(reshape(placed(x, "reshape"), shape));
    });
    m.def("flatten", [](Given x, std::int64_t first, std::int64_t last) {
        return object_of(flatten(placed(x, "flatten"), first, last));
    });
    m.def("permute_dims", [](Given x, Given order) {
        Operand given = placed(x, "permute_dims");
        if (order.is_none()) return object_of(permute_dims(given));
        return object_of(permute_dims(given, axes(order, "permute_dims", {})));
    });
    m.def("broadcast_to", [](Given x, Given sizes) {
        return object_of(broadcast_to(operand(x, "broadcast_to"), shape(sizes, "broadcast_to")));
    });
    m.def("flip", [](Given x, Given axis) {
        Operand given = placed(x, "flip");
        return object_of(flip(given, joined_axes(axis, "flip", given.tensor.ndim())));
    });
    m.def("expand_dims", [](Given x, Given axis) {
        return object_of(expand_dims(placed(x, "expand_dims"), axes(axis, "expand_dims", {})));
    });
    m.def("squeeze", [](Given x, Given axis) {
        Operand given = placed(x, "squeeze");
        if (axis.is_none()) return object_of(squeeze(given));
        return object_of(squeeze(given, axes(axis, "squeeze", {})));
    });
    m.def("swapaxes",
          [](Given x, std::int64_t a, std::int64_t b) { return object_of(swapaxes(placed(x, "swapaxes"), a, b)); });
    m.def("moveaxis", [](Given x, Given from, Given to) {
        return object_of(moveaxis(placed(x, "moveaxis"), axes(from, "moveaxis", {}), axes(to, "moveaxis", {})));
    });
    m.def("matrix_transpose", [](Given x) { return object_of(matrix_transpose(placed(x, "matrix_transpose"))); });
    m.def("diagonal", [](Given x, std::int64_t offset, std::int64_t a, std::int64_t b) {
        return object_of(diagonal(placed(x, "diagonal"), offset, a, b));
    });
    m.def("trace", [](Given x, std::int64_t offset, std::int64_t a, std::int64_t b) {
        return object_of(trace(placed(x, "trace"), offset, a, b));
    });
    m.def("roll", [](Given x, Given shift, Given axis) {
        Operand given = placed(x, "roll");
        Dims shifts = integers(shift, "roll", "the shift");
        if (!axis.is_none()) return object_of(roll(given, shifts, axes(axis, "roll", {})));
        return object_of(roll(given, std::accumulate(shifts.begin(), shifts.end(), std::int64_t{0})));
    });
    m.def("repeat", [](Given x, Given count, Given axis) {
        Operand given = placed(x, "repeat");
        if (axis.is_none()) given = Operand(ravel(given), given.where);
        std::int64_t along = axis.is_none() ? 0 : integer(axis, "repeat", "axis");
        if (PyLong_Check(count.ptr())) return object_of(repeat(given, integer(count, "repeat", "the count"), along));
        return object_of(repeat(given, tensor(count, "repeat"), along));
    });
    m.def("unstack",
          [](Given x, std::int64_t axis) { return nb::tuple(list_of(unstack(placed(x, "unstack"), axis))); });
    m.def("tile", [](Given x, Given repetitions) {
        return object_of(tile(placed(x, "tile"), integers(repetitions, "tile", "a count")));
    });
    m.def("concat", [](Given parts, Given axis) {
        std::vector<Tensor> list = tensors(parts, "concat");
        if (!axis.is_none()) return object_of(concatenate(list, integer(axis, "concat", "axis"), here()));
        for (Tensor& part : list) part = ravel(part);
        return object_of(concatenate(list, 0, here()));
    });
    m.def("stack",
          [](Given parts, std::int64_t axis) { return object_of(stack(tensors(parts, "stack"), axis, here())); });
    m.def("pad", [](Given x, Given before, Given after, Given value) {
        std::optional<Literal> number = literal_of(value.ptr());
        if (!number) number = tensor(value, "pad").literal();
        return object_of(
            pad(placed(x, "pad"), integers(before, "pad", "a width"), integers(after, "pad", "a width"), *number));
    });
}

void bind_products(nb::module_& m) {
    m.def("matmul", [](Given a, Given b, Given precision) {
        Operand x = operand(a, "matmul"), y = operand(b, "matmul");
        std::optional<MatmulPrecision> asked = matmul_precision(precision);
        return object_of(asked ? matmul(x, y, *asked) : matmul(x, y));
    });
    m.def("tensordot", [](Given a, Given b, Given axes_a, Given axes_b) {
        return object_of(tensordot(operand(a, "tensordot"), operand(b, "tensordot"), axes(axes_a, "tensordot", {}),
                                   axes(axes_b, "tensordot", {})));
    });
    m.def("tensordot", [](Given a, Given b, std::int64_t axes) {
        return object_of(tensordot(operand(a, "tensordot"), operand(b, "tensordot"), axes));
    });
    m.def("outer", [](Given a, Given b) { return object_of(outer(operand(a, "outer"), operand(b, "outer"))); });
    m.def("einsum", [](const std::string& subscripts, Given operands) {
        return object_of(einsum(subscripts, tensors(operands, "einsum"), here()));
    });
}

void bind_places(nb::module_& m) {
    m.def("take", [](Given x, Given indices, std::int64_t axis) {
        return object_of(take(placed(x, "take"), placed(indices, "take"), axis));
    });
    m.def("take_along_axis", [](Given x, Given indices, std::int64_t axis) {
        return object_of(take_along_axis(placed(x, "take_along_axis"), placed(indices, "take_along_axis"), axis));
    });
    m.def("put_along_axis", [](Given x, Given indices, Given values, std::int64_t axis) {
        return object_of(put_along_axis(placed(x, "put_along_axis"), placed(indices, "put_along_axis"),
                                        operand(values, "put_along_axis"), axis));
    });
    m.def("argsort", [](Given x, Given axis, Given descending) {
        return object_of(argsort(placed(x, "argsort"), integer(axis, "argsort", "axis"), truth(descending, "argsort")));
    });
    m.def("sort", [](Given x, Given axis, Given descending) {
        return object_of(sort(placed(x, "sort"), integer(axis, "sort", "axis"), truth(descending, "sort")));
    });
    m.def("topk", [](Given x, Given k, Given axis, Given largest) {
        auto [values, places] =
            topk(placed(x, "topk"), integer(k, "topk", "k"), integer(axis, "topk", "axis"), truth(largest, "topk"));
        return nb::make_tuple(object_of(values), object_of(places));
    });
    m.def("searchsorted", [](Given sorted, Given values, bool right) {
        return object_of(searchsorted(placed(sorted, "searchsorted"), operand(values, "searchsorted"), right));
    });
    m.def("unique", [](Given x, bool equal_nan) {
        Operand given = computed(x, "unique");
        Unique found = unique(given, UniqueOptions{equal_nan});
        return nb::make_tuple(object_of(found.values), object_of(found.indices), object_of(found.inverse),
                              object_of(found.counts));
    });
    m.def("unique_values", [](Given x, bool equal_nan) {
        return object_of(unique_values(computed(x, "unique"), UniqueOptions{equal_nan}));
    });
    m.def("nonzero", [](Given x) {
        nb::list list;
        for (const Tensor& places : nonzero(computed(x, "nonzero"))) list.append(object_of(places));
        return nb::tuple(list);
    });
}

}  // namespace

void bind_operations(nb::module_& module) {
    bind_elementwise(module);
    bind_plain(module);
    bind_reductions(module);
    bind_creation(module);
    bind_views(module);
    bind_products(module);
    bind_places(module);
    module.def("eval", [](Given list) {
        std::vector<Tensor> all = tensors(list, "eval");
        without_gil([&] { eval(all); });
    });
    module.def("from_dlpack",
               [](Given object, std::optional<bool> copy) { return object_of(from_dlpack(object, copy)); });
    module.def("to_dlpack", [](Given x, Given max_version, Given device, std::optional<bool> copy) {
        return to_dlpack(tensor(x, "__dlpack__"), max_version, device, copy);
    });
}

}  // namespace weft::python
