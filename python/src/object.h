// What the binding's sources share: the Python object that holds a Tensor, and how Python's values become weft's.
// The object is written against Python's C interface, for it is made and dropped a million times a second; functions around it are
// nanobind's. Everything here may throw weft's errors and nanobind's python_error; slots of types catch them with guarded().
#pragma once

#include <nanobind/nanobind.h>
// How values of standard types pass: all of it for every source. One that did not see a caster would make another function of the same
// name, and which of the two a program has is the linker's choice.
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "weft/weft.h"

namespace weft::python {

namespace nb = nanobind;

/// `weft.Tensor`: a name for a value. Writing to a part of it (x[i] = v) gives the name a new value.
struct Object {
    PyObject_HEAD;
    Tensor tensor;
    PyObject* weak_references;
};

extern PyTypeObject* tensor_type;
inline bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline Tensor& tensor_in(PyObject* object) { return reinterpret_cast<Object*>(object)->tensor; }
/// A new reference.
PyObject* wrap(Tensor tensor);
inline nb::object object_of(Tensor tensor) { return nb::steal(wrap(std::move(tensor))); }
nb::list list_of(const std::vector<Tensor>& tensors);

/// An argument as it was given, None included: what it means is the function's to say.
struct Given : nb::handle {
    Given(nb::handle object = {}) : nb::handle(object) {}
};

/// The user's line that is being run, for errors and profiles; empty where Python has none.
std::source_location here();

/// Sets Python's error from the exception that is being handled.
void set_error() noexcept;
/// Runs f, whose errors become Python's; null then.
template <class F>
PyObject* guarded(F&& f) noexcept {
    try {
        return f();
    } catch (...) {
        set_error();
        return nullptr;
    }
}

/// Lets other Python threads run meanwhile.
template <class F>
auto without_gil(F&& f) {
    nb::gil_scoped_release released;
    return f();
}

/// Computes a tensor; other Python threads run meanwhile, unless it is done sooner than they could begin.
void compute(const Tensor& x);

// What users hand over ------------------------------------------------------------------------------------------------------------------

/// A Tensor, a Parameter, a plain number (weak), or anything that shows its memory (NumPy's arrays, DLPack); else nothing.
std::optional<Operand> operand_of(PyObject* object);
/// The same, and lists of numbers; TypeError that names the operation.
Operand operand(nb::handle object, const char* operation);
/// The same as a Tensor: plain numbers take the default type of their kind.
Tensor tensor(nb::handle object, const char* operation);
/// The same with the user's line.
Operand placed(nb::handle object, const char* operation);
std::vector<Tensor> tensors(nb::handle sequence, const char* operation);
/// None: nothing.
std::optional<Literal> literal_of(PyObject* object);
/// `what` it is, in errors; else the name that the calling Python function has for it.
std::int64_t integer(nb::handle object, const char* operation, const char* what = nullptr);
/// None: `otherwise`; a number or a sequence of numbers.
Axes axes(nb::handle object, const char* operation, const Axes& otherwise);
/// A number or a sequence of sizes; negative ones are refused.
Shape shape(nb::handle object, const char* operation);
Dims integers(nb::handle object, const char* operation, const char* what);
/// weft's, NumPy's, Python's types, names; None: nothing.
std::optional<DType> dtype(nb::handle object);
/// A name ("bfloat16x6") or an element type; none for None. ValueError for others.
std::optional<MatmulPrecision> matmul_precision(nb::handle object);
nb::object dtype_object(DType dtype);

// The parts of the module --------------------------------------------------------------------------------------------------------------

void bind_dtypes(nb::module_& module);
void bind_errors(nb::module_& module);
void bind_tensor(nb::module_& module);
void bind_elementwise(nb::module_& module);
void bind_operations(nb::module_& module);
void bind_linear_algebra(nb::module_& module);
void bind_transforms(nb::module_& module);
void bind_declared(nb::module_& module);
void bind_random(nb::module_& module);
void bind_special(nb::module_& module);
void bind_numpy(nb::module_& module);
void bind_records(nb::module_& module);
void bind_tools(nb::module_& module);
void bind_optim(nb::module_& module);
void bind_experiment(nb::module_& module);
void bind_search(nb::module_& module);
/// Before anything else: late_libraries.cpp.
void open_libraries_late();
void bind_functional(nb::module_& module);  ///< weft._core.nn, with the two below
void bind_losses(nb::module_& module);
void bind_layers(nb::module_& module);

// Exchange (exchange.cpp) ------------------------------------------------------------------------------------------------------------

/// What shows its memory by the buffer protocol, __array_interface__ or DLPack. `copy`: always, never (ValueError if one is needed), or
/// what keeps the value safe from later writes of its owner (nothing said).
std::optional<Tensor> imported(PyObject* object, std::optional<bool> copy);
/// Nested lists of numbers (and of tensors), of this type or the one that holds them all.
Tensor from_lists(PyObject* object, std::optional<DType> dtype);
int get_buffer(PyObject* object, Py_buffer* view, int flags) noexcept;
void release_buffer(PyObject* object, Py_buffer* view) noexcept;
/// The array interface of a tensor whose memory `view` (a memoryview of it) shows and keeps.
nb::dict to_array_interface(nb::handle tensor, nb::handle view);
nb::object to_dlpack(const Tensor& tensor, nb::handle max_version, nb::handle device, std::optional<bool> copy);
Tensor from_dlpack(nb::handle object, std::optional<bool> copy);
nb::object to_lists(const Tensor& tensor);
nb::object scalar_object(const Literal& literal);

// Indexing (subscript.cpp) -----------------------------------------------------------------------------------------------------------

PyObject* get_item(PyObject* object, PyObject* key) noexcept;
int set_item(PyObject* object, PyObject* key, PyObject* value) noexcept;

}  // namespace weft::python

namespace nanobind::detail {

template <>
struct type_caster<weft::python::Given> {
    NB_TYPE_CASTER(weft::python::Given, const_name("object"))
    bool from_python(handle given, std::uint32_t, cleanup_list*) noexcept {
        value = given;
        return true;
    }
    static handle from_cpp(const weft::python::Given& given, rv_policy, cleanup_list*) noexcept {
        return given.inc_ref();
    }
};
template <>
struct has_arg_defaults<weft::python::Given> : std::true_type {};

}  // namespace nanobind::detail
