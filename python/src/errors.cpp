// weft's errors as Python's: each class has one of Python's own among its bases, so that `except ValueError` means what it says.
#include "object.h"

namespace weft::python {
namespace {

struct Kind {
    PyObject* type;
    bool (*matches)(const Error&);
};
std::vector<Kind>& kinds() {
    static auto* all = new std::vector<Kind>;
    return *all;
}

template <class E>
void declare(nb::module_& module, const char* name, nb::handle bases, const char* doc) {
    std::string full = std::string("weft.") + name;
    PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
    if (!type) throw nb::python_error();
    kinds().push_back({type, [](const Error& error) { return dynamic_cast<const E*>(&error) != nullptr; }});
    module.attr(name) = nb::handle(type);
}

void set_weft_error(const Error& error) noexcept {
    for (const Kind& kind : kinds())
        if (kind.matches(error)) return PyErr_SetString(kind.type, error.what());
    PyErr_SetString(PyExc_RuntimeError, error.what());
}

}  // namespace

void set_error() noexcept {
    try {
        throw;
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const Error& error) {
        set_weft_error(error);
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, "weft: the machine has no more memory");
    } catch (const nb::builtin_exception& error) {
        PyErr_SetString(PyExc_TypeError, error.what());
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "weft: an unknown error");
    }
}

void bind_errors(nb::module_& module) {
    nb::handle value(PyExc_ValueError), type(PyExc_TypeError), index(PyExc_IndexError);
    declare<ShapeError>(module, "ShapeError", value, "Sizes that do not fit together.");
    declare<DTypeError>(module, "DTypeError", type, "An element type that the operation does not take.");
    declare<AxisError>(module, "AxisError", nb::make_tuple(value, index), "An axis that the value does not have.");
    declare<IndexError>(module, "IndexError", index, "An index outside its axis.");
    declare<DeviceError>(module, "DeviceError", nb::handle(PyExc_RuntimeError), "A device that is not there, and why.");
    declare<CompileError>(module, "CompileError", nb::handle(PyExc_RuntimeError),
                          "A program that could not be compiled.");
    declare<OutOfMemory>(module, "OutOfMemory", nb::handle(PyExc_MemoryError), "Memory that the machine refused.");
    declare<NotDifferentiable>(module, "NotDifferentiable", nb::handle(PyExc_NotImplementedError),
                               "A derivative that does not exist, by name.");
    declare<FileError>(module, "FileError", nb::handle(PyExc_OSError),
                       "A file that is missing, cut short, or not what it says.");
    declare<ConfigError>(module, "ConfigError", value, "A description of an experiment that is wrong.");
    kinds().push_back(
        {PyExc_ValueError, [](const Error& error) { return dynamic_cast<const ValueError*>(&error) != nullptr; }});
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const Error& error) {
            set_weft_error(error);
        }
    });
}

}  // namespace weft::python
