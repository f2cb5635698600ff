// Winograd's convolution, F(2 x 2, 3 x 3): kernels of 3 x 3 that move by one, 16 multiplications for four pixels in place of 36, with errors as
// small as those of sums in their order (docs/performance.md). Caller: backend/cpu/convolution.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of float32, with three spatial axes of which the first has one place, channels side by side. The same bits for any number of threads, any
/// instruction set, any block of the batch. Whether there is one depends, but for the gradient in the weights, on no batch. `direct` makes
/// what computes by the definition, where a result is not finite: in a tile it would reach all, and sums overflow that would not. Null: not
/// of this kind, or too small for it to pay.
std::unique_ptr<const Convolution::Way> winograd_convolution(ConvolutionKind kind, const ConvolutionShape& shape,
                                                             const ConvolutionStrides& strides,
                                                             const Convolution::Way::Use& use, const MakeWay& direct);

}  // namespace weft::cpu
