// Convolutions of float32 by oneDNN: primitives made once, run on weft's threads a block of the batch at a time, each
// on one thread. Activations are channels-last inside (reordered in scratch where they are not), weights in the
// library's layout (reordered once a run). Blocks depend on sizes alone; the gradient of the weights is summed block by
// block in their order. Caller: backend/cpu/convolution.cpp, which has checked the shape and made it one of three axes.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Null where oneDNN is missing or has nothing fast for this.
std::unique_ptr<const Convolution::Way> onednn_convolution(ConvolutionKind kind, const ConvolutionShape& shape,
                                                           const ConvolutionStrides& strides,
                                                           const Convolution::Way::Use& use);

}  // namespace weft::cpu
