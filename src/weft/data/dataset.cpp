#include "weft/data/dataset.h"

#include <algorithm>
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
    if (!y.dims.empty()) part.y = rows_of(y, first, last);
    if (has_lengths()) part.lengths = rows_of(lengths, first, last);
    for (Field& field : part.fields) field.data = field.data.rows(first, last);
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
    if (size() == 0) return Array::empty(x_dtype(), x.dims);
    Dataset alone = *this;
    alone.y = Array::zeros(int64, {size()}), alone.lengths = Array(), alone.fields.clear();
    return alone.batches(size()).at(0).x;
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

bool Dataset::goes_along(const Array& values) const {
    return has_lengths() && values.ndim() > 1 && values.dims[1] == x.dims[1];
}

namespace {

void check_fields(const Dataset& set, const std::string& name) {
    std::vector<std::string> names{set.x_name, set.y_name};
    for (const Field& field : set.fields) {
        if (std::find(names.begin(), names.end(), field.name) != names.end())
            throw ValueError(text(name, ": two of its fields are called '", field.name, "'; names must differ"));
        names.push_back(field.name);
        if (field.data.size() != set.size() || field.data.x.ndim() == 0)
            throw ShapeError(text(name, ": '", set.x_name, "' of shape ", set.x.dims, " and '", field.name,
                                  "' of shape ", field.data.x.dims, " do not hold as many rows"));
        promise(field.data.x.contiguous() && field.data.fields.empty(), "a field is row-major, and has none itself");
    }
}

void check_lengths(const Dataset& set, const std::string& name) {
    if (set.lengths.dims.empty()) return;
    if (set.lengths.dims != Dims{set.size()} || set.lengths.dtype != DType::int64 || set.x.ndim() < 2)
        throw ShapeError(text(name, ": lengths are ", set.lengths.dtype, " of shape ", set.lengths.dims,
                              "; they are one int64 an example of sequences, and x has shape ", set.x.dims));
    for (std::int64_t row = 0; row < set.size(); ++row) {
        std::int64_t length = set.lengths.data<std::int64_t>()[row];
        if (length < 1 || length > set.x.dims[1])
            throw ValueError(text(name, ": the length of example ", row, " is ", length, "; x of shape ", set.x.dims,
                                  " has room for 1 to ", set.x.dims[1]));
    }
}

}  // namespace

void Dataset::check(const std::string& name) const {
    if (x.ndim() == 0 || y.ndim() == 0 || x.dims[0] != y.dims[0]) {
        throw ShapeError(text(name, ": x of shape ", x.dims, " and y of shape ", y.dims, " do not hold as many rows"));
    }
    promise(x.contiguous() && y.contiguous(), "a data set is row-major");
    check_fields(*this, name);
    check_lengths(*this, name);
    promise(!affine || x.dtype == DType::uint8, "only bytes have an affine meaning");
}

Array unread(DType dtype, const Dims& dims) { return Array{dtype, dims, contiguous_strides(dims), 0, {}}; }

Dataset in_memory(const Dataset& set) {
    Dataset result = set;
    for (Field& field : result.fields) field.data = in_memory(field.data);
    if (!set.source) return result;
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
