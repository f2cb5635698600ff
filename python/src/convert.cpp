// Python's values as weft's: numbers, lists, sizes, axes. What shows its memory is exchange.cpp's.

#include "bind.h"

namespace weft::python {
namespace {

[[noreturn]] void refuse(nb::handle object, const char* operation, const char* wanted) {
    throw DTypeError(text(operation, ": ", wanted, " is wanted, not '", Py_TYPE(object.ptr())->tp_name, "'"));
}

std::int64_t as_integer(PyObject* object) {
    std::int64_t value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
}

bool is_sequence(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object); }

/// One integer, or a sequence of them.
/// What the Python function that calls has named it: functions of the package hand on what they were given.
std::string name_of_argument(nb::handle object, const char* otherwise) {
    if (PyObject* locals = PyEval_GetLocals())
        for (auto [name, value] : nb::borrow<nb::dict>(locals))
            if (value.is(object)) return nb::cast<std::string>(name);
    return otherwise;
}

/// `what` it is; null: what the calling function has named the whole argument, `otherwise` where it has none of it.
std::int64_t integer_of(nb::handle object, const char* operation, const char* what, nb::handle argument,
                        const char* otherwise = "an argument") {
    if (PyIndex_Check(object.ptr())) {
        nb::object number = nb::steal(PyNumber_Index(object.ptr()));
        if (!number.is_valid()) throw nb::python_error();
        return as_integer(number.ptr());
    }
    std::string name = what ? what : name_of_argument(argument, otherwise);
    throw DTypeError(text(operation, ": ", name, object.is(argument) ? " is an integer" : " holds integers", ", not '",
                          Py_TYPE(object.ptr())->tp_name, "'"));
}

template <class List>
List integer_list(nb::handle object, const char* operation, const char* what) {
    List list;
    if (!is_sequence(object.ptr()) && !(PySequence_Check(object.ptr()) && !is_tensor(object.ptr()) &&
                                        !PyIndex_Check(object.ptr()) && !PyUnicode_Check(object.ptr()))) {
        list.push_back(integer_of(object, operation, what, object, "axis"));
        return list;
    }
    nb::object items = nb::steal(PySequence_Tuple(object.ptr()));
    if (!items.is_valid()) throw nb::python_error();
    for (nb::handle item : nb::borrow<nb::tuple>(items))
        list.push_back(integer_of(item, operation, what, object, "axis"));
    return list;
}

// Nested lists -------------------------------------------------------------------------------------------------------------------------

struct Nested {
    Dims dims;
    std::vector<Literal> numbers;
    bool tensors = false;  // among the leaves are tensors
};

void measure(PyObject* object, std::size_t depth, Nested& nested) {
    if (depth > 64) throw ValueError("asarray: lists are nested more than 64 deep");
    if (!is_sequence(object)) {
        std::optional<Literal> literal = literal_of(object);
        if (!literal) {
            nested.tensors = true;  // or nothing that is known: found when it is converted
            return;
        }
        if (nested.dims.size() != depth)
            throw ValueError("asarray: the lists are not all of one length, so they make no array");
        nested.numbers.push_back(*literal);
        return;
    }
    nb::object items = nb::steal(PySequence_Fast(object, ""));
    if (!items.is_valid()) throw nb::python_error();
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
    if (nested.dims.size() == depth && nested.numbers.empty())
        nested.dims.push_back(count);
    else if (nested.dims.size() <= depth || nested.dims[depth] != count)
        throw ValueError("asarray: the lists are not all of one length, so they make no array");
    for (Py_ssize_t i = 0; i < count && !nested.tensors; ++i)
        measure(PySequence_Fast_GET_ITEM(items.ptr(), i), depth + 1, nested);
}

DType common_dtype(const std::vector<Literal>& numbers) {
    Kind kind = Kind::boolean;
    bool unsigned_wanted = false;
    for (const Literal& number : numbers) {
        kind = std::max(kind, number.kind == Kind::unsigned_integer ? Kind::signed_integer : number.kind);
        unsigned_wanted |= number.kind == Kind::unsigned_integer;
    }
    if (numbers.empty()) return DType::float32;
    if (kind == Kind::signed_integer && unsigned_wanted) return DType::uint64;
    return default_dtype(kind);
}

void refuse_number(const Literal& number, DType dtype) {
    if (!is_integer(dtype)) return;
    bool fits = with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            if (number.kind == Kind::floating || number.kind == Kind::complex) return true;
            if (number.kind == Kind::unsigned_integer)
                return std::in_range<T>(static_cast<std::uint64_t>(number.integer));
            return std::in_range<T>(number.integer);
        }
        return true;
    });
    if (!fits) throw ValueError(text("asarray: the number ", number, " does not fit into ", dtype));
}

}  // namespace

