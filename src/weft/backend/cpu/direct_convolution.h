// Convolutions of few channels to pixels that hold their channels, such as a network's first: each place's sum of so few products that a product
// of matrices would be most of it preparation. The lines that a block of rows reads are copied, with zeros beside them and, in steps, those that
// a place of the kernel meets side by side. Caller: backend/cpu/convolution.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of float32, forward, with three spatial axes of which the first has one place. Null where many products, groups, or channels fewer than a
/// vector has make another way better, and for pictures whose pixels hold more than their channels.
std::unique_ptr<const Convolution::Way> direct_convolution(const ConvolutionShape& shape,
                                                           const ConvolutionStrides& strides,
                                                           const Convolution::Way::Use& use);

}  // namespace weft::cpu
