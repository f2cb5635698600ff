// What x[entries] asks for, worked out once for reading and writing: NumPy's rules of integers, slices, new axes, masks and index tensors.
// Callers: ops/indexing.cpp.
#pragma once

#include "weft/ops/indexing.h"

namespace weft {

/// An index in two steps. First a box of x: along each axis `length` elements from `start`, `step` apart, some axes then turned
/// round; its axes of length one that an integer chose are dropped and new ones put in: `shape`. Then, of what that leaves, the
/// axes `picked` by index tensors.
struct IndexPlan {
    Shape start, length, shape;
    Dims step;
    Axes flipped;
    std::vector<Tensor> tensors;  // one an axis of `picked`
    Axes picked;                  // axes of `shape`
    bool apart = false;           // another entry stands between index tensors: the picked axes go to the front
};

/// The plan of an index; IndexError, ShapeError or ValueError (without the user's line) for one that x does not have.
IndexPlan plan_of_index(const Tensor& x, std::span<const Index> entries);

/// How many axes of x an entry stands for.
std::int64_t axes_taken(const Index& entry);

/// What a slice takes of n elements, the first in their order first.
struct IndexRun {
    std::int64_t start, length, step;
};
/// Python's slice.indices.
IndexRun index_run(const Slice& slice, std::int64_t n);

}  // namespace weft
