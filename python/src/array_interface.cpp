// NumPy's array interface, version 3, both ways: a dict that says where numbers lie. What hands it over keeps the memory.

#include "exchange.h"

namespace weft::python {
namespace {

DType dtype_of(const std::string& typestr) {
    for (DType dtype : all_dtypes())
        if (dtype != DType::bfloat16 && typestr == typestr_of(dtype)) return dtype;
    throw DTypeError(
        text("asarray: elements of the type '", typestr, "' (of __array_interface__) are no numbers that weft knows"));
}

Dims numbers(nb::handle sequence) {
    Dims found;
    for (nb::handle number : sequence) found.push_back(integer(number, "asarray", "a number of __array_interface__"));
    return found;
}

Dims strides_of(const Dims& dims, DType dtype) {
    Dims strides(dims.size());
    auto step = static_cast<std::int64_t>(size_of(dtype));
    for (std::size_t i = dims.size(); i-- > 0; step *= dims[i]) strides[i] = step;
    return strides;
}

/// Where data of the interface begins, and what to do when it is no longer needed. The memory of a buffer must hold all of it.
struct Place {
    void* address;
    std::function<void()> release;
};
Place place_of(nb::handle object, const nb::dict& said, DType dtype, const Dims& dims, const Dims& strides) {
    nb::object data = said.contains("data") ? nb::object(said["data"]) : nb::none();
    if (nb::isinstance<nb::tuple>(data)) {
        auto held = std::make_shared<nb::object>(nb::borrow(object));
        auto address = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[nb::int_(0)]));
        return {address, with_gil([held] { held->reset(); })};
    }
    auto view = std::make_shared<Py_buffer>();
    if (PyObject_GetBuffer(data.is_none() ? object.ptr() : data.ptr(), view.get(), PyBUF_SIMPLE) != 0)
        throw nb::python_error();
    auto release = with_gil([view] { PyBuffer_Release(view.get()); });
    std::int64_t offset = said.contains("offset") ? integer(said["offset"], "asarray", "offset") : 0, low = offset,
                 high = offset;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (dims[i] > 0) (strides[i] < 0 ? low : high) += strides[i] * (dims[i] - 1);
    if (element_count(dims) > 0 && (low < 0 || high + static_cast<std::int64_t>(size_of(dtype)) > view->len)) {
        release();
        throw ValueError("asarray: __array_interface__ names places outside of its buffer");
    }
    return {static_cast<std::byte*>(view->buf) + offset, release};
}

}  // namespace

std::string typestr_of(DType dtype) {
    constexpr std::string_view letters = "biufc";
    std::string kind(1, letters[static_cast<std::size_t>(kind_of(dtype))]);
    return (size_of(dtype) == 1 ? "|" : "<") + kind + std::to_string(size_of(dtype));
}

Array from_array_interface(PyObject* object) {
    nb::object given = nb::handle(object).attr("__array_interface__");
    if (!nb::isinstance<nb::dict>(given)) throw DTypeError("asarray: __array_interface__ must be a dict");
    auto said = nb::borrow<nb::dict>(given);
    if (!said.contains("shape") || !said.contains("typestr"))
        throw ValueError("asarray: __array_interface__ must say its shape and its typestr");
    if (said.contains("mask") && !nb::object(said["mask"]).is_none())
        throw ValueError("asarray: masked arrays are not taken; fill them first");
    DType dtype = dtype_of(nb::cast<std::string>(nb::str(said["typestr"])));
    Dims dims = numbers(said["shape"]);
    for (std::int64_t size : dims)
        if (size < 0) throw ValueError(text("asarray: __array_interface__ says a negative size, ", size));
    bool strided = said.contains("strides") && !nb::object(said["strides"]).is_none();
    Dims strides = strided ? numbers(said["strides"]) : strides_of(dims, dtype);
    if (strides.size() != dims.size())
        throw ValueError(
            text("asarray: __array_interface__ says ", dims.size(), " sizes and ", strides.size(), " strides"));
    Place place = place_of(object, said, dtype, dims, strides);
    return array_over(place.address, dtype, dims, strides, place.release);
}

nb::dict to_array_interface(nb::handle object, nb::handle view) {
    const Tensor& x = tensor_in(object.ptr());
    Py_buffer shown;
    if (PyObject_GetBuffer(view.ptr(), &shown, PyBUF_FULL_RO) != 0) throw nb::python_error();
    nb::dict said;
    said["version"] = 3;
    said["typestr"] = typestr_of(x.dtype());
    said["shape"] = object.attr("shape");
    said["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(shown.buf), true);
    said["strides"] = PyBuffer_IsContiguous(&shown, 'C') ? nb::none() : nb::object(view.attr("strides"));
    PyBuffer_Release(&shown);
    return said;
}

}  // namespace weft::python
