// Pictures of float32 whose pixels hold their channels, pooled by vectors of channels. Caller: pooling.cpp.
#pragma once

#include "weft/backend/cpu/pooling_windows.h"

namespace weft::cpu::pools {

/// A strip of a picture, its result at `result`; the first operand's and the second's channels lie side by side. Windows that hold nothing give
/// minus infinity, and 0.
void greatest_of_pixels(const Pooling& pooling, const Strip& strip, const float* picture, float* result);
void mean_of_pixels(const Pooling& pooling, const Strip& strip, const float* picture, float* result);

}  // namespace weft::cpu::pools
