// The transforms of Winograd's convolution F(2 x 2, 3 x 3), once an instruction set: sums and differences of squares of pixels, channel beside
// channel (A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, section 4.1; points 0, 1, -1 and infinity). All
// sets give the same bits. Callers: backend/cpu/winograd*.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// A square of 4 x 4 that is transformed: the value of place p, channel c, is at [p * step + c]. Pixels are given by the address of each.
struct WinogradKernels {
    static constexpr int places = 16;
    /// Of 4 x 4 pixels.
    void (*take_pixels)(const float* const* pixels, std::int64_t channels, float* to, std::int64_t step);
    /// Of 2 x 2 pixels of a result's gradient, for the gradient in the weights.
    void (*take_gradient)(const float* const* pixels, std::int64_t channels, float* to, std::int64_t step);
    /// Of 3 x 3 weights: [w * channels + c].
    void (*take_weights)(const float* weights, std::int64_t channels, float* to, std::int64_t step);
    /// 2 x 2 pixels of the result of products of what the first and the third made; a pixel may be null: outside. False where any is
    /// not finite.
    bool (*give_pixels)(const float* from, std::int64_t step, std::int64_t channels, float* const* pixels);
    /// 3 x 3 gradients of weights of products of what the first and the second made; likewise.
    bool (*give_weights)(const float* from, std::int64_t step, std::int64_t channels, float* weights);
};

#define WEFT_WINOGRAD_TABLE(isa)                   \
    namespace isa {                                \
    extern const WinogradKernels winograd_kernels; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_WINOGRAD_TABLE)
#undef WEFT_WINOGRAD_TABLE

}  // namespace weft::cpu
