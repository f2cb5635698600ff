// Convolutions to pixels that hold their channels, place by place: of few channels, such as a network's first, whose sums have so few products
// that a product of matrices would be most of it preparation; and in steps, whose places have little in common. What a block of rows reads is
// copied, with zeros beside its lines. Caller: backend/cpu/convolution.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/convolution_way.h"

namespace weft::cpu {

/// Of float32, forward, with three spatial axes of which the first has one place. Null where another way is better: by ones of many products, in
/// steps of many weights, of groups, to fewer channels than a vector has; and for pictures whose pixels hold more than their channels.
std::unique_ptr<const Convolution::Way> direct_convolution(const ConvolutionShape& shape,
                                                           const ConvolutionStrides& strides,
                                                           const Convolution::Way::Use& use);

}  // namespace weft::cpu