std::optional<Literal> literal_of(PyObject* object) {
    if (PyBool_Check(object)) return Literal(object == Py_True);
    if (PyFloat_CheckExact(object)) return Literal(PyFloat_AS_DOUBLE(object));
    if (PyLong_CheckExact(object)) {
        int beyond = 0;
        long long value = PyLong_AsLongLongAndOverflow(object, &beyond);
        if (beyond == 0) return Literal(static_cast<std::int64_t>(value));
        unsigned long long large = beyond > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
        if (beyond < 0 || PyErr_Occurred()) {
            PyErr_Clear();
            PyErr_SetString(PyExc_OverflowError, "the integer does not fit into 64 bits");
            throw nb::python_error();
        }
        return Literal(static_cast<std::uint64_t>(large));
    }
    if (PyComplex_CheckExact(object)) {
        Py_complex value = PyComplex_AsCComplex(object);
        return Literal(std::complex<double>(value.real, value.imag));
    }
    return {};
}

std::optional<Operand> operand_of(PyObject* object) {
    if (is_tensor(object)) return Operand(tensor_in(object), here());
    if (std::optional<Literal> literal = literal_of(object)) {
        Operand number(0, here());
        number.literal = *literal;
        return number;
    }
    Parameter* parameter = nullptr;
    if (object != Py_None && nb::try_cast(nb::handle(object), parameter)) return Operand(*parameter, here());
    if (std::optional<Tensor> shown = imported(object, {})) return Operand(*shown, here());
    if (PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object)) {  // a subclass: an IntEnum
        nb::object plain = nb::steal(PyLong_Check(object)    ? PyNumber_Long(object)
                                     : PyFloat_Check(object) ? PyNumber_Float(object)
                                                             : PyObject_CallOneArg((PyObject*)&PyComplex_Type, object));
        if (!plain.is_valid()) throw nb::python_error();
        return operand_of(plain.ptr());
    }
    return {};
}

Operand operand(nb::handle object, const char* operation) {
    if (std::optional<Operand> known = operand_of(object.ptr())) return std::move(*known);
    if (is_sequence(object.ptr())) return Operand(from_lists(object.ptr(), {}), here());
    refuse(object, operation, "an array or a number");
}

Tensor tensor(nb::handle object, const char* operation) {
    if (is_tensor(object.ptr())) return tensor_in(object.ptr());
    return operand(object, operation).as_tensor();
}

Operand placed(nb::handle object, const char* operation) { return Operand(tensor(object, operation), here()); }

nb::list list_of(const std::vector<Tensor>& tensors) {
    nb::list list;
    for (const Tensor& tensor : tensors) list.append(object_of(tensor));
    return list;
}

std::vector<Tensor> tensors(nb::handle sequence, const char* operation) {
    std::vector<Tensor> list;
    if (is_tensor(sequence.ptr())) {
        nb::object rows = nb::steal(PySequence_List(sequence.ptr()));
        if (!rows.is_valid()) throw nb::python_error();
        return tensors(rows, operation);
    }
    nb::object items = nb::steal(PySequence_Tuple(sequence.ptr()));
    if (!items.is_valid()) {
        PyErr_Clear();
        refuse(sequence, operation, "a sequence of arrays");
    }
    for (nb::handle item : nb::borrow<nb::tuple>(items)) list.push_back(tensor(item, operation));
    return list;
}

