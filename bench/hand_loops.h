// The same loops as a C++ programmer writes them for this machine: vectors of floats, compiled with -O3 -march=native. What emitted
// kernels are measured against. Sizes are multiples of 64. Caller: bench/kernels.cpp.
#pragma once

#include <cstdint>

namespace weft::bench {

/// Arrays in, then arrays out; `count` elements each.
using HandLoop = void (*)(float* const* arrays, std::int64_t count);

void hand_gelu(float* const* arrays, std::int64_t count);
void hand_mix(float* const* arrays, std::int64_t count);
void hand_adam(float* const* arrays, std::int64_t count);
void hand_chain(float* const* arrays, std::int64_t count);
/// Sums of a cube with sides of `side` over its axis 0, 1 or 2.
void hand_cube_sum(const float* cube, float* sums, std::int64_t side, int axis);

}  // namespace weft::bench
