// The gradient of a convolution in a picture of few channels, which libraries compute as if there were 16: the product of the weights and the
// gradient of one image, a row for each channel and place of the kernel, and these rows added where they belong. Images go to threads;
// sums have the kernel's order. Caller: backend/cpu/convolution.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of float32, with three spatial axes. Null for other kinds, for many channels or groups, and where pixels are not evenly spaced.
std::unique_ptr<const Convolution::Way> few_channels_gradient(ConvolutionKind kind, const ConvolutionShape& shape,
                                                              const ConvolutionStrides& strides);

}  // namespace weft::cpu
