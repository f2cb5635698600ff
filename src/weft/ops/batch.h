// What a rule of vmap is given, and what rules share: a node of one example becomes one of a whole batch, whose axis stands in front.
// Rules stand with their operations (the record's `batch`). Callers: ops/*.cpp, autodiff/batching.cpp.
#pragma once

#include <span>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

struct Batch {
    std::span<const Tensor> inputs;    // in the place of the node's
    const std::vector<bool>& batched;  // which of them have the batch's axis in front; at least one does
    Size size;                         // of that axis

    /// Input i with the batch's axis, repeated along it if it is the same for all examples.
    Tensor all(std::size_t i) const;
    std::vector<Tensor> all() const;
    /// The same operation on these inputs, with the node's attributes or others.
    Tensor like(const Tensor& result, std::span<const Tensor> inputs, AttributesHandle attributes) const;
    Tensor like(const Tensor& result, std::span<const Tensor> inputs) const;
    /// A shape with the batch's size in front.
    Shape shape(const Shape& of_one) const;
};

/// The axes of one example, counted in a batch: one more each.
Axes behind_batch(Axes axes);

}  // namespace weft
