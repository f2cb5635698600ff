// Convolutions of every type by plain loops: what no faster way takes (integers, bool, the half types, complex).
// Caller: backend/cpu/convolution.cpp, which has checked the shape.
#pragma once

#include "weft/backend/cpu/convolution_shape.h"
#include "weft/core/dtype.h"

namespace weft::cpu {

/// Operands as Convolution::run's. Each element of the result is one sum, in the order of kernel positions, then
/// channels.
void generic_convolution(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape,
                         const ConvolutionStrides& strides, const void* first, const void* second, void* result);

}  // namespace weft::cpu
