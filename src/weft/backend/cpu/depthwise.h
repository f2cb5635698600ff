// Depthwise convolutions (a group a channel) and their gradients, for which libraries are slow: of 5 x 5 the gradient in the weights ran at
// 7 GFLOP/s, and a convolution at a third of memory's speed.
// Caller: backend/cpu/convolution.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Whether it is one, of three spatial axes of which the first has one place, and has something to do.
bool is_depthwise(const ConvolutionShape& shape);

/// Of float32: some rows, or channels, of a picture a task. Null for what is not depthwise, and for pictures whose channels lie neither side by
/// side nor each in one piece.
std::unique_ptr<const Convolution::Way> depthwise_forward(const ConvolutionShape& shape,
                                                          const ConvolutionStrides& strides,
                                                          const Convolution::Way::Use& use);

/// Of float32, with three spatial axes of which the first has one place, channels side by side. In the weights: a block of rows a task,
/// joined in their order. In the picture, where the kernel moves by one: the convolution of the gradient with the kernel turned
/// round. Null for what is not of this kind.
std::unique_ptr<const Convolution::Way> depthwise_gradient(ConvolutionKind kind, const ConvolutionShape& shape,
                                                           const ConvolutionStrides& strides);

}  // namespace weft::cpu
