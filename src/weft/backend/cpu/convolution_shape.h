// What a convolution is: sizes, strides, padding, dilation, groups, in PyTorch's terms, for 1 to 3 spatial axes; and
// how its operands lie in memory. Callers: backend/cpu/convolution.h and what stands behind it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace weft::cpu {

/// The most spatial axes.
inline constexpr int most_spatial = 3;
using Spatial = std::array<std::int64_t, most_spatial>;

/// output[n, o, y] = sum over c, k of input[n, group(o) C/groups + c, y stride - pad_lo + k dilation] weight[o, c, k];
/// what lies outside the input is 0 (padding at the upper end follows from the sizes). Only the first `ndim` of each
/// array are read.
struct ConvolutionShape {
    int ndim = 2;
    std::int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
    Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1};
    Spatial stride{1, 1, 1}, pad_lo{0, 0, 0}, dilation{1, 1, 1};
};

/// Multiplications of an image.
inline std::int64_t work_of_image(const ConvolutionShape& s) {
    std::int64_t work = s.out_channels * (s.in_channels / s.groups);
    for (int axis = 0; axis < s.ndim; ++axis) work *= s.out[axis] * s.kernel[axis];
    return work;
}
/// Multiplications that make a block of images worth a call, of so many in all: four blocks of what takes some ten microseconds each, so that threads can
/// share small ones; by sizes alone.
inline std::int64_t work_of_block(std::int64_t all) {
    return std::clamp<std::int64_t>(all / 4, std::int64_t{1} << 19, std::int64_t{1} << 22);
}

/// Element strides of a logical (N, C, spatial...) or (O, C/groups, kernel...) operand.
struct WindowStrides {
    std::int64_t batch, channel;
    Spatial spatial;
};

/// Channels-last and dense: the layout that is fastest.
inline WindowStrides channels_last(std::int64_t channels, int ndim, const Spatial& sizes) {
    WindowStrides strides{channels, 1, {0, 0, 0}};
    for (int axis = ndim - 1; axis >= 0; --axis) {
        strides.spatial[axis] = strides.batch;
        strides.batch *= sizes[axis];
    }
    return strides;
}

/// Channels first and dense, as users see it.
inline WindowStrides channels_first(std::int64_t channels, int ndim, const Spatial& sizes) {
    WindowStrides strides{1, 1, {0, 0, 0}};
    for (int axis = ndim - 1; axis >= 0; --axis) {
        strides.spatial[axis] = strides.channel;
        strides.channel *= sizes[axis];
    }
    strides.batch = strides.channel * channels;
    return strides;
}

/// The values of `ndim` axes as those of three: unused axes stand first, so that the last axis stays the innermost.
inline Spatial three_axes(const Spatial& values, int ndim, std::int64_t unused) {
    Spatial wide{unused, unused, unused};
    for (int axis = 0; axis < ndim; ++axis) wide[axis + most_spatial - ndim] = values[axis];
    return wide;
}
inline WindowStrides three_axes(WindowStrides strides, int ndim) {
    strides.spatial = three_axes(strides.spatial, ndim, 0);
    return strides;
}

/// Whether each channel's pixels lie in one piece, row after row.
inline bool in_planes(const WindowStrides& strides, const Spatial& sizes) {
    std::int64_t step = 1;
    for (int axis = most_spatial; axis-- > 0; step *= sizes[axis])
        if (sizes[axis] != 1 && strides.spatial[axis] != step) return false;
    return true;
}

struct ConvolutionStrides {
    WindowStrides input, weight, output;  // weight: batch is O, channel is C/groups
};

enum class ConvolutionKind { forward, backward_input, backward_weight };

}  // namespace weft::cpu
