#include "weft/data/dataset.h"

#include <cstring>

#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/data/batches.h"

namespace weft::data {

Array rows_of(const Array& array, std::int64_t begin, std::int64_t end) {
    if (array.dims.empty() || begin < 0 || begin > end || end > array.dims[0]) {
        throw IndexError(text("rows ", begin, " to ", end, " are not all there: the shape is ", array.dims));
    }
    Array part = array;
    part.dims[0] = end - begin;
    part.offset += begin * array.strides[0];
    return part;
}

Array reshaped(const Array& array, const Dims& dims) {
    Array result = contiguous(array);
    std::int64_t wanted = 1;
    for (std::int64_t size : dims) {
        bool fits = size >= 0 && !__builtin_mul_overflow(wanted, size, &wanted);
        if (!fits) throw ShapeError(text("no array has the shape ", dims));
    }
    if (wanted != array.size())
        throw ShapeError(text("an array of shape ", array.dims, " cannot take the shape ", dims));
    result.dims = dims;
    result.strides = contiguous_strides(dims);
    return result;
}

Dims Dataset::example() const { return x.dims.empty() ? Dims{} : Dims(x.dims.begin() + 1, x.dims.end()); }

Dataset Dataset::rows(std::int64_t first, std::int64_t last) const {
    Dataset part = *this;
    part.x = rows_of(x, first, last);
    part.y = rows_of(y, first, last);
    return part;
}

Dataset Dataset::reshaped(const Dims& example) const {
    Dims dims{size()};
    for (std::int64_t extent : example) dims.push_back(extent);
    Dataset result = *this;
    result.x = data::reshaped(x, dims);
    return result;
}

Dataset Dataset::flat() const {
    std::int64_t count = 1;
    for (std::int64_t extent : example()) count *= extent;
    return reshaped({count});
}

Array Dataset::inputs() const {
    if (!affine && !source) return x;
    return size() == 0 ? Array::empty(x_dtype(), x.dims) : batches(size()).at(0).x;
}

void Dataset::read_row(std::int64_t row, void* to) const {
    std::int64_t first = x.offset / x.strides[0];
    if (source) return source->read(first + row, to);
    std::size_t bytes = x.size() ? x.bytes() / static_cast<std::size_t>(size()) : 0;
    if (bytes)
        std::memcpy(to, static_cast<const std::byte*>(x.address()) + static_cast<std::size_t>(row) * bytes, bytes);
}

Batches Dataset::batches(std::int64_t size, const BatchOptions& options) const { return Batches(*this, size, options); }
Batches Dataset::batches(std::int64_t size) const { return Batches(*this, size, {}); }

void Dataset::check(const std::string& name) const {
    if (x.ndim() == 0 || y.ndim() == 0 || x.dims[0] != y.dims[0]) {
        throw ShapeError(text(name, ": x of shape ", x.dims, " and y of shape ", y.dims, " do not hold as many rows"));
    }
    promise(x.contiguous() && y.contiguous(), "a data set is row-major");
    promise(!affine || x.dtype == DType::uint8, "only bytes have an affine meaning");
}

Array unread(DType dtype, const Dims& dims) { return Array{dtype, dims, contiguous_strides(dims), 0, {}}; }

Dataset in_memory(const Dataset& set) {
    if (!set.source) return set;
    Dataset result = set;
    result.x = Array::empty(set.x.dtype, set.x.dims);
    result.source.reset();
    if (set.size() == 0) return result;
    std::size_t bytes = result.x.bytes() / static_cast<std::size_t>(set.size());
    auto* to = static_cast<std::byte*>(result.x.address());
    ThreadPool::instance().parallel_for(
        set.size(), [&](std::int64_t row) { set.read_row(row, to + static_cast<std::size_t>(row) * bytes); });
    return result;
}

Dataset arrays(const Array& x, const Array& y) {
    Dataset set;
    set.x = contiguous(x);
    set.y = contiguous(y);
    set.check("arrays");
    return set;
}

Dataset pictures(Dataset set, bool flat, bool scaled) {
    if (flat) set = set.flat();
    if (scaled) {
        set.affine = Affine{1.0f / 255, 0};
        set.range = {0, 1};
    }
    return set;
}

}  // namespace weft::data
