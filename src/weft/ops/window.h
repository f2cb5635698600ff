// Windows that slide over 1 to 3 spatial axes: convolution and pooling, in PyTorch's layouts and terms: x is (N, C, spatial...),
// weights are (O, C / groups, kernel...). A list of one number stands for all axes. Callers: nn/, users.
//
// The primitives are closed under transposition: convolution, its input gradient (which is the transposed convolution) and its weight
// gradient are each other's transposes, as max_pool's gradient and select are, and avg_pool and its gradient.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

struct ConvolutionOptions {
    Dims stride = {1}, padding = {0}, dilation = {1};
    std::int64_t groups = 1;
    Dims padding_high = {};  // at the upper ends, where it differs from `padding`
};
/// Cross-correlation: y[n, o, i] = sum over c, k of x[n, c, i stride - padding + k dilation] w[o, c, k]. ShapeError names what does
/// not fit. `bias` (one number an output channel) may be left out.
Tensor convolution(const Operand& x, const Operand& w, const ConvolutionOptions& options = {});
Tensor conv1d(const Operand& x, const Operand& w, const Tensor& bias = {}, const ConvolutionOptions& options = {});
Tensor conv2d(const Operand& x, const Operand& w, const Tensor& bias = {}, const ConvolutionOptions& options = {});
Tensor conv3d(const Operand& x, const Operand& w, const Tensor& bias = {}, const ConvolutionOptions& options = {});

struct ConvolutionTransposeOptions {
    Dims stride = {1}, padding = {0}, output_padding = {0}, dilation = {1};
    std::int64_t groups = 1;
};
/// PyTorch's conv_transpose: w is (C, O / groups, kernel...); output size (n - 1) stride - 2 padding + dilation (kernel - 1) +
/// output_padding + 1.
Tensor convolution_transpose(const Operand& x, const Operand& w, const ConvolutionTransposeOptions& options = {});
Tensor conv_transpose1d(const Operand& x, const Operand& w, const Tensor& bias = {},
                        const ConvolutionTransposeOptions& options = {});
Tensor conv_transpose2d(const Operand& x, const Operand& w, const Tensor& bias = {},
                        const ConvolutionTransposeOptions& options = {});
Tensor conv_transpose3d(const Operand& x, const Operand& w, const Tensor& bias = {},
                        const ConvolutionTransposeOptions& options = {});

struct PoolOptions {
    Dims stride = {};  // empty: the kernel's
    Dims padding = {0}, dilation = {1};
    bool ceil_mode = false;         // a last window that hangs over the end counts, if it starts inside
    bool count_include_pad = true;  // avg_pool: padding counts in the divisor
};
/// The largest of each window; padding never wins; NaN if there is one. Ties: the first takes the derivative. `x` may lack N.
Tensor max_pool(const Operand& x, const Dims& kernel, const PoolOptions& options = {});
Tensor max_pool1d(const Operand& x, const Dims& kernel, const PoolOptions& options = {});
Tensor max_pool2d(const Operand& x, const Dims& kernel, const PoolOptions& options = {});
Tensor max_pool3d(const Operand& x, const Dims& kernel, const PoolOptions& options = {});
/// The mean of each of so many parts of each spatial axis, as even as they can be; neighbours overlap by an element where they cannot.
Tensor avg_pool_of_parts(const Operand& x, const Dims& counts);
/// The mean of each window (dilation 1).
Tensor avg_pool(const Operand& x, const Dims& kernel, const PoolOptions& options = {});
Tensor avg_pool1d(const Operand& x, const Dims& kernel, const PoolOptions& options = {});
Tensor avg_pool2d(const Operand& x, const Dims& kernel, const PoolOptions& options = {});
Tensor avg_pool3d(const Operand& x, const Dims& kernel, const PoolOptions& options = {});

enum class WindowKind : std::uint8_t {
    convolution,                  // x, w -> y
    convolution_input_gradient,   // g (like y), w -> like x, of spatial sizes `result`
    convolution_weight_gradient,  // x, g -> like w, of kernel `result`
    max_pool,                     // x -> y
    max_pool_gradient,  // x, g (like y) -> like x: g where the first maximum of its window stands, overlaps added
    max_pool_select,    // x, t (like x) -> like y: t where the first maximum stands
    avg_pool,           // x -> y
    avg_pool_gradient   // g (like y) -> like x, of spatial sizes `result`
};
/// One number a spatial axis in each list.
struct WindowAttributes {
    WindowKind kind = WindowKind::convolution;
    Dims kernel;  // pools
    Dims stride, low, high, dilation;
    std::int64_t groups = 1;    // convolutions
    bool count_padding = true;  // avg_pool and its gradient
    bool parts =
        false;  // avg_pool and its gradient: windows are parts of each axis (part_of), `kernel` the longest, all else 1 or 0
    Shape result;  // the spatial sizes of the result (of the weight gradient: the kernel's)
    template <class V>
    void members(V& visit) {
        visit("kind", kind), visit("kernel", kernel), visit("stride", stride), visit("low", low), visit("high", high),
            visit("dilation", dilation);
        visit("groups", groups), visit("count_padding", count_padding), visit("parts", parts), visit("result", result);
    }
};
extern const Operation convolution_operation, convolution_input_gradient_operation,
    convolution_weight_gradient_operation, max_pool_operation, max_pool_gradient_operation, max_pool_select_operation,
    avg_pool_operation, avg_pool_gradient_operation;

/// Elements [first, end) of an axis: its part `number` of `count`. Callers: all that compute windows.
struct Part {
    std::int64_t first, end;
};
inline Part part_of(std::int64_t size, std::int64_t count, std::int64_t number) {
    return {number * size / count, ((number + 1) * size + count - 1) / count};
}

namespace detail {
/// One number for each of `count` axes, from a list of one or of `count`. ValueError names what is wrong.
Dims for_each_axis(std::string_view operation, std::string_view what, const Dims& list, std::size_t count,
                   std::int64_t least);

inline const WindowAttributes& of(const Attributes* attributes) {
    return static_cast<const AttributesOf<WindowAttributes>&>(*attributes).value;
}
const WindowAttributes& of(const Tensor& result);
Shape spatial_of(const Tensor& x);
Tensor joined_front(const Tensor& x);  ///< the first two axes as one
}  // namespace detail

}  // namespace weft
