// What is told of a program in numbers: where its buffers lie, what its steps have to do, what the machine can do. Plain values, apart
// from the binding and the device that they come from, so that an explanation is read without these.
// Callers: compile/binding.h, compile/device.h, compile/work.h, runtime/explain.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// A buffer of the arena.
struct Placement {
    std::int32_t entry = -1;  // of the graph
    std::size_t offset = 0, bytes = 0;
    std::int32_t first = 0, last = 0;  // steps
    bool in_place = false;             // it may take over the memory of one that ends where it begins
};

/// What a step has to do at least.
struct Work {
    double bytes = 0;  // of its operands, each once
    double operations =
        0;  // additions and multiplications, of contractions and convolutions; 0 for what is bound by memory
};

/// What a device can do at best, in a second, with all the threads that weft uses.
struct Limits {
    double operations = 0;  // additions and multiplications of float32
    double bytes = 0;       // copied: read from and written to memory beyond the caches
    double read_bytes = 0;  // only read
};

}  // namespace weft
