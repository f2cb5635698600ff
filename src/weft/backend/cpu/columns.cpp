#include "weft/backend/cpu/columns.h"

#include <algorithm>
#include <cstring>

namespace weft::cpu {
namespace {

bool evenly_spaced(const Windows& windows, const WindowStrides& strides, const Spatial& step) {
    std::int64_t next = strides.spatial[2] * step[2] * windows.axis[2].count;
    for (int axis : {1, 0}) {
        std::int64_t stride = strides.spatial[axis] * step[axis];
        if (windows.axis[axis].count != 1 && stride != next) return false;
        next *= windows.axis[axis].count;
    }
    return windows.batch == 1 || strides.batch == next;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Destinations of the last axis, from `begin` to `end`, whose source lies inside.
struct Inside {
    Inside(const WindowAxis& axis, std::int64_t offset, std::int64_t begin, std::int64_t end) {
        first = std::clamp(floor_divide(-offset + axis.source_step - 1, axis.source_step), begin, end);
        last = std::clamp(floor_divide(axis.source_size - 1 - offset, axis.source_step) + 1, first, end);
    }
    std::int64_t first, last;
};

template <class T>
void copy_strided(T* to, const T* from, std::int64_t stride, std::int64_t count) {
    if (stride == 1) {
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
    } else {
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
    }
}

/// Calls f(source of the pixel at tap and y, or null if outside along the first two axes; taps along the last axis, as far as they are among
/// `range`; the first one's number, counted from the first of `range` on).
template <class T, class F>
void for_each_tap_row(const Windows& windows, const T* source, const Windows::Position& at, TapRange range, F&& f) {
    auto taps = static_cast<std::int64_t>(windows.axis[2].taps.size());
    std::int64_t number = 0;
    for (const auto& tap0 : windows.axis[0].taps) {
        std::int64_t x0 = at.y[0] * windows.axis[0].source_step + tap0.offset;
        for (const auto& tap1 : windows.axis[1].taps) {
            TapRange here{std::max(range.first, number) - number, std::min(range.last, number + taps) - number};
            if (here.first < here.last) {
                std::int64_t x1 = at.y[1] * windows.axis[1].source_step + tap1.offset;
                bool inside =
                    x0 >= 0 && x0 < windows.axis[0].source_size && x1 >= 0 && x1 < windows.axis[1].source_size;
                const T* row = source + at.n * windows.source.batch + x0 * windows.source.spatial[0] +
                               x1 * windows.source.spatial[1];
                f(inside ? row : nullptr, here, number + here.first - range.first);
            }
            number += taps;
        }
    }
}

/// One destination: its pixels, tap after tap; taps that lie side by side in memory go in one copy.
template <class T>
void gather_pixel(const Windows& windows, const T* source, const Windows::Position& at, TapRange range, T* to) {
    const WindowAxis& last = windows.axis[2];
    std::int64_t begin = at.y[2] * last.source_step, stride = windows.source.spatial[2], channels = windows.channels;
    auto offset = [&](std::int64_t tap) { return begin + last.taps[static_cast<std::size_t>(tap)].offset; };
    for_each_tap_row(windows, source, at, range, [&](const T* row, TapRange taps, std::int64_t number) {
        T* run = to + number * channels;
        for (std::int64_t tap = taps.first; tap < taps.last;) {
            std::int64_t x = offset(tap), count = 1;
            bool inside = row && x >= 0 && x < last.source_size;
            auto follows = [&](std::int64_t next) {
                std::int64_t y = offset(next);
                bool there = row && y >= 0 && y < last.source_size;
                return there == inside && (!there || (stride == channels && y == x + count));
            };
            while (tap + count < taps.last && follows(tap + count)) ++count;
            auto bytes = static_cast<std::size_t>(count * channels) * sizeof(T);
            if (inside)
                std::memcpy(run, row + x * stride, bytes);
            else
                std::memset(run, 0, bytes);
            run += count * channels, tap += count;
        }
    });
}

/// `count` destinations side by side along the last axis, column after column.
template <class T>
void gather_run(const Windows& windows, const T* source, const Windows::Position& at, std::int64_t count,
                TapRange range, T* to, std::int64_t rows) {
    const WindowAxis& last = windows.axis[2];
    std::int64_t begin = at.y[2], end = begin + count;
    for_each_tap_row(windows, source, at, range, [&](const T* row, TapRange taps, std::int64_t number) {
        T* column = to + number * windows.channels * rows;
        for (std::int64_t tap = taps.first; tap < taps.last; ++tap) {
            std::int64_t tap_offset = last.taps[static_cast<std::size_t>(tap)].offset;
            Inside inside(last, tap_offset, begin, row ? end : begin);
            for (std::int64_t c = 0; c < windows.channels; ++c, column += rows) {
                std::fill(column, column + inside.first - begin, T(0));
                if (inside.first < inside.last) {
                    std::int64_t x = inside.first * last.source_step + tap_offset;
                    copy_strided(column + inside.first - begin,
                                 row + x * windows.source.spatial[2] + c * windows.source.channel,
                                 last.source_step * windows.source.spatial[2], inside.last - inside.first);
                }
                std::fill(column + inside.last - begin, column + count, T(0));
            }
        }
    });
}

WindowAxis forward_axis(const ConvolutionShape& s, int axis) {
    WindowAxis window{s.out[axis], 0, 1, s.stride[axis], s.in[axis], {}};
    for (std::int64_t k = 0; k < s.kernel[axis]; ++k) window.taps.push_back({k, k * s.dilation[axis] - s.pad_lo[axis]});
    return window;
}

/// Input positions first, first + stride, ...: position first + i stride is read by output i + (first + pad - k
/// dilation) / stride.
WindowAxis transposed_axis(const ConvolutionShape& s, int axis, std::int64_t first) {
    std::int64_t stride = s.stride[axis];
    WindowAxis window{(s.in[axis] - first + stride - 1) / stride, first, stride, 1, s.out[axis], {}};
    for (std::int64_t k = s.kernel[axis]; k-- > 0;) {  // from the first that is read to the last
        std::int64_t scaled = first + s.pad_lo[axis] - k * s.dilation[axis];
        if (floor_divide(scaled, stride) * stride == scaled) window.taps.push_back({k, floor_divide(scaled, stride)});
    }
    return window;
}

}  // namespace

Windows::Position Windows::position_of(std::int64_t row) const {
    Position at{};
    for (int i = most_spatial - 1; i >= 0; --i) {
        at.y[i] = row % axis[i].count;
        row /= axis[i].count;
    }
    at.n = row;
    return at;
}

std::int64_t Windows::destination_offset(std::int64_t row) const {
    Position at = position_of(row);
    std::int64_t offset = at.n * destination.batch;
    for (int i = 0; i < most_spatial; ++i) offset += (axis[i].first + at.y[i] * axis[i].step) * destination.spatial[i];
    return offset;
}

bool Windows::is_source_itself() const {
    for (const WindowAxis& a : axis)
        if (a.taps.size() != 1 || a.taps[0].offset != 0 || a.source_step != 1 || a.count > a.source_size) return false;
    return evenly_spaced(*this, source, {1, 1, 1});
}

bool Windows::destination_is_even() const {
    return evenly_spaced(*this, destination, {axis[0].step, axis[1].step, axis[2].step});
}

Windows forward_windows(const ConvolutionShape& shape, const ConvolutionStrides& strides) {
    Windows windows{{}, shape.batch, shape.in_channels / shape.groups, strides.input, strides.output};
    for (int axis = 0; axis < most_spatial; ++axis) windows.axis[axis] = forward_axis(shape, axis);
    return windows;
}

std::vector<Windows> transposed_windows(const ConvolutionShape& shape, const ConvolutionStrides& strides) {
    std::vector<Windows> all;
    Spatial first;
    for (first[0] = 0; first[0] < std::min(shape.stride[0], shape.in[0]); ++first[0])
        for (first[1] = 0; first[1] < std::min(shape.stride[1], shape.in[1]); ++first[1])
            for (first[2] = 0; first[2] < std::min(shape.stride[2], shape.in[2]); ++first[2]) {
                Windows windows{{}, shape.batch, shape.out_channels / shape.groups, strides.output, strides.input};
                for (int axis = 0; axis < most_spatial; ++axis)
                    windows.axis[axis] = transposed_axis(shape, axis, first[static_cast<std::size_t>(axis)]);
                all.push_back(windows);
            }
    return all;
}

template <class T>
void gather(const Windows& windows, const T* source, std::int64_t begin, std::int64_t end, TapRange taps, T* to) {
    std::int64_t columns = taps.columns(windows);
    for (std::int64_t row = begin; row < end;) {
        Windows::Position at = windows.position_of(row);
        std::int64_t count = std::min(end - row, windows.axis[2].count - at.y[2]);
        if (windows.by_pixels()) {
            for (std::int64_t i = 0; i < count; ++i, ++at.y[2])
                gather_pixel(windows, source, at, taps, to + (row - begin + i) * columns);
        } else {
            gather_run(windows, source, at, count, taps, to + row - begin, end - begin);
        }
        row += count;
    }
}

template void gather(const Windows&, const float*, std::int64_t, std::int64_t, TapRange, float*);
template void gather(const Windows&, const double*, std::int64_t, std::int64_t, TapRange, double*);

}  // namespace weft::cpu
