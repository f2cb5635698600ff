// Memory shared with others by the buffer protocol; lists and numbers out of it. DLPack is dlpack.cpp's.
#include "exchange.h"

#include <cstring>

namespace weft::python {
namespace {

// What a buffer's format says --------------------------------------------------------------------------------------------------------------

DType integer_dtype(bool is_signed, std::size_t bytes) {
    switch (bytes) {
        case 1:
            return is_signed ? DType::int8 : DType::uint8;
        case 2:
            return is_signed ? DType::int16 : DType::uint16;
        case 4:
            return is_signed ? DType::int32 : DType::uint32;
        default:
            return is_signed ? DType::int64 : DType::uint64;
    }
}

std::optional<DType> dtype_of_format(std::string_view format, std::size_t bytes) {
    if (format.empty()) return DType::uint8;
    if (format[0] == '>' || format[0] == '!')
        throw DTypeError(
            "asarray: the numbers are big-endian; convert them first, with astype(x.dtype.newbyteorder('='))");
    if (format[0] == '@' || format[0] == '=' || format[0] == '<') format.remove_prefix(1);
    if (format == "Zf") return DType::complex64;
    if (format == "Zd") return DType::complex128;
    if (format.size() != 1) return {};
    switch (format[0]) {
        case '?':
            return DType::bool_;
        case 'e':
            return DType::float16;
        case 'f':
            return DType::float32;
        case 'd':
            return DType::float64;
        case 'F':
            return DType::complex64;
        case 'D':
            return DType::complex128;
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q':
        case 'n':
            return integer_dtype(true, bytes);
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q':
        case 'N':
            return integer_dtype(false, bytes);
        default:
            return {};
    }
}

const char* format_of(DType dtype) {
    switch (dtype) {
        case DType::bool_:
            return "?";
        case DType::int8:
            return "b";
        case DType::int16:
            return "h";
        case DType::int32:
            return "i";
        case DType::int64:
            return "q";
        case DType::uint8:
            return "B";
        case DType::uint16:
            return "H";
        case DType::uint32:
            return "I";
        case DType::uint64:
            return "Q";
        case DType::float16:
            return "e";
        case DType::float32:
            return "f";
        case DType::float64:
            return "d";
        case DType::complex64:
            return "Zf";
        case DType::complex128:
            return "Zd";
        case DType::bfloat16:
            break;
    }
    return nullptr;
}

std::optional<Array> from_buffer(PyObject* object) {
    auto view = std::make_shared<Py_buffer>();
    if (PyObject_GetBuffer(object, view.get(), PyBUF_RECORDS_RO) != 0) {
        PyErr_Clear();
        return {};
    }
    auto release = with_gil([view] { PyBuffer_Release(view.get()); });
    std::optional<DType> dtype;
    try {
        dtype = dtype_of_format(view->format ? view->format : "B", static_cast<std::size_t>(view->itemsize));
        if (dtype && size_of(*dtype) != static_cast<std::size_t>(view->itemsize)) dtype.reset();
        if (!dtype)
            throw DTypeError(text("asarray: elements of the format '", view->format ? view->format : "",
                                  "' are no numbers that weft knows"));
    } catch (...) {
        release();
        throw;
    }
    Dims dims, strides;
    for (int i = 0; i < view->ndim; ++i) dims.push_back(view->shape[i]), strides.push_back(view->strides[i]);
    return array_over(view->buf, *dtype, dims, strides, release);
}

/// ml_dtypes' bfloat16, which the buffer protocol does not know: through a view as uint16.
std::optional<Array> from_bfloat16(PyObject* object) {
    nb::handle array(object);
    if (!nb::hasattr(array, "dtype") || !nb::hasattr(array, "view")) return {};
    nb::object name = nb::getattr(array.attr("dtype"), "name", nb::none());
    if (!nb::isinstance<nb::str>(name) || nb::cast<std::string>(name) != "bfloat16") return {};
    nb::object view = array.attr("view")("uint16");
    std::optional<Array> bits = from_buffer(view.ptr());
    if (bits) bits->dtype = DType::bfloat16;
    return bits;
}

}  // namespace

/// An Array over memory that somebody else owns. Strides are in bytes; where they are no multiple of an element, or addresses are not
/// those of whole elements, the numbers are copied.
Array array_over(void* data, DType dtype, const Dims& dims, const Dims& strides, std::function<void()> release) {
    auto element = static_cast<std::int64_t>(size_of(dtype));
    bool whole = reinterpret_cast<std::uintptr_t>(data) % std::min<std::size_t>(size_of(dtype), alignof(double)) == 0;
    std::int64_t low = 0, high = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] > 0) (strides[i] < 0 ? low : high) += strides[i] * (dims[i] - 1);
        if (dims[i] > 1) whole &= strides[i] % element == 0;
    }
    Array array{dtype, dims, Dims(dims.size()), 0, nullptr};
    if (element_count(dims) == 0 || !data) {
        release();
        return Array::empty(dtype, dims);
    }
    if (whole) {
        for (std::size_t i = 0; i < dims.size(); ++i) array.strides[i] = dims[i] > 1 ? strides[i] / element : 0;
        array.offset = -low / element;
        auto bytes = static_cast<std::size_t>(high - low + element);
        array.buffer = Buffer::wrap(static_cast<std::byte*>(data) + low, bytes, std::move(release));
        return array;
    }
    Array copy = Array::empty(dtype, dims);
    auto* to = static_cast<std::byte*>(copy.address());
    Dims at(dims.size());
    for (std::int64_t n = element_count(dims); n > 0; --n, to += element) {
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < dims.size(); ++i) offset += at[i] * strides[i];
        std::memcpy(to, static_cast<std::byte*>(data) + offset, static_cast<std::size_t>(element));
        for (std::size_t i = dims.size(); i-- > 0;) {
            if (++at[i] < dims[i]) break;
            at[i] = 0;
        }
    }
    release();
    return copy;
}

