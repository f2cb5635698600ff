// Pooling over 1 to 3 spatial axes: names, arguments and defaults are PyTorch's. Input (N, C, spatial...), N may be left out.
// Callers: users' models.
#pragma once

#include <optional>

#include "weft/nn/convolution.h"

namespace weft::nn {

struct MaxPoolOptions {
    std::optional<PerAxis> stride = {};  ///< nothing: the kernel's size
    PerAxis padding = 0, dilation = 1;
    bool ceil_mode = false;
};
struct AvgPoolOptions {
    std::optional<PerAxis> stride = {};
    PerAxis padding = 0;
    bool ceil_mode = false;
    bool count_include_pad = true;
};

/// What all pools hold.
template <int spatial, class Options>
struct Pool {
    static_assert(spatial >= 1 && spatial <= 3);
    explicit Pool(PerAxis kernel_size, Options options = {})
        : kernel_size(std::move(kernel_size)), options(std::move(options)) {}
    template <class V>
    void members(V& visit) {
        visit("kernel_size", kernel_size.values);
    }
    PerAxis kernel_size;
    Options options;
};

template <int spatial>
struct MaxPool : Pool<spatial, MaxPoolOptions> {
    using Pool<spatial, MaxPoolOptions>::Pool;
    Tensor operator()(const Operand& x) const;
};

template <int spatial>
struct AvgPool : Pool<spatial, AvgPoolOptions> {
    using Pool<spatial, AvgPoolOptions>::Pool;
    Tensor operator()(const Operand& x) const;
};

struct MaxPool1d : MaxPool<1> {
    using MaxPool::MaxPool;
};
struct MaxPool2d : MaxPool<2> {
    using MaxPool::MaxPool;
};
struct MaxPool3d : MaxPool<3> {
    using MaxPool::MaxPool;
};
struct AvgPool1d : AvgPool<1> {
    using AvgPool::AvgPool;
};
struct AvgPool2d : AvgPool<2> {
    using AvgPool::AvgPool;
};
struct AvgPool3d : AvgPool<3> {
    using AvgPool::AvgPool;
};

/// The mean over all spatial axes: (N, C, spatial...) becomes (N, C). PyTorch's AdaptiveAvgPool to 1, flattened.
struct GlobalAvgPool {
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V&) {}
};

}  // namespace weft::nn
