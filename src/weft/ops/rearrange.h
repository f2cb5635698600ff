// Arrays put together and taken apart, by NumPy's names. Callers: users.
#pragma once

#include <variant>

#include "weft/graph/operation.h"

namespace weft {

/// At least one, two, three axes: new ones stand in front; a vector stands in the middle of three, a matrix before the last.
Tensor atleast_1d(const Operand& x);
Tensor atleast_2d(const Operand& x);
Tensor atleast_3d(const Operand& x);
/// Joined along the second axis (vectors: the first), along the first of at least two, along the third of three; vectors as columns.
Tensor hstack(std::span<const Tensor> tensors);
Tensor vstack(std::span<const Tensor> tensors);
Tensor dstack(std::span<const Tensor> tensors);
Tensor column_stack(std::span<const Tensor> tensors);

/// Parts along an axis: so many of one size (ValueError if they cannot be), as even as possible (array_split: the first are one longer), or
/// cut before these places.
std::vector<Tensor> split(const Operand& x, std::int64_t parts, std::int64_t axis = 0);
std::vector<Tensor> split(const Operand& x, const Dims& places, std::int64_t axis = 0);
std::vector<Tensor> array_split(const Operand& x, std::int64_t parts, std::int64_t axis = 0);

/// Turned k times by 90 degrees, from the first of two axes towards the second.
Tensor rot90(const Operand& x, std::int64_t k = 1, std::int64_t axis1 = 0, std::int64_t axis2 = 1);

/// Without the elements at these places of an axis; with `values` put before these places (as many along the axis as there are places, or
/// broadcast; one place takes any number of them). Places count from the front, or from the end if negative.
Tensor remove(const Operand& x, const Dims& places, std::int64_t axis);
Tensor insert(const Operand& x, const Dims& places, const Operand& values, std::int64_t axis);

/// A vector on a diagonal of a matrix of zeros; of a matrix its diagonal.
Tensor diag(const Operand& x, std::int64_t k = 0);
/// x flattened, on a diagonal.
Tensor diagflat(const Operand& x, std::int64_t k = 0);
/// x with another main diagonal: a number, or as many as it has places.
Tensor fill_diagonal(const Operand& x, const Operand& values);
/// x's elements in row-major order, again and again, in another shape.
Tensor resize(const Operand& x, const Dims& shape);

/// How many elements are before an axis' k-th diagonal: 1 there, else 0: a lower triangle of ones.
Tensor tri(std::int64_t rows, std::int64_t columns, std::int64_t k = 0, DType dtype = DType::float32);
/// Of every place of an array of this shape its index along each axis: (ndim, ...).
Tensor indices(const Dims& shape, DType dtype = DType::int64);
/// Rows and columns of a triangle's places.
std::vector<Tensor> tril_indices(std::int64_t rows, std::int64_t k = 0, std::optional<std::int64_t> columns = {});
std::vector<Tensor> triu_indices(std::int64_t rows, std::int64_t k = 0, std::optional<std::int64_t> columns = {});

/// Places in an array of this shape, counted in row-major (columns: column-major) order, as indices along each axis; and back.
/// IndexError for those outside, as far as the numbers are there.
std::vector<Tensor> unravel_index(const Operand& places, const Dims& shape, bool columns = false);
enum class Outside : std::uint8_t { raise, wrap, clip };
Tensor ravel_multi_index(std::span<const Tensor> indices, const Dims& shape, Outside mode = Outside::raise,
                         bool columns = false);

/// options[which[...]][...]: one of several arrays at every place; what is outside of [0, n) is an IndexError, wraps or is held.
Tensor choose(const Operand& which, std::span<const Tensor> options, Outside mode = Outside::raise);
/// At every place the first of `values` whose condition is true there, else `otherwise`.
Tensor select(std::span<const Tensor> conditions, std::span<const Tensor> values, const Operand& otherwise);

}  // namespace weft