Array copied(const Array& array) {
    Array copy = Array::empty(array.dtype, array.dims);
    copy_elements(array, copy);
    return copy;
}

bool has(PyObject* object, const char* name) {
    return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name);
}

std::optional<Tensor> imported(PyObject* object, std::optional<bool> copy) {
    if (PyBytes_Check(object) || PyUnicode_Check(object) || PyByteArray_Check(object)) return {};
    std::optional<Array> shown;
    if (PyObject_CheckBuffer(object)) shown = from_buffer(object);
    if (!shown && has(object, "__array_interface__")) shown = from_bfloat16(object);
    if (!shown && has(object, "__dlpack__")) shown = from_dlpack(object, {}).array();
    if (!shown && has(object, "__array_interface__")) shown = from_array_interface(object);
    if (!shown && has(object, "__array__")) {
        nb::object array = nb::handle(object).attr("__array__")();
        shown = from_buffer(array.ptr());
    }
    if (!shown) return {};
    return Tensor(copy.value_or(true) ? copied(*shown) : *shown);
}

namespace {

/// What a view on a tensor's memory keeps: sizes and strides in bytes.
struct Shown {
    Array array;
    std::vector<Py_ssize_t> shape, strides;
};

}  // namespace

int get_buffer(PyObject* object, Py_buffer* view, int flags) noexcept {
    view->obj = nullptr;
    PyObject* done = guarded([&]() -> PyObject* {
        const Tensor& x = tensor_in(object);
        if (flags & PyBUF_WRITABLE) buffer_error("a tensor's value does not change: its memory is shown read-only");
        const char* format = format_of(x.dtype());
        if (!format) buffer_error("bfloat16 has no format in the buffer protocol");
        compute(x);
        auto shown = std::make_unique<Shown>(Shown{x.array(), {}, {}});
        Array& array = shown->array;
        if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !array.contiguous()) array = contiguous(array);
        auto element = static_cast<Py_ssize_t>(size_of(array.dtype));
        for (std::int64_t size : array.dims) shown->shape.push_back(size);
        for (std::int64_t stride : array.strides) shown->strides.push_back(stride * element);
        view->buf = array.address();
        view->len = array.size() * element;
        view->readonly = 1;
        view->itemsize = element;
        view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
        view->ndim = static_cast<int>(array.ndim());
        view->shape = flags & PyBUF_ND ? shown->shape.data() : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shown->strides.data() : nullptr;
        view->suboffsets = nullptr;
        view->internal = shown.release();
        view->obj = Py_NewRef(object);
        return object;
    });
    return done ? 0 : -1;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<Shown*>(view->internal); }

nb::object scalar_object(const Literal& literal) {
    switch (literal.kind) {
        case weft::Kind::boolean:
            return nb::borrow(literal.integer ? Py_True : Py_False);
        case weft::Kind::signed_integer:
            return nb::steal(PyLong_FromLongLong(literal.integer));
        case weft::Kind::unsigned_integer:
            return nb::steal(PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(literal.integer)));
        case weft::Kind::floating:
            return nb::steal(PyFloat_FromDouble(literal.real));
        case weft::Kind::complex:
            break;
    }
    return nb::steal(PyComplex_FromDoubles(literal.real, literal.imaginary));
}

nb::object to_lists(const Tensor& tensor) {
    compute(tensor);
    Array array = tensor.array();
    return with_dtype(array.dtype, [&]<class T>(TypeTag<T>) {
        const T* first = static_cast<const T*>(array.address());
        auto lists = [&](auto&& self, std::size_t axis, std::int64_t at) -> nb::object {
            if (axis == array.ndim()) {
                T value = first[at];
                if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
                    return scalar_object(Literal(static_cast<double>(static_cast<float>(value))));
                else if constexpr (std::is_arithmetic_v<T>)
                    return scalar_object(Literal(value));
                else
                    return scalar_object(Literal(std::complex<double>(value)));
            }
            nb::list list;
            for (std::int64_t i = 0; i < array.dims[axis]; ++i)
                list.append(self(self, axis + 1, at + i * array.strides[axis]));
            return list;
        };
        return lists(lists, 0, 0);
    });
}

}  // namespace weft::python
