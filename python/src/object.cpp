// The type weft.Tensor: operators, attributes, conversion to Python's numbers. Methods that have options are Python's (weft/_methods.py).
#include "object.h"

#include <structmember.h>

#include <array>

#include "weft/graph/node.h"

namespace weft::python {

PyTypeObject* tensor_type = nullptr;

namespace {

// Objects that were dropped wait here: as many tensors live and die in an expression as it has operators. Guarded by the GIL.
constexpr std::size_t most_waiting = 64;
std::array<Object*, most_waiting> waiting;
std::size_t waiting_count = 0;

void dealloc(PyObject* object) {
    auto* self = reinterpret_cast<Object*>(object);
    if (self->weak_references) PyObject_ClearWeakRefs(object);
    self->tensor.~Tensor();
    if (waiting_count < most_waiting) {
        waiting[waiting_count++] = self;
        return;
    }
    PyTypeObject* type = Py_TYPE(object);
    PyObject_Free(self);
    Py_DECREF(type);
}

// Operators ------------------------------------------------------------------------------------------------------------------------------

template <class F>
PyObject* with_operands(PyObject* a, PyObject* b, F f) {
    std::optional<Operand> x = operand_of(a), y;
    if (x) y = operand_of(b);
    if (!x || !y) Py_RETURN_NOTIMPLEMENTED;
    return wrap(f(*x, *y));
}

/// An elementwise operation. Two tensors need nothing of what plain numbers do, and hand their counts on.
template <const Operation& operation>
PyObject* binary(PyObject* a, PyObject* b) noexcept {
    return guarded([&]() -> PyObject* {
        if (!is_tensor(a) || !is_tensor(b))
            return with_operands(a, b, [](const Operand& x, const Operand& y) { return apply(operation, x, y); });
        std::array<Tensor, 2> operands{tensor_in(a), tensor_in(b)};
        return wrap(take_node(operation, operands, nullptr, here()));
    });
}

template <const Operation& operation>
PyObject* unary(PyObject* a) noexcept {
    return guarded([&] {
        std::array<Tensor, 1> operands{tensor_in(a)};
        return wrap(take_node(operation, operands, nullptr, here()));
    });
}

PyObject* matrix_product(PyObject* a, PyObject* b) noexcept {
    return guarded([&]() -> PyObject* {
        if (!is_tensor(a) || !is_tensor(b))
            return with_operands(a, b, [](const Operand& x, const Operand& y) { return matmul(x, y); });
        std::source_location where = here();
        return wrap(matmul({tensor_in(a), where}, {tensor_in(b), where}));
    });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) noexcept {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return binary<pow_operation>(a, b);
}

PyObject* compare(PyObject* a, PyObject* b, int kind) noexcept {
    switch (kind) {
        case Py_EQ:
            return binary<equal_operation>(a, b);
        case Py_NE:
            return binary<not_equal_operation>(a, b);
        case Py_LT:
            return binary<less_operation>(a, b);
        case Py_LE:
            return binary<less_equal_operation>(a, b);
        case Py_GT:
            return binary<greater_operation>(a, b);
        default:
            return binary<greater_equal_operation>(a, b);
    }
}

/// The number of a 0-d tensor.
Literal number(PyObject* object, const char* as) {
    const Tensor& x = tensor_in(object);
    if (x.ndim() != 0)
        throw DTypeError(text("only a tensor without axes becomes ", as, "; this one has the shape ", x.shape(),
                              ": use item() or tolist()"));
    compute(x);
    return x.literal();
}

int is_true(PyObject* object) noexcept {
    try {
        const Tensor& x = tensor_in(object);
        if (!(x.size() == Size(1)))
            throw ValueError(
                text("the truth value of a tensor of shape ", x.shape(), " is ambiguous: use any() or all()"));
        compute(x);
        return x.literal().as<bool>();
    } catch (...) {
        set_error();
        return -1;
    }
}

PyObject* as_int(PyObject* object) noexcept {
    return guarded([&] {
        Literal literal = number(object, "an int");
        if (literal.kind == weft::Kind::complex) throw DTypeError("a complex number does not become an int");
        if (literal.kind == weft::Kind::floating) return PyLong_FromDouble(literal.real);
        return PyNumber_Long(scalar_object(literal).ptr());
    });
}

PyObject* as_float(PyObject* object) noexcept {
    return guarded([&] {
        Literal literal = number(object, "a float");
        if (literal.kind == weft::Kind::complex) throw DTypeError("a complex number does not become a float");
        return PyFloat_FromDouble(literal.as<double>());
    });
}

PyObject* as_index(PyObject* object) noexcept {
    return guarded([&] {
        const Tensor& x = tensor_in(object);
        if (x.ndim() != 0 || !is_integer(x.dtype())) throw DTypeError("only integer tensors without axes are indices");
        compute(x);
        return scalar_object(x.literal()).release().ptr();
    });
}

Py_ssize_t length(PyObject* object) noexcept {
    try {
        const Tensor& x = tensor_in(object);
        if (x.ndim() == 0) throw DTypeError("a tensor without axes has no len()");
        return static_cast<Py_ssize_t>(x.shape()[0].value());
    } catch (...) {
        set_error();
        return -1;
    }
}

PyObject* iterate(PyObject* object) noexcept {
    return guarded([&]() -> PyObject* {
        const Tensor& x = tensor_in(object);
        if (x.ndim() == 0) throw DTypeError("a tensor without axes is not iterated over");
        nb::list rows;
        Index first[1] = {0};
        for (std::int64_t i = 0, count = x.shape()[0].value(); i < count; ++i) {
            first[0].value = i;
            rows.append(object_of(index(x, first)));
        }
        return PyObject_GetIter(rows.ptr());
    });
}

int contains(PyObject* object, PyObject* value) noexcept {
    try {
        Tensor found = any(equal(tensor_in(object), operand(value, "in")));
        compute(found);
        return found.item<bool>();
    } catch (...) {
        set_error();
        return -1;
    }
}

// Attributes -----------------------------------------------------------------------------------------------------------------------------

PyObject* size_object(Size size) {
    if (size.known()) return PyLong_FromLongLong(size.value());
    return PyUnicode_FromString(size.str().c_str());
}

PyObject* get_shape(PyObject* object, void*) noexcept {
    return guarded([&] {
        const Shape& shape = tensor_in(object).shape();
        PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
        if (!tuple) throw nb::python_error();
        for (std::size_t i = 0; i < shape.size(); ++i)
            PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), size_object(shape[i]));
        return tuple;
    });
}
PyObject* get_dtype(PyObject* object, void*) noexcept {
    return guarded([&] { return dtype_object(tensor_in(object).dtype()).release().ptr(); });
}
PyObject* get_ndim(PyObject* object, void*) noexcept { return PyLong_FromSize_t(tensor_in(object).ndim()); }
PyObject* get_size(PyObject* object, void*) noexcept {
    return guarded([&] { return size_object(tensor_in(object).size()); });
}
PyObject* get_transposed(PyObject* object, void*) noexcept {
    return guarded([&] { return wrap(tensor_in(object).T()); });
}
PyObject* get_matrix_transposed(PyObject* object, void*) noexcept {
    return guarded([&] { return wrap(matrix_transpose(tensor_in(object))); });
}
PyObject* get_real(PyObject* object, void*) noexcept {
    return guarded([&] { return wrap(real(tensor_in(object))); });
}
PyObject* get_imag(PyObject* object, void*) noexcept {
    return guarded([&] { return wrap(imag(tensor_in(object))); });
}
PyObject* get_itemsize(PyObject* object, void*) noexcept {
    return PyLong_FromSize_t(size_of(tensor_in(object).dtype()));
}
PyObject* get_nbytes(PyObject* object, void*) noexcept {
    return guarded([&] {
        const Tensor& x = tensor_in(object);
        return PyLong_FromLongLong(x.size().value() * static_cast<std::int64_t>(size_of(x.dtype())));
    });
}
PyObject* get_computed(PyObject* object, void*) noexcept { return PyBool_FromLong(tensor_in(object).computed()); }

