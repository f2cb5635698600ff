// A convolution of one image, cut so that threads can share it: by the rows of its output, where each part is a convolution of its own, of the
// rows of the input that it reads, and all read the same packed weights; the gradient of its weights by the channels of the output. The cut
// depends on sizes alone. Caller: backend/cpu/convolution.cpp.
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

/// Of float32, the gradient of the weights, with three spatial axes. Null as above.
std::unique_ptr<const Convolution::Way> weight_gradient_in_parts(const ConvolutionShape& shape,
                                                                 const ConvolutionStrides& strides,
                                                                 const MakePart& make);

}  // namespace weft::cpu