bool truth(nb::handle object, const char* operation) {
    bool plain = PyBool_Check(object.ptr()) || PyIndex_Check(object.ptr()) ||
                 (PyNumber_Check(object.ptr()) && !is_tensor(object.ptr()));
    int value = plain ? PyObject_IsTrue(object.ptr()) : -1;
    if (value >= 0) return value != 0;
    if (PyErr_Occurred()) throw nb::python_error();
    throw DTypeError(text(operation, ": ", name_of_argument(object, "a choice"), " is True or False, not '",
                          Py_TYPE(object.ptr())->tp_name, "'"));
}

Axes joined_axes(nb::handle axis, const char* operation, std::size_t ndim) {
    Axes along = axes(axis, operation, all_axes(ndim));
    if (ndim == 0 && along.size() == 1 && (along[0] == 0 || along[0] == -1)) along.clear();
    return along;
}

double as_double(nb::handle object, const char* operation) {
    PyNumberMethods* number = Py_TYPE(object.ptr())->tp_as_number;
    if (number && (number->nb_float || number->nb_index)) {
        double value = PyFloat_AsDouble(object.ptr());
        if (value == -1 && PyErr_Occurred()) throw nb::python_error();
        return value;
    }
    throw DTypeError(text(operation, ": ", name_of_argument(object, "an argument"), " is a number, not '",
                          Py_TYPE(object.ptr())->tp_name, "'"));
}

std::int64_t integer(nb::handle object, const char* operation, const char* what) {
    return integer_of(object, operation, what, object);
}

Axes axes(nb::handle object, const char* operation, const Axes& otherwise) {
    if (object.is_none()) return otherwise;
    return integer_list<Axes>(object, operation, nullptr);
}

Dims integers(nb::handle object, const char* operation, const char* what) {
    return integer_list<Dims>(object, operation, what);
}

Shape shape(nb::handle object, const char* operation) {
    Shape sizes;
    auto add = [&](nb::handle item) {
        if (PyUnicode_Check(item.ptr())) return sizes.push_back(Size::symbol(nb::cast<std::string_view>(item)));
        std::int64_t size = integer(item, operation, "a size");
        if (size < 0) throw ShapeError(text(operation, ": a size is negative: ", size));
        sizes.push_back(size);
    };
    if (PyIndex_Check(object.ptr()) || PyUnicode_Check(object.ptr())) {
        add(object);
        return sizes;
    }
    nb::object items = nb::steal(PySequence_Tuple(object.ptr()));
    if (!items.is_valid()) {
        PyErr_Clear();
        refuse(object, operation, "a shape (a tuple of integers)");
    }
    for (nb::handle item : nb::borrow<nb::tuple>(items)) add(item);
    return sizes;
}

Tensor from_lists(PyObject* object, std::optional<DType> wanted) {
    Nested nested;
    measure(object, 0, nested);
    if (nested.tensors) {
        if (!is_sequence(object))
            throw DTypeError(text("asarray: a value of type '", Py_TYPE(object)->tp_name, "' is no number"));
        std::vector<Tensor> parts;
        nb::object items = nb::steal(PySequence_Tuple(object));
        for (nb::handle item : nb::borrow<nb::tuple>(items)) {
            std::optional<Operand> known = operand_of(item.ptr());
            parts.push_back(known ? known->as_tensor() : from_lists(item.ptr(), {}));
        }
        Tensor all = stack(parts);
        return wanted && *wanted != all.dtype() ? astype(all, *wanted) : all;
    }
    // Lists that end early, as [[], []], have sizes down to the first empty one alone.
    DType dtype = wanted.value_or(common_dtype(nested.numbers));
    if (element_count(nested.dims) != static_cast<std::int64_t>(nested.numbers.size()))
        throw ValueError("asarray: the lists are not all of one length, so they make no array");
    for (const Literal& number : nested.numbers) refuse_number(number, dtype);
    Array array = Array::empty(dtype, nested.dims);
    with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        T* to = array.data<T>();
        for (const Literal& number : nested.numbers) *to++ = number.as<T>();
    });
    return Tensor(std::move(array));
}

}  // namespace weft::python