PyGetSetDef attributes_of_tensor[] = {
    {"shape", get_shape, nullptr, "The sizes of the axes: a tuple of ints (of names, where a size is not known yet).",
     nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of axes.", nullptr},
    {"size", get_size, nullptr, "The number of elements.", nullptr},
    {"T", get_transposed, nullptr, "The axes reversed.", nullptr},
    {"mT", get_matrix_transposed, nullptr, "The last two axes swapped.", nullptr},
    {"real", get_real, nullptr, "The real part.", nullptr},
    {"imag", get_imag, nullptr, "The imaginary part.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes an element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"computed", get_computed, nullptr, "Whether the numbers are there, or wait to be asked for.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// Methods without options ------------------------------------------------------------------------------------------------------------------

PyObject* number_of(const Tensor& x) {
    compute(x);
    return scalar_object(x.literal()).release().ptr();
}

PyObject* item(PyObject* object, PyObject* const* arguments, Py_ssize_t count) noexcept {
    return guarded([&]() -> PyObject* {
        if (count == 0) return number_of(tensor_in(object));
        Tensor x = tensor_in(object);
        Axes at;
        for (Py_ssize_t i = 0; i < count; ++i) {
            if (count == 1 && PyTuple_Check(arguments[0]))
                at = axes(arguments[0], "item", {});
            else
                at.push_back(integer(arguments[i], "item", "an index"));
        }
        // One number counts the elements row after row, as NumPy's does.
        if (at.size() == 1) x = reshape(x, {-1});
        return number_of(index(x, std::vector<Index>(at.begin(), at.end())));
    });
}
PyObject* tolist(PyObject* object, PyObject*) noexcept {
    return guarded([&] { return to_lists(tensor_in(object)).release().ptr(); });
}
PyObject* eval_method(PyObject* object, PyObject*) noexcept {
    return guarded([&] {
        compute(tensor_in(object));
        return Py_NewRef(object);
    });
}

PyMethodDef methods[] = {{"item", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(item)), METH_FASTCALL,
                          "The only element, or the one at the given indices, as a Python number."},
                         {"tolist", tolist, METH_NOARGS, "The elements as nested lists of Python numbers."},
                         {"eval", eval_method, METH_NOARGS, "Computes the numbers now; returns the tensor itself."},
                         {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(Object, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

template <class F>
void* slot(F f) {
    return reinterpret_cast<void*>(f);
}

PyObject* repr_slot(PyObject* object) noexcept {
    return guarded([&] {
        compute(tensor_in(object));
        std::string shown = repr(tensor_in(object));
        return PyUnicode_FromStringAndSize(shown.data(), static_cast<Py_ssize_t>(shown.size()));
    });
}
PyObject* str_slot(PyObject* object) noexcept {
    return guarded([&] {
        compute(tensor_in(object));
        std::string shown = str(tensor_in(object));
        return PyUnicode_FromStringAndSize(shown.data(), static_cast<Py_ssize_t>(shown.size()));
    });
}

/// What is declared may be a key (givens={x: ...}), for it has no numbers to be equal to; arrays may not, as NumPy's.
Py_hash_t hash_slot(PyObject* object) noexcept {
    const Node* node = tensor_in(object).node();
    if (!node->symbolic) return PyObject_HashNotImplemented(object);
    return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(node) >> 4);
}

PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) noexcept {
    PyErr_SetString(PyExc_TypeError,
                    "weft.Tensor makes no arrays itself: wf.array(values) does, and wf.zeros(shape) and its like");
    return nullptr;
}

}  // namespace

void compute(const Tensor& x) {
    constexpr std::int64_t small = 4096;  // elements
    if (x.computed()) return;
    const Shape& shape = x.shape();
    bool soon = shape.size() <= 4 && x.node()->pending_bytes <= 8 * small;
    std::int64_t count = 1;
    for (Size size : shape) soon = soon && size.known() && (count *= size.value()) <= small;
    try {
        if (soon)
            x.eval();
        else
            without_gil([&] { x.eval(); });
    } catch (Error& error) {
        if (std::string_view(error.what()).find("\n  at ") == std::string_view::npos) error.add(place(here()));
        throw;
    }
}

PyObject* wrap(Tensor tensor) {
    Object* self;
    if (waiting_count > 0) {
        self = waiting[--waiting_count];
        Py_SET_REFCNT(reinterpret_cast<PyObject*>(self), 1);
    } else {
        self = reinterpret_cast<Object*>(PyObject_Malloc(sizeof(Object)));
        if (!self) throw std::bad_alloc();
        PyObject_Init(reinterpret_cast<PyObject*>(self), tensor_type);
    }
    new (&self->tensor) Tensor(std::move(tensor));
    self->weak_references = nullptr;
    return reinterpret_cast<PyObject*>(self);
}

void bind_tensor(nb::module_& module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>(
                        "An n-dimensional array of numbers, or the expression that will give them.\n\n"
                        "Operations are noted and computed when numbers are asked for: by printing, item(), numpy(),\n"
                        "float(), weft.eval(). A value never changes; x[i] = v gives the name x a new one.\n\n"
                        ">>> x = wf.asarray([[1., 2.], [3., 4.]])\n"
                        ">>> y = x.T @ x + 1\n"
                        ">>> y.shape, y.dtype, y.computed\n"
                        "((2, 2), weft.float32, False)\n"
                        ">>> y[0].tolist(), y.computed\n"
                        "([11.0, 15.0], False)\n"
                        ">>> y\n"
                        "array([[11., 15.],\n"
                        "       [15., 21.]], dtype=float32)\n"
                        ">>> row = x[0]\n"
                        ">>> x[0] = 0\n"
                        ">>> x.tolist(), row.tolist()\n"
                        "([[0.0, 0.0], [3.0, 4.0]], [1.0, 2.0])\n")},
        {Py_tp_new, slot(refuse_new)},
        {Py_tp_dealloc, slot(dealloc)},
        {Py_tp_repr, slot(repr_slot)},
        {Py_tp_str, slot(str_slot)},
        {Py_tp_richcompare, slot(compare)},
        {Py_tp_hash, slot(hash_slot)},
        {Py_tp_iter, slot(iterate)},
        {Py_tp_getset, attributes_of_tensor},
        {Py_tp_methods, methods},
        {Py_tp_members, members},
        {Py_nb_add, slot(binary<add_operation>)},
        {Py_nb_subtract, slot(binary<subtract_operation>)},
        {Py_nb_multiply, slot(binary<multiply_operation>)},
        {Py_nb_true_divide, slot(binary<divide_operation>)},
        {Py_nb_floor_divide, slot(binary<floor_divide_operation>)},
        {Py_nb_remainder, slot(binary<remainder_operation>)},
        {Py_nb_power, slot(power)},
        {Py_nb_matrix_multiply, slot(matrix_product)},
        {Py_nb_and, slot(binary<bitwise_and_operation>)},
        {Py_nb_or, slot(binary<bitwise_or_operation>)},
        {Py_nb_xor, slot(binary<bitwise_xor_operation>)},
        {Py_nb_lshift, slot(binary<bitwise_left_shift_operation>)},
        {Py_nb_rshift, slot(binary<bitwise_right_shift_operation>)},
        {Py_nb_negative, slot(unary<negative_operation>)},
        {Py_nb_positive, slot(unary<positive_operation>)},
        {Py_nb_absolute, slot(unary<abs_operation>)},
        {Py_nb_invert, slot(unary<bitwise_invert_operation>)},
        {Py_nb_bool, slot(is_true)},
        {Py_nb_int, slot(as_int)},
        {Py_nb_float, slot(as_float)},
        {Py_nb_index, slot(as_index)},
        {Py_mp_subscript, slot(get_item)},
        {Py_mp_ass_subscript, slot(set_item)},
        {Py_mp_length, slot(length)},
        {Py_sq_contains, slot(contains)},
        {Py_bf_getbuffer, slot(get_buffer)},
        {Py_bf_releasebuffer, slot(release_buffer)},
        {0, nullptr}};
    PyType_Spec spec{"weft.Tensor", sizeof(Object), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (!type) throw nb::python_error();
    tensor_type = reinterpret_cast<PyTypeObject*>(type);
    module.attr("Tensor") = nb::handle(type);
}

}  // namespace weft::python
