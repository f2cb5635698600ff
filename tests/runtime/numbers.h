// Random numbers in memory: nothing that is left to compute. Callers: tests/runtime.
#pragma once

#include "weft/graph/tensor.h"
#include "weft/ops/random.h"

namespace weft {

inline Tensor numbers(const Dims& dims, std::uint64_t seed) {
    return random::normal(shape_of(dims), 0, 1, random::key(seed)).eval();
}

}  // namespace weft
