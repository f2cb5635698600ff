// Max and average pooling over 1 to 3 spatial axes, as PyTorch's, and their gradients: plain functions on pointers, any
// layout, fastest channels-last. Every element of a result is computed by one thread in a fixed order. A NaN counts as
// the maximum; of equal maxima the first in the window's order gets the gradient. Callers: runtime/.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/convolution_shape.h"
#include "weft/core/dtype.h"

namespace weft::cpu {

/// Windows: output y reads input positions y stride - pad_lo + k dilation, 0 <= k < kernel, that lie inside. Only the
/// first `ndim` of each array are read.
struct PoolingShape {
    int ndim = 2;
    std::int64_t batch = 1, channels = 1;
    Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, pad_lo{0, 0, 0}, pad_hi{0, 0, 0};
    Spatial dilation{1, 1, 1};  // of max pooling; 1 for average pooling
    bool count_include_pad =
        true;  // averages divide by the window's size within the padded input, not within the input
    bool parts =
        false;  // averages: windows are parts of each axis (part_of in ops/window.h), whatever their strides would say
};

/// Channels from which on pictures of float32 and float64 that lie channels first are turned by pooling itself, some channels at a time.
inline constexpr std::int64_t least_turned = 16;

/// Real types but half ones, and bool (DTypeError for complex). A window that holds nothing gives the type's least value.
void max_pool(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
              const WindowStrides& output_strides, void* output);

/// result = each window's gradient at the place of its maximum in `input`, summed; floating types. Float16 and bfloat16
/// are rounded at each addition, of which there are more than one only where windows overlap.
void max_pool_backward(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                       const WindowStrides& gradient_strides, const void* gradient, const WindowStrides& result_strides,
                       void* result);

/// Where the window has its first maximum in `input`, what `second`, of the same sizes, holds; real types and bool.
void max_pool_select(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                     const WindowStrides& second_strides, const void* second, const WindowStrides& output_strides,
                     void* output);

/// Floating types but half ones, and complex ones (DTypeError for others). A window that holds nothing gives 0.
void average_pool(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                  const WindowStrides& output_strides, void* output);

void average_pool_backward(DType dtype, const PoolingShape& shape, const WindowStrides& gradient_strides,
                           const void* gradient, const WindowStrides& result_strides, void* result);

/// Output size along an axis, as PyTorch's: with `ceil` also a last window that is only partly filled, if it begins
/// inside the input or its lower padding.
std::int64_t pooling_output_size(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad_lo,
                                 std::int64_t pad_hi, std::int64_t dilation, bool ceil);

}  // namespace weft::cpu
