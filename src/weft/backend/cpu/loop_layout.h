// The box of a Loop as memory sees it: axes of size one dropped, kept axes (but those of a scatter) sorted so that the innermost
// moves least through memory, neighbours merged where one stride continues the other. Strides in bytes.
// Callers: backend/cpu/block_evaluator.cpp.
#pragma once

#include <vector>

#include "weft/kernel/loop.h"

namespace weft::cpu {

struct LoopLayout {
    Dims kept, reduced;
    std::vector<Dims> loads;   // one stride a kept axis, then one a reduced axis
    std::vector<Dims> stores;  // one stride a kept axis, then (of a scan) one for the reduced axis
    std::vector<Dims>
        reach;  // how far each load moves along an axis: its stride, and what an index that changes there adds
};

LoopLayout layout_of(const Loop& loop);

/// One array beside a space of indices: a stride an axis of the space.
struct Stream {
    DType memory = DType::float32;
    Dims strides;
    bool ahead = false;                   // what follows the elements of a call may be fetched meanwhile
    bool counted = false;                 // no memory: whoever runs over it counts (of the emitter alone)
    std::int64_t next = 0;                // of what is fetched ahead: Access::next
    bool near = false, replaced = false;  // as StreamKind has them
    std::int64_t offset(const std::int64_t* at) const {
        std::int64_t bytes = 0;
        for (std::size_t axis = 0; axis < strides.size(); ++axis) bytes += at[axis] * strides[axis];
        return bytes;
    }
    bool uniform() const;
    /// Whether only the innermost axis moves it.
    bool innermost_alone() const;
    /// Whether it runs through memory without gaps as the index runs through `dims` in row-major order.
    bool contiguous(const Dims& dims) const;
};

/// The indices of the row-major position `flat` in dims.
void unravel(std::int64_t flat, const Dims& dims, std::int64_t* at);

}  // namespace weft::cpu
