// Convolutions whose one side has few channels, which libraries compute as if there were 16: the gradient in a picture of few, a convolution
// that makes few, and the gradient of its weights. Each channel and place of the kernel is a row of a product of matrices, over pixels of the
// side that has many, and rows are added where they belong, or were moved there before. Images go to threads; sums have an order that sizes
// alone say. Caller: backend/cpu/convolution.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of float32, with three spatial axes. Null where many channels, groups or strides make another way better, and where pixels are not evenly
/// spaced.
std::unique_ptr<const Convolution::Way> few_channels_convolution(ConvolutionKind kind, const ConvolutionShape& shape,
                                                                 const ConvolutionStrides& strides);

}  // namespace weft::cpu
