// Depthwise convolutions, rows of one, and a row of the gradient in the weights, once an instruction set. Callers:
// backend/cpu/depthwise_forward.cpp, backend/cpu/depthwise.cpp.
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

/// Places of the largest kernel of rows().
inline constexpr int most_depthwise_places = 128;

/// A picture and its result, channels side by side in both; steps in elements. Axis 0 goes from row to row.
struct DepthwiseImage {
    std::int64_t channels;  // of the weights that are handed over, which lie as [kernel[0], kernel[1], channels]
    std::int64_t in[2], kernel[2], stride[2], pad[2], dilation[2];
    std::int64_t picture_row, picture_step;        // to the next row, to the next place
    std::int64_t places, result_row, result_step;  // of a row of the result
    bool past = false;  // whole lines of the result go to memory, not into the caches: each pixel begins one
};

struct DepthwiseKernel {
    void (*add_row)(const DepthwiseRow& row, const float* gradient, const float* picture, float* sums);
    /// Rows [first, last) of the result, `channels` channels from the pointers on: result[y, x, c] = the sum over the kernel's places that lie
    /// inside the picture of weights[k, c] * picture[y, x moved by k, c].
    void (*rows)(const DepthwiseImage& image, const float* picture, const float* weights, float* result,
                 std::int64_t first, std::int64_t last, std::int64_t channels);
};

#define WEFT_DEPTHWISE_TABLE(isa)                                                                               \
    namespace isa {                                                                                             \
    extern const DepthwiseKernel depthwise_kernel;                                                              \
    void depthwise_rows(const DepthwiseImage& image, const float* picture, const float* weights, float* result, \
                        std::int64_t first, std::int64_t last, std::int64_t channels);                          \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_DEPTHWISE_TABLE)
#undef WEFT_DEPTHWISE_TABLE

/// Of the best instruction set that this processor has.
DepthwiseKernel best_depthwise_kernel();

}  // namespace weft::cpu
