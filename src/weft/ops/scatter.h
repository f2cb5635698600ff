// Elements written at places that integer tensors name, into a copy: the counterpart of take. Where several updates meet one
// place, `add` adds them in the order of the indices (deterministic to the bit), `set` keeps the last, maximum and minimum the
// extreme of all, x's element included. Indices as for take. Callers: everyone; x.at({...}) is made of these.
#pragma once

#include "weft/graph/operation.h"
#include "weft/kernel/reduction.h"

namespace weft {

/// updates broadcasts to x[:axis] + indices.shape + x[axis + 1:], and takes x's dtype.
Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates, std::int64_t axis = 0,
               ScatterMode mode = ScatterMode::set);
/// Several axes at once, from `axis` on, as take's.
Tensor scatter(const Operand& x, std::span<const Tensor> indices, const Operand& updates, std::int64_t axis = 0,
               ScatterMode mode = ScatterMode::set);
/// x[..., indices[..., i, ...], ...] = updates[..., i, ...]: the counterpart of take_along_axis.
Tensor put_along_axis(const Operand& x, const Operand& indices, const Operand& updates, std::int64_t axis = -1,
                      ScatterMode mode = ScatterMode::set);

struct ScatterAttributes {
    std::int64_t axis = 0;
    bool along = false;
    ScatterMode mode = ScatterMode::set;
    template <class V>
    void members(V& visit) {
        visit("axis", axis), visit("along", along), visit("mode", mode);
    }
};
/// Inputs: x, then updates, then the index tensors (int64, all of one shape).
extern const Operation scatter_operation, put_along_axis_operation;

}  // namespace weft
