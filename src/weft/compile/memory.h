// The memory plan: which byte of one arena each slot takes, from when it is written until it is read for the last time.
// Callers: compile/binding.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

struct Lifetime {
    std::size_t bytes = 0;
    std::int32_t first = 0, last = 0;  // steps
    std::int32_t may_reuse = -1;  // another lifetime, ending where this begins, whose place this may take (in place)
};

struct MemoryPlan {
    std::vector<std::size_t> offsets;  // one a lifetime, 64-byte aligned
    std::size_t bytes = 0;             // of the arena
};

/// Best fit in order of beginning: each takes the smallest gap that holds it among those alive at its time.
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes);

}  // namespace weft
