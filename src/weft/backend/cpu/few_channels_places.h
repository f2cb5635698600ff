// What rows of a few channels' products mean: channels and places of the kernel, and the pixels that a place joins.
// Callers: backend/cpu/few_channels.cpp, few_channels_weights.cpp.
#pragma once

#include <algorithm>

#include "weft/backend/cpu/convolution_shape.h"

namespace weft::cpu::few {

inline std::int64_t product(const Spatial& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/// Outputs from `first` to `last` of an axis whose input lies inside, for one place of the kernel; they read from `offset` on.
struct ReadRange {
    ReadRange(const ConvolutionShape& s, int axis, std::int64_t place)
        : step(s.stride[axis]), offset(place * s.dilation[axis] - s.pad_lo[axis]) {
        first = offset >= 0 ? 0 : (-offset + step - 1) / step;
        last = s.in[axis] > offset ? std::min(s.out[axis], (s.in[axis] - 1 - offset) / step + 1) : 0;
        last = std::max(first, last);
    }
    std::int64_t step, offset, first, last;
    std::int64_t input(std::int64_t y) const { return y * step + offset; }
    bool holds(std::int64_t y) const { return y >= first && y < last; }
};

/// Rows in order: f(row, channel, place of the kernel).
template <class F>
void for_each_place(std::int64_t channels, const Spatial& kernel, F&& f) {
    std::int64_t row = 0;
    Spatial k;
    for (std::int64_t c = 0; c < channels; ++c)
        for (k[0] = 0; k[0] < kernel[0]; ++k[0])
            for (k[1] = 0; k[1] < kernel[1]; ++k[1])
                for (k[2] = 0; k[2] < kernel[2]; ++k[2]) f(row++, c, k);
}

inline std::int64_t place_offset(const WindowStrides& weight, const Spatial& k) {
    return k[0] * weight.spatial[0] + k[1] * weight.spatial[1] + k[2] * weight.spatial[2];
}

/// Whether one stride leads from each pixel to the next.
inline bool evenly_spaced(const Spatial& sizes, const WindowStrides& pixels) {
    const Spatial& step = pixels.spatial;
    return (sizes[1] == 1 || step[1] == step[2] * sizes[2]) &&
           (sizes[0] == 1 || step[0] == step[2] * sizes[1] * sizes[2]);
}

/// How many lines of pixels at a time make rows that stay in the second-level cache.
inline std::int64_t lines_of_band(std::int64_t rows, const Spatial& sizes) {
    constexpr std::int64_t most = 64 * 1024;  // numbers
    return std::clamp<std::int64_t>(most / std::max<std::int64_t>(1, rows * sizes[2]), 1, sizes[0] * sizes[1]);
}

}  // namespace weft::cpu::few
