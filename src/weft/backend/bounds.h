// What must hold of a printed kernel's launch, asked before each: a device that reads beyond a buffer says nothing.
// Callers: backend/opencl, backend/cuda.
#pragma once

#include <algorithm>

#include "weft/base/error.h"
#include "weft/kernel/print_c.h"

namespace weft {

/// `first_element`: the number, in a buffer of so many bytes, of the element at index 0 of every axis.
inline void promise_within(const Access& access, const Dims& dims, std::int64_t first_element, std::size_t bytes) {
    if (access.source != Source::memory) return;
    Extent extent = extent_of(access, dims);
    auto elements = static_cast<std::int64_t>(bytes / size_of(access.dtype));
    promise(extent.empty() || (first_element + extent.first >= 0 && first_element + extent.last < elements),
            "a kernel's operand lies in its buffer");
    // Buffers begin on 128 bytes and more (CUDA C programming guide; OpenCL's CL_DEVICE_MEM_BASE_ADDR_ALIGN).
    auto moved = static_cast<std::size_t>(first_element) * size_of(access.dtype);
    promise(access.alignment == 0 || moved % access.alignment == 0, "a kernel's operand is aligned as its loop says");
}

/// `printed`: the loop that the kernel's text was printed for; its text holds what it says of indices and alignments.
inline void promise_launches(const Loop& printed, const Loop& loop, Dialect dialect) {
    promise(index_dtype(printed, dialect) == index_dtype(loop, dialect), "a kernel's indices count what it is run for");
    auto alike = [](const Access& a, const Access& b) { return a.alignment == b.alignment; };
    promise(std::equal(printed.loads.begin(), printed.loads.end(), loop.loads.begin(), loop.loads.end(), alike) &&
                std::equal(printed.stores.begin(), printed.stores.end(), loop.stores.begin(), loop.stores.end(), alike),
            "a kernel is launched with the alignments that it was printed for");
}

}  // namespace weft
