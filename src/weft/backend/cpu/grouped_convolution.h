// A convolution by ones in groups as the gradient in the input of another, whose kernels are turned around: libraries take less time for it. Caller: backend/cpu/convolution.cpp.
#pragma once

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

using WayPointer = std::unique_ptr<const Convolution::Way>;
using MakeUsedWay = std::function<WayPointer(ConvolutionKind, const ConvolutionShape&, const ConvolutionStrides&,
                                             const Convolution::Way::Use&)>;

/// A library's way of a convolution in groups, or the other's, where that takes less time. `make`: its ways.
WayPointer best_in_groups(WayPointer way, const ConvolutionShape& shape, const ConvolutionStrides& strides,
                          const Convolution::Way::Use& use, const MakeUsedWay& make);

}  // namespace weft::cpu
