// The gathering that turns a convolution into matrix products: a row for each destination position, a column for each
// kernel position ("tap") and channel that it reads. A forward convolution gathers input for output positions; its
// transpose gathers output gradients for input positions, in one set of windows for each residue of the position modulo
// the stride, so that no tap is a zero between strides. Caller: backend/cpu/own_convolution.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/backend/cpu/convolution_shape.h"

namespace weft::cpu {

/// Along one axis: destination i reads source i * source_step + tap.offset, through kernel position tap.kernel.
struct WindowAxis {
    struct Tap {
        std::int64_t kernel, offset;
    };
    std::int64_t count = 1, first = 0, step = 1;  // destinations: first, first + step, ...
    std::int64_t source_step = 1, source_size = 1;
    std::vector<Tap> taps;
};

struct Windows {
    WindowAxis axis[most_spatial];
    std::int64_t batch = 1, channels = 1;  // channels of the source that one group reads
    WindowStrides source, destination;

    std::int64_t taps() const {
        return static_cast<std::int64_t>(axis[0].taps.size() * axis[1].taps.size() * axis[2].taps.size());
    }
    std::int64_t columns() const { return taps() * channels; }
    std::int64_t rows() const { return batch * axis[0].count * axis[1].count * axis[2].count; }
    /// Position `row` as (n, y0, y1, y2), y counted in destinations.
    struct Position {
        std::int64_t n, y[most_spatial];
    };
    Position position_of(std::int64_t row) const;
    std::int64_t destination_offset(std::int64_t row) const;
    /// Channels lie side by side and are many: whole pixels are copied, and rows of the result are contiguous. Else
    /// columns are.
    bool by_pixels() const { return source.channel == 1 && channels >= 8; }
    /// The matrix itself lies in the source: one tap, at the destination's own place, and evenly spaced rows.
    bool is_source_itself() const;
    /// Rows of the destination are evenly spaced in memory, `destination_row()` apart.
    bool destination_is_even() const;
    std::int64_t destination_row() const { return destination.spatial[2] * axis[2].step; }
};

/// Of a forward convolution (one set), or of its transpose (one for each residue that exists).
Windows forward_windows(const ConvolutionShape& shape, const ConvolutionStrides& strides);
std::vector<Windows> transposed_windows(const ConvolutionShape& shape, const ConvolutionStrides& strides);

/// Taps from the first to before the last, in their order; what they read.
struct TapRange {
    std::int64_t first, last;
    std::int64_t columns(const Windows& windows) const { return (last - first) * windows.channels; }
};

/// Rows [begin, end) and some taps into `to`, columns counted from the first of these taps on: to[row * columns + column] if by_pixels(), else
/// to[column * (end - begin) + row].
template <class T>
void gather(const Windows& windows, const T* source, std::int64_t begin, std::int64_t end, TapRange taps, T* to);

}  // namespace weft::cpu
