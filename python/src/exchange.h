// What the buffer protocol, the array interface and DLPack share: arrays over memory that others own. Callers: exchange.cpp, dlpack.cpp,
// array_interface.cpp.
#pragma once

#include <functional>

#include "object.h"

namespace weft::python {

/// An Array over memory that somebody else owns, who is told by `release`. Strides are in bytes; where they are no multiple of an element,
/// or addresses are not those of whole elements, the numbers are copied.
Array array_over(void* data, DType dtype, const Dims& dims, const Dims& strides, std::function<void()> release);
Array copied(const Array& array);
/// The array that an object's __array_interface__ describes; ValueError or DTypeError for one that describes none.
Array from_array_interface(PyObject* object);
/// NumPy's name of a type's layout: "<f4".
std::string typestr_of(DType dtype);
/// Whether the object's type has an attribute: what an instance's __getattr__ invents does not count.
bool has(PyObject* object, const char* name);

/// Runs with the GIL, from whatever thread lets go of the memory last; nothing once Python has ended.
template <class F>
std::function<void()> with_gil(F release) {
    return [release] {
        if (!Py_IsInitialized()) return;
        PyGILState_STATE state = PyGILState_Ensure();
        release();
        PyGILState_Release(state);
    };
}

[[noreturn]] inline void buffer_error(const char* message) {
    PyErr_SetString(PyExc_BufferError, message);
    throw nb::python_error();
}

}  // namespace weft::python
