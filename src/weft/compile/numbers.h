// Arrays of a few numbers, written number by number: each element of each array is an expression of its own, without axes. Sums, products of
// matrices, views and joins are then what they do to numbers, and nothing is left that a kernel has to be called for between two maps.
// Callers: compile/loop_numbers.cpp.
#pragma once

#include <optional>
#include <vector>

#include "weft/graph/graph.h"

namespace weft {

/// The elements of an array, row-major.
using ArrayNumbers = std::vector<Tensor>;

/// Of each output of the graph its numbers, made of those that stand for its leaves, in their order. Sums and products are joined as kernels join
/// them: products of matrices one multiply-and-add after another, sums of rows by halves. Nothing where an operation cannot be written so, or is
/// not worth it: more than `most` expressions.
std::optional<std::vector<ArrayNumbers>> by_numbers(const Graph& graph, const std::vector<ArrayNumbers>& leaves,
                                                    std::size_t most);

/// Every point of a box, row-major: `offset` and strides times the point.
std::vector<std::int64_t> places_of(const Dims& dims, const Dims& strides, std::int64_t offset = 0);

/// How many instructions the expression of one number takes, about.
std::int64_t instructions_of(const Node& node);

}  // namespace weft
