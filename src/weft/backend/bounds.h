// Whether a kernel's operand lies in its buffer: asked before each launch, for a device that reads beyond one says nothing.
// Callers: backend/opencl, backend/cuda.
#pragma once

#include "weft/base/error.h"
#include "weft/kernel/loop.h"

namespace weft {

/// `first_element`: the number, in a buffer of so many bytes, of the element at index 0 of every axis.
inline void promise_within(const Access& access, const Dims& dims, std::int64_t first_element, std::size_t bytes) {
    if (access.source != Source::memory) return;
    Extent extent = extent_of(access, dims);
    auto elements = static_cast<std::int64_t>(bytes / size_of(access.dtype));
    promise(extent.empty() || (first_element + extent.first >= 0 && first_element + extent.last < elements),
            "a kernel's operand lies in its buffer");
}

}  // namespace weft
