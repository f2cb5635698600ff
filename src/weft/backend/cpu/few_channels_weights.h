// The gradient of the weights of a convolution that makes few channels. Caller: backend/cpu/few_channels.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of float32, three spatial axes, strides of one, one group, an input whose pixels are evenly spaced.
std::unique_ptr<const Convolution::Way> few_channels_weight_gradient(const ConvolutionShape& shape,
                                                                     const ConvolutionStrides& strides);

}  // namespace weft::cpu
