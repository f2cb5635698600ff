// Maxima of pictures of float32 that lie channels first, by windows along long rows: vectors of windows, where single pixels would fill none and to turn all
// that is read takes as long as to pool it. Caller: pooling.cpp.
#pragma once

#include "weft/backend/cpu/pooling_windows.h"

namespace weft::cpu::pools {

/// Whether it was done so.
bool max_by_rows(const Pooling& p, const float* input, float* output);

}  // namespace weft::cpu::pools
