// Indices of an array's places, and what is chosen by them (rearrange.h).
#include <algorithm>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/rearrange.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Shape shape_of(const Dims& dims, std::string_view name) {
    Shape shape;
    for (std::int64_t size : dims) {
        if (size < 0) throw ValueError(text(name, ": the shape ", dims, " has a negative size"));
        shape.push_back(size);
    }
    return shape;
}

Tensor whole_numbers(const Operand& x, std::string_view name) {
    Tensor tensor = x.as_tensor();
    if (!is_integer(tensor.dtype()))
        throw DTypeError(text(name, ": places are whole numbers, not ", tensor.dtype(), place(x.where)));
    return astype(tensor, DType::int64);
}

/// Places of one axis of size n, as the mode wants those outside.
Tensor within(const Tensor& at, std::int64_t n, Outside mode, std::string_view name) {
    if (mode == Outside::wrap && n > 0) return remainder(at, n);
    if (mode == Outside::clip) return minimum(maximum(at, 0), std::max<std::int64_t>(n - 1, 0));
    if (has_numbers(at) && any(logical_or(less(at, 0), greater_equal(at, n)), all_axes(at.ndim())).item<bool>())
        throw IndexError(text(name, ": a place outside of [0, ", n, ") among ", at));
    return at;
}

/// How far apart neighbours along each axis lie.
std::vector<std::int64_t> strides_of(const Dims& shape, bool columns, std::string_view name) {
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        std::size_t axis = columns ? i : shape.size() - 1 - i;
        strides[axis] = stride;
        if (__builtin_mul_overflow(stride, shape[axis], &stride))
            throw ValueError(text(name, ": the shape ", shape, " has too many places"));
    }
    return strides;
}

std::vector<Tensor> places_where(const Tensor& mask) { return nonzero(mask); }

}  // namespace

Tensor tri(std::int64_t rows, std::int64_t columns, std::int64_t k, DType dtype) {
    if (rows < 0 || columns < 0) throw ValueError(text("tri: ", rows, " rows and ", columns, " columns"));
    return astype(greater_equal(expand_dims(iota(rows), 1) + k, iota(columns)), dtype);
}

Tensor indices(const Dims& dims, DType dtype) {
    Shape shape = shape_of(dims, "indices");
    std::vector<Tensor> grids;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        Shape along(shape.size(), 1);
        along[axis] = shape[axis];
        grids.push_back(broadcast_to(reshape(astype(iota(shape[axis]), dtype), along), shape));
    }
    return grids.empty() ? zeros({0}, dtype) : stack(grids);
}

std::vector<Tensor> tril_indices(std::int64_t rows, std::int64_t k, std::optional<std::int64_t> columns) {
    return places_where(tri(rows, columns.value_or(rows), k, DType::bool_));
}

std::vector<Tensor> triu_indices(std::int64_t rows, std::int64_t k, std::optional<std::int64_t> columns) {
    return places_where(logical_not(tri(rows, columns.value_or(rows), k - 1, DType::bool_)));
}

std::vector<Tensor> unravel_index(const Operand& given, const Dims& shape, bool columns) {
    LineScope line(given.where);
    Tensor places = whole_numbers(given, "unravel_index");
    std::int64_t count = element_count(shape_of(shape, "unravel_index")).value();
    places = within(places, count, Outside::raise, "unravel_index");
    std::vector<std::int64_t> strides = strides_of(shape, columns, "unravel_index");
    std::vector<Tensor> found;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        found.push_back(remainder(floor_divide(places, strides[axis]), std::max<std::int64_t>(shape[axis], 1)));
    return found;
}

Tensor ravel_multi_index(std::span<const Tensor> given, const Dims& shape, Outside mode, bool columns) {
    shape_of(shape, "ravel_multi_index");
    if (given.size() != shape.size())
        throw ValueError(text("ravel_multi_index: indices along ", given.size(), " axes for the shape ", shape));
    std::vector<std::int64_t> strides = strides_of(shape, columns, "ravel_multi_index");
    Tensor places = zeros({}, DType::int64);
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        places =
            places + within(whole_numbers(given[axis], "ravel_multi_index"), shape[axis], mode, "ravel_multi_index") *
                         strides[axis];
    return places;
}

Tensor choose(const Operand& given, std::span<const Tensor> options, Outside mode) {
    LineScope line(given.where);
    if (options.empty()) throw ValueError(text("choose: among no arrays", place(given.where)));
    Tensor which = within(whole_numbers(given, "choose"), static_cast<std::int64_t>(options.size()), mode, "choose");
    Tensor found = options[0];
    for (std::size_t i = 1; i < options.size(); ++i)
        found = where(equal(which, static_cast<std::int64_t>(i)), options[i], found);
    std::optional<Shape> shape = broadcast(found.shape(), which.shape());
    return shape ? broadcast_to(found, *shape) : found;
}

Tensor select(std::span<const Tensor> conditions, std::span<const Tensor> values, const Operand& otherwise) {
    LineScope line(otherwise.where);
    if (conditions.size() != values.size() || conditions.empty())
        throw ValueError(text("select: ", conditions.size(), " conditions for ", values.size(), " arrays"));
    for (const Tensor& condition : conditions)
        if (condition.dtype() != DType::bool_)
            throw DTypeError(text("select: conditions are bool, not ", condition.dtype()));
    DType meet = values[0].dtype();
    for (const Tensor& value : values) meet = promote(meet, value.dtype());
    Tensor found = otherwise.weak() ? otherwise.as(promote_weak(meet, otherwise.literal.kind)) : otherwise.tensor;
    for (std::size_t i = values.size(); i-- > 0;)
        found = where(conditions[i], astype(values[i], promote(meet, found.dtype())), found);
    return found;
}

WEFT_RECORD(tri, "A triangle of ones.", "tri", "",
            {{{}, [](auto) { return tri(3, 4, 1); }, "np.tri(3, 4, 1, dtype='float32')"}})
WEFT_RECORD(indices, "The indices of every place.", "indices", "",
            {{{},
              [](auto) {
                  return indices({2, 3});
              },
              "np.indices((2, 3))"}})
WEFT_RECORD(unravel_index, "Places as indices along each axis.", "unravel_index", "unravel_index",
            {{{{2, 4}},
              [](auto x) {
                  return unravel_index(remainder(x[0], 12), {3, 4})[1];
              },
              "np.unravel_index(x0 % 12, (3, 4))[1]",
              {DType::int32},
              12}})

}  // namespace weft
