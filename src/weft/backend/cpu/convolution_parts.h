// A convolution of one image, cut by the rows of its output so that threads can share it: each part is a convolution of its own, of the rows
// of the input that it reads, and all read the same packed weights. The cut depends on sizes alone. Caller: backend/cpu/convolution.cpp.
#pragma once

#include <functional>
#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Makes the way of a part; null where there is none.
using MakePart =
    std::function<std::unique_ptr<const Convolution::Way>(const ConvolutionShape&, const Convolution::Way::Use&)>;

/// Of float32, forward, with three spatial axes; `kept`: as in Convolution::Use. Null where the image is not worth cutting, or a part cannot
/// be made.
std::unique_ptr<const Convolution::Way> convolution_in_parts(const ConvolutionShape& shape,
                                                             const ConvolutionStrides& strides, bool kept,
                                                             const MakePart& make);

}  // namespace weft::cpu
