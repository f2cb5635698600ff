// x[...] and x[...] = v: Python's keys as weft's indices (ops/indexing.h).
#include "object.h"

namespace weft::python {
namespace {

/// A bound of a slice, written where it stays: what is copied as a whole just after it was written in parts makes the processor wait.
void read_bound(PyObject* object, std::optional<std::int64_t>& bound) {
    if (object == Py_None) return;
    if (!PyIndex_Check(object))
        throw DTypeError(
            text("index: a slice's bounds and step are integers or None, not '", Py_TYPE(object)->tp_name, "'"));
    Py_ssize_t value = PyNumber_AsSsize_t(object, nullptr);  // clipped to what a size can be
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    bound.emplace(value);
}

Index index_of_slice(PyObject* key) {
    auto* parts = reinterpret_cast<PySliceObject*>(key);
    Index index(Slice{});
    Slice& slice = std::get<Slice>(index.value);
    read_bound(parts->start, slice.start);
    read_bound(parts->stop, slice.stop);
    if (parts->step == Py_None) return index;
    std::optional<std::int64_t> step;
    read_bound(parts->step, step);
    if (step == 0) throw ValueError("index: a slice's step is 0; one element after the other is 1, backwards -1");
    slice.step = *step;
    return index;
}

/// What no size reaches is an IndexError, as what this size does not reach.
std::int64_t place_of(PyObject* key) {
    Py_ssize_t value = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
}

Index unplaced_index_of(PyObject* key) {
    if (key == Py_None) return newaxis;
    if (key == Py_Ellipsis) return ellipsis;
    if (PySlice_Check(key)) return index_of_slice(key);
    if (PyBool_Check(key)) return Tensor(key == Py_True);
    if (is_tensor(key)) return tensor_in(key);
    if (PyLong_Check(key)) return place_of(key);
    if (PyList_Check(key) || PyTuple_Check(key)) {
        if (PySequence_Size(key) == 0) return zeros({0}, DType::int64);
        return from_lists(key, {});
    }
    if (std::optional<Tensor> shown = imported(key, {})) return *shown;
    if (PyIndex_Check(key)) return place_of(key);
    PyErr_Format(PyExc_IndexError,
                 "only integers, slices, '...', None, and integer or boolean arrays are indices, not '%s'",
                 Py_TYPE(key)->tp_name);
    throw nb::python_error();
}

Index index_of(PyObject* key) {
    Index index = unplaced_index_of(key);
    index.where = here();
    return index;
}

std::vector<Index> indices_of(PyObject* key) {
    std::vector<Index> list;
    if (!PyTuple_Check(key)) {
        list.push_back(index_of(key));
        return list;
    }
    list.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(key)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) list.push_back(index_of(PyTuple_GET_ITEM(key, i)));
    return list;
}

}  // namespace

PyObject* get_item(PyObject* object, PyObject* key) noexcept {
    return guarded([&] {
        if (PyTuple_Check(key)) return wrap(index(tensor_in(object), indices_of(key)));
        Index one = index_of(key);  // of most keys: no list
        return wrap(index(tensor_in(object), {&one, 1}));
    });
}

int set_item(PyObject* object, PyObject* key, PyObject* value) noexcept {
    PyObject* done = guarded([&]() -> PyObject* {
        if (!value) throw DTypeError("elements of an array cannot be deleted");
        Tensor& x = tensor_in(object);
        x = At(x, indices_of(key)).set(operand(value, "x[...] = value"));
        return Py_None;
    });
    return done ? 0 : -1;
}

}  // namespace weft::python
