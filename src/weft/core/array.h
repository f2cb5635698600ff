// An Array is numbers that lie in memory: a dtype, sizes, strides (in elements; zero and negative allowed), and a Buffer.
// It is what a computed Tensor holds, what loaders produce and what kernels read; it never computes anything itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/base/error.h"
#include "weft/core/buffer.h"
#include "weft/core/dtype.h"
#include "weft/core/shape.h"

namespace weft {

struct Array {
    DType dtype = DType::float32;
    Dims dims;
    Dims strides;             // elements, one an axis
    std::int64_t offset = 0;  // elements, of the first element from the buffer's start
    BufferHandle buffer;

    /// Uninitialised, row-major.
    static Array empty(DType dtype, const Dims& dims);
    static Array zeros(DType dtype, const Dims& dims);
    template <class T>
    static Array from(std::span<const T> values, const Dims& dims);
    template <class T>
    static Array from(const std::vector<T>& values, const Dims& dims) {
        return from(std::span<const T>(values), dims);
    }
    template <class T>
    static Array scalar(T value) {
        return from(std::span<const T>(&value, 1), {});
    }

    std::size_t ndim() const { return dims.size(); }
    std::int64_t size() const { return element_count(dims); }
    std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(dtype); }
    bool contiguous() const;  ///< row-major without gaps
    /// To be written to, now: whoever writes once a compiled function has read the array asks anew, or kernels may go on with the copy that they
    /// made of a weight (Buffer::content).
    void* address() {
        buffer->written();
        return buffer->data() + offset * static_cast<std::int64_t>(size_of(dtype));
    }
    const void* address() const { return buffer->data() + offset * static_cast<std::int64_t>(size_of(dtype)); }
    /// The first element, to be written to as address() says; DTypeError if T is not the element type. Elements lie `strides` apart.
    template <class T>
    T* data() {
        check(dtype_of<T>);
        return static_cast<T*>(address());
    }
    template <class T>
    const T* data() const {
        check(dtype_of<T>);
        return static_cast<const T*>(address());
    }

  private:
    void check(DType asked) const {
        if (asked != dtype) refuse(asked);
    }
    [[noreturn]] void refuse(DType asked) const;
};

/// Strides of a row-major array without gaps.
Dims contiguous_strides(const Dims& dims);
/// The same numbers, row-major and without gaps (itself if it is so already).
Array contiguous(const Array& array);
/// Copies every element of `from` to `to` (same dtype and dims, any strides).
void copy_elements(const Array& from, Array& to);

template <class T>
Array Array::from(std::span<const T> values, const Dims& dims) {
    if (element_count(dims) != static_cast<std::int64_t>(values.size())) {
        throw ShapeError(text("array: ", values.size(), " values do not fill the shape ", dims));
    }
    Array array = empty(dtype_of<T>, dims);
    T* to = array.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = values[i];
    return array;
}

}  // namespace weft
