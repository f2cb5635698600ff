// The gradient in the weights of a convolution by Winograd's, F(3 x 3, 2 x 2). Caller: backend/cpu/winograd.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of a shape that winograd_convolution() takes, with its `direct`. Null: too few tiles for it to pay.
std::unique_ptr<const Convolution::Way> winograd_gradient(const ConvolutionShape& shape,
                                                          const ConvolutionStrides& strides, const MakeWay& direct);

}  // namespace weft::cpu
