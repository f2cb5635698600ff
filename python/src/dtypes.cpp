// Element types as Python objects: one an entry of core/dtype.h, compared by identity, found from NumPy's and Python's types and from names.
#include <nanobind/operators.h>

#include "object.h"

namespace weft::python {
namespace {

struct Named {
    DType dtype;
};

std::array<PyObject*, dtype_count> objects{};

std::optional<DType> named(std::string_view name) {
    for (DType dtype : all_dtypes())
        if (name_of(dtype) == name) return dtype;
    return {};
}

std::optional<DType> numpys(nb::handle object) {
    // np.dtype("float32").name, np.float32.__name__
    for (const char* attribute : {"name", "__name__"}) {
        nb::object name = nb::steal(PyObject_GetAttrString(object.ptr(), attribute));
        if (!name.is_valid()) {
            PyErr_Clear();
            continue;
        }
        if (!PyUnicode_Check(name.ptr())) continue;
        std::string text = nb::cast<std::string>(name);
        if (!text.empty() && text.back() == '_') text.pop_back();
        if (auto found = named(text)) return found;
    }
    return {};
}

}  // namespace

std::optional<DType> dtype(nb::handle object) {
    if (object.is_none()) return {};
    Named* known = nullptr;
    if (nb::try_cast(object, known)) return known->dtype;
    PyObject* type = object.ptr();
    if (type == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::bool_;
    if (type == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::int64;
    if (type == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::float32;
    if (type == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::complex64;
    if (PyUnicode_Check(type)) return dtype_named(nb::cast<std::string>(object));
    if (auto found = numpys(object)) return found;
    // An array in a type's place is shown by its first line alone.
    std::string shown = nb::cast<std::string>(nb::repr(object));
    if (auto end = shown.find('\n'); end != std::string::npos) shown = shown.substr(0, end) + " ...";
    throw DTypeError(
        text(shown, " is not an element type; say weft.float32, NumPy's type, or a name such as 'float32'"));
}

std::optional<MatmulPrecision> matmul_precision(nb::handle object) {
    if (object.is_none()) return {};
    if (PyUnicode_Check(object.ptr())) return MatmulPrecision(std::string_view(nb::cast<std::string>(object)));
    return MatmulPrecision(*dtype(object));
}

nb::object dtype_object(DType dtype) { return nb::borrow(objects[static_cast<std::size_t>(dtype)]); }

void bind_dtypes(nb::module_& module) {
    nb::class_<Named>(
        module, "DType",
        "The type of a tensor's elements, such as weft.float32. NumPy's types and names are taken in its place.\n\n"
        ">>> wf.float32\n"
        "weft.float32\n"
        ">>> wf.float32.name, wf.float32.itemsize, wf.float32.kind\n"
        "('float32', 4, 'f')\n"
        ">>> wf.ones(2).dtype == np.float32, wf.zeros(1, dtype=\"int8\").dtype\n"
        "(True, weft.int8)\n")
        .def("__repr__", [](const Named& self) { return text("weft.", self.dtype); })
        .def("__str__", [](const Named& self) { return text("weft.", self.dtype); })
        .def("__hash__", [](const Named& self) { return static_cast<std::int64_t>(self.dtype) + 9176; })
        .def(
            "__eq__",
            [](const Named& self, nb::handle other) {
                if (other.is_none()) return false;
                Named* known = nullptr;
                if (nb::try_cast(other, known)) return known->dtype == self.dtype;
                std::optional<DType> found =
                    PyUnicode_Check(other.ptr()) ? named(nb::cast<std::string>(other)) : numpys(other);
                return found && *found == self.dtype;
            },
            nb::arg("other").none())
        .def("__reduce__",
             [](const Named& self) {
                 nb::object find = nb::module_::import_("weft._pickle").attr("dtype_named");
                 return nb::make_tuple(find, nb::make_tuple(std::string(name_of(self.dtype))));
             })
        .def_prop_ro(
            "name", [](const Named& self) { return std::string(name_of(self.dtype)); }, "NumPy's name: 'float32'.")
        .def_prop_ro(
            "itemsize", [](const Named& self) { return size_of(self.dtype); }, "Bytes an element.")
        .def_prop_ro(
            "kind",
            [](const Named& self) {
                switch (kind_of(self.dtype)) {
                    case Kind::boolean:
                        return "b";
                    case Kind::signed_integer:
                        return "i";
                    case Kind::unsigned_integer:
                        return "u";
                    case Kind::floating:
                        return "f";
                    case Kind::complex:
                        break;
                }
                return "c";
            },
            "'b', 'i', 'u', 'f' or 'c', as NumPy's.");
    for (DType dtype : all_dtypes()) {
        nb::object object = nb::cast(Named{dtype});
        std::string name(dtype == DType::bool_ ? "bool_" : name_of(dtype));
        objects[static_cast<std::size_t>(dtype)] = object.inc_ref().ptr();
        module.attr(name.c_str()) = object;
    }
    module.def("dtype_named", [](const std::string& name) { return dtype_object(dtype_named(name)); });
    module.def("as_dtype", [](Given object) { return dtype_object(dtype(object).value_or(DType::float32)); });
    module.def("promote", [](nb::handle a, nb::handle b) { return dtype_object(promote(*dtype(a), *dtype(b))); });
    module.def("promote_weak", [](nb::handle a, nb::handle number) {
        std::optional<Literal> literal = literal_of(number.ptr());
        if (!literal) throw DTypeError("promotion takes arrays, element types and plain numbers");
        return dtype_object(promote_weak(*dtype(a), literal->kind));
    });
}

}  // namespace weft::python
