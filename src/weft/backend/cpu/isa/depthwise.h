// One row of a depthwise convolution's gradient in the weights, once an instruction set. Callers: backend/cpu/depthwise.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// A row of the result's gradient against a row of the picture, for one row of the kernel: sums[k * channels + c] grows by the sum over x of
/// gradient[x, c] * picture[x * stride - pad + k * dilation, c], of the places that lie inside the picture. Channels lie side by side.
struct DepthwiseRow {
    std::int64_t channels, taps, stride, pad, dilation;
    std::int64_t places, gradient_step;          // of the result's row, and elements from one to the next
    std::int64_t width, picture_step;            // of the picture's
    std::int64_t gradient_ahead, picture_ahead;  // elements to rows that come next, to be fetched; 0: none
};

struct DepthwiseKernel {
    void (*add_row)(const DepthwiseRow& row, const float* gradient, const float* picture, float* sums);
};

#define WEFT_DEPTHWISE_TABLE(isa)                  \
    namespace isa {                                \
    extern const DepthwiseKernel depthwise_kernel; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_DEPTHWISE_TABLE)
#undef WEFT_DEPTHWISE_TABLE

}  // namespace weft::cpu
