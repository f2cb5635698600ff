// DLPack both ways. The structures are declared here from the protocol's specification (version 1.0).

#include "exchange.h"

namespace weft::python {
namespace {

struct DLDevice {
    std::int32_t type, id;
};
struct DLDataType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor tensor;
    void* context;
    void (*deleter)(DLManagedTensor*);
};
struct DLManagedTensorVersioned {
    std::uint32_t major, minor;
    void* context;
    void (*deleter)(DLManagedTensorVersioned*);
    std::uint64_t flags;
    DLTensor tensor;
};
constexpr std::uint64_t read_only = 1, is_copied = 2;
constexpr std::int32_t on_cpu = 1;
enum Code : std::uint8_t {
    code_int = 0,
    code_uint = 1,
    code_float = 2,
    code_bfloat = 4,
    code_complex = 5,
    code_bool = 6
};

DLDataType dlpack_dtype(DType dtype) {
    std::uint8_t code = code_bool;
    switch (kind_of(dtype)) {
        case weft::Kind::boolean:
            break;
        case weft::Kind::signed_integer:
            code = code_int;
            break;
        case weft::Kind::unsigned_integer:
            code = code_uint;
            break;
        case weft::Kind::floating:
            code = dtype == DType::bfloat16 ? code_bfloat : code_float;
            break;
        case weft::Kind::complex:
            code = code_complex;
            break;
    }
    return {code, static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

std::optional<DType> dtype_of_dlpack(DLDataType type) {
    if (type.lanes != 1) return {};
    for (DType dtype : all_dtypes()) {
        DLDataType same = dlpack_dtype(dtype);
        if (same.code == type.code && same.bits == type.bits) return dtype;
    }
    return {};
}

/// What an exported tensor keeps alive, and where its sizes lie.
template <class Managed>
struct Export {
    Array array;
    std::vector<std::int64_t> shape, strides;
    Managed managed{};
};

template <class Managed>
Managed* exported(Array array) {
    auto* kept = new Export<Managed>{std::move(array), {}, {}, {}};
    const Array& a = kept->array;
    kept->shape.assign(a.dims.begin(), a.dims.end());
    kept->strides.assign(a.strides.begin(), a.strides.end());
    DLTensor& tensor = kept->managed.tensor;
    tensor.data = const_cast<void*>(a.address());
    tensor.device = {on_cpu, 0};
    tensor.ndim = static_cast<std::int32_t>(a.ndim());
    tensor.dtype = dlpack_dtype(a.dtype);
    tensor.shape = kept->shape.data(), tensor.strides = kept->strides.data(), tensor.byte_offset = 0;
    kept->managed.context = kept;
    kept->managed.deleter = [](Managed* managed) { delete static_cast<Export<Managed>*>(managed->context); };
    return &kept->managed;
}

template <class Managed>
nb::object capsule(Managed* managed, const char* name) {
    PyObject* made = PyCapsule_New(managed, name, [](PyObject* capsule) {
        // Whoever takes the tensor over renames the capsule and calls the deleter.
        for (const char* unused : {"dltensor", "dltensor_versioned"}) {
            if (!PyCapsule_IsValid(capsule, unused)) continue;
            auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, unused));
            managed->deleter(managed);
        }
    });
    if (!made) {
        managed->deleter(managed);
        throw nb::python_error();
    }
    return nb::steal(made);
}

template <class Managed>
Tensor taken(PyObject* capsule, const char* name, const char* used) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    if (!managed) throw nb::python_error();
    const DLTensor& from = managed->tensor;
    if constexpr (requires { managed->major; })
        if (managed->major > 1)
            throw ValueError(text("from_dlpack: version ", managed->major, " of the protocol is not known"));
    if (from.device.type != on_cpu) {
        PyErr_SetString(PyExc_BufferError, "from_dlpack: the tensor is not in the processor's memory");
        throw nb::python_error();
    }
    std::optional<DType> dtype = dtype_of_dlpack(from.dtype);
    if (!dtype)
        throw DTypeError(text("from_dlpack: elements of code ", int(from.dtype.code), " with ", int(from.dtype.bits),
                              " bits are not known"));
    Dims dims, strides;
    auto element = static_cast<std::int64_t>(size_of(*dtype));
    for (std::int32_t i = 0; i < from.ndim; ++i) dims.push_back(from.shape[i]);
    Dims row_major = contiguous_strides(dims);
    for (std::size_t i = 0; i < dims.size(); ++i)
        strides.push_back((from.strides ? from.strides[i] : row_major[i]) * element);
    PyCapsule_SetName(capsule, used);
    return Tensor(
        array_over(static_cast<std::byte*>(from.data) + from.byte_offset, *dtype, dims, strides, with_gil([managed] {
                       if (managed->deleter) managed->deleter(managed);
                   })));
}

}  // namespace

nb::object to_dlpack(const Tensor& tensor, nb::handle max_version, nb::handle device, std::optional<bool> copy) {
    if (!device.is_none() && !nb::make_tuple(on_cpu, 0).equal(nb::borrow(device)))
        buffer_error("__dlpack__: the tensor is in the processor's memory, device (1, 0), and stays there");
    compute(tensor);
    Array array = tensor.array();
    bool copies = copy.value_or(false);
    if (copies) array = copied(array);
    bool versioned = !max_version.is_none() && nb::cast<std::int64_t>(nb::borrow<nb::tuple>(max_version)[0]) >= 1;
    if (!versioned) {
        array.buffer->expose();  // the older protocol cannot say that nobody may write
        return capsule(exported<DLManagedTensor>(std::move(array)), "dltensor");
    }
    auto* managed = exported<DLManagedTensorVersioned>(std::move(array));
    managed->major = 1, managed->minor = 0, managed->flags = copies ? is_copied : read_only;
    return capsule(managed, "dltensor_versioned");
}

Tensor from_dlpack(nb::handle object, std::optional<bool> copy) {
    if (!has(object.ptr(), "__dlpack__"))
        throw DTypeError(text("from_dlpack: a value of type '", Py_TYPE(object.ptr())->tp_name, "' has no __dlpack__"));
    nb::object capsule;
    try {
        nb::dict options;
        options["max_version"] = nb::make_tuple(1, 0);
        if (copy) options["copy"] = *copy;
        capsule = object.attr("__dlpack__")(**options);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError)) throw;
        capsule = object.attr("__dlpack__")();  // of before version 1.0
    }
    Tensor shared =
        PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")
            ? taken<DLManagedTensorVersioned>(capsule.ptr(), "dltensor_versioned", "used_dltensor_versioned")
            : taken<DLManagedTensor>(capsule.ptr(), "dltensor", "used_dltensor");
    return copy.value_or(false) ? Tensor(copied(shared.array())) : shared;
}

}  // namespace weft::python
