// Gradients of depthwise convolutions (a group a channel), for which libraries are slow: of 5 x 5 the one in the weights ran at 7 GFLOP/s.
// Caller: backend/cpu/convolution.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of float32, with three spatial axes of which the first has one place, channels side by side. In the weights: a block of rows a task,
/// joined in their order. In the picture, where the kernel moves by one: the convolution of the gradient with the kernel turned
/// round, by `make`. Null for what is not of this kind, or what `make` has nothing for.
std::unique_ptr<const Convolution::Way> depthwise_gradient(ConvolutionKind kind, const ConvolutionShape& shape,
                                                           const ConvolutionStrides& strides, const MakeWay& make);

}  // namespace weft::cpu
