#include "weft/core/array.h"

#include <algorithm>
#include <cstring>

#include "weft/core/pages.h"

namespace weft {
namespace {

std::size_t bytes_needed(DType dtype, const Dims& dims) {
    for (std::int64_t size : dims) {
        if (size < 0) throw ShapeError(text("a shape has a negative size: ", dims));
    }
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(element_count(dims)), size_of(dtype), &bytes)) {
        throw OutOfMemory(text("no memory for an array of shape ", dims, " and dtype ", dtype));
    }
    return bytes;
}

// Large memory comes as zeros from the system: writing them again would take as long once more.
BufferHandle zero_bytes(std::size_t bytes) {
    std::size_t mapped = in_large_pages(bytes);
    if (void* pages = bytes < large_page ? nullptr : map_pages(mapped)) {
        want_large_pages(pages, mapped);
        touch_pages(pages, bytes);
        return Buffer::wrap(
            pages, bytes, [pages, mapped] { unmap_pages(pages, mapped); }, false);
    }
    BufferHandle buffer = Buffer::allocate(bytes);
    std::memset(buffer->data(), 0, bytes);
    return buffer;
}

}  // namespace

void Array::refuse(DType asked) const { throw DTypeError(text("the array holds ", dtype, ", not ", asked)); }

Dims contiguous_strides(const Dims& dims) {
    Dims strides(dims.size());
    std::int64_t step = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        strides[i] = step;
        step *= std::max<std::int64_t>(dims[i], 1);
    }
    return strides;
}

Array Array::empty(DType dtype, const Dims& dims) {
    std::size_t bytes = bytes_needed(dtype, dims);
    return Array{dtype, dims, contiguous_strides(dims), 0, Buffer::allocate(bytes)};
}

Array Array::zeros(DType dtype, const Dims& dims) {
    std::size_t bytes = bytes_needed(dtype, dims);
    return Array{dtype, dims, contiguous_strides(dims), 0, zero_bytes(bytes)};
}

bool Array::contiguous() const {
    std::int64_t step = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        if (dims[i] != 1 && strides[i] != step) return size() == 0;
        step *= dims[i];
    }
    return true;
}

Array contiguous(const Array& array) {
    if (array.contiguous()) return array;
    Array copy = Array::empty(array.dtype, array.dims);
    copy_elements(array, copy);
    return copy;
}

}  // namespace weft
