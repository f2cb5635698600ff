// Where pooling looks: windows over images, and strips of channels that are pooled together; what no two threads share.
// Callers: pooling.cpp, pooling_rows.cpp, pooling_select.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "weft/backend/cpu/pooling.h"
#include "weft/base/thread_pool.h"
#include "weft/ops/window.h"

namespace weft::cpu::pools {

inline constexpr std::int64_t strip = 64;                // channels that are pooled together
inline constexpr std::int64_t block_elements = 1 << 14;  // of input that one block reads, at least

inline std::int64_t offset(const WindowStrides& strides, std::int64_t x0, std::int64_t x1, std::int64_t x2) {
    return x0 * strides.spatial[0] + x1 * strides.spatial[1] + x2 * strides.spatial[2];
}

/// Window positions [first, last) of one axis whose input lies inside, for output y.
struct Span {
    Span(const PoolingShape& s, int axis, std::int64_t y) {
        if (s.parts) {
            Part part = part_of(s.in[axis], s.out[axis], y);
            begin = part.first, step = 1, first = 0, last = within_padding = part.end - part.first;
            return;
        }
        begin = y * s.stride[axis] - s.pad_lo[axis];
        step = s.dilation[axis];
        // A quotient costs as much as all else of a small window, and is asked for by few of them.
        auto steps = [this](std::int64_t distance) { return step == 1 ? distance : (distance + step - 1) / step; };
        first = begin < 0 ? steps(-begin) : 0;
        std::int64_t inside = s.in[axis] - begin;  // positions before the input's end
        last = inside > (s.kernel[axis] - 1) * step ? s.kernel[axis] : inside > 0 ? steps(inside) : 0;
        first = std::min(first, last);
        within_padding = std::min(begin + s.kernel[axis], s.in[axis] + s.pad_hi[axis]) - begin;
    }
    std::int64_t size() const { return last - first; }
    std::int64_t begin, step, first, last, within_padding;
};

/// Output position (y0, y1, y2) and its window.
struct Window {
    Window(const Spatial& y, const Span& span0, const Span& span1, const Span& span2)
        : y(y), spans{span0, span1, span2} {}

    /// Calls f(place of the input pixel, number of the position in the whole window) for each position inside.
    template <class F>
    void for_each(const PoolingShape& s, const WindowStrides& strides, F&& f) const {
        for_each_place(s, [&](const Spatial& x, std::int32_t number) { f(offset(strides, x[0], x[1], x[2]), number); });
    }
    /// The same, of several arrays: f(the pixel's indices, number).
    template <class F>
    void for_each_place(const PoolingShape& s, F&& f) const {
        for (std::int64_t k0 = spans[0].first; k0 < spans[0].last; ++k0)
            for (std::int64_t k1 = spans[1].first; k1 < spans[1].last; ++k1)
                for (std::int64_t k2 = spans[2].first; k2 < spans[2].last; ++k2)
                    f(Spatial{spans[0].begin + k0 * spans[0].step, spans[1].begin + k1 * spans[1].step,
                              spans[2].begin + k2 * spans[2].step},
                      static_cast<std::int32_t>((k0 * s.kernel[1] + k1) * s.kernel[2] + k2));
    }
    std::int64_t divisor(const PoolingShape& s) const {
        std::int64_t product = 1;
        for (const Span& span : spans) product *= s.count_include_pad ? span.within_padding : span.size();
        return product;
    }
    Spatial y;
    Span spans[most_spatial];
};

struct Pooling {
    PoolingShape shape;                  // three axes
    WindowStrides first, second, third;  // in the order of the public function's operands
};

inline Pooling pooling_of(PoolingShape s, const WindowStrides& first, const WindowStrides& second,
                          const WindowStrides& third) {
    Pooling pooling{s, three_axes(first, s.ndim), three_axes(second, s.ndim), three_axes(third, s.ndim)};
    for (Spatial* sizes : {&s.in, &s.out, &s.kernel, &s.stride, &s.dilation}) *sizes = three_axes(*sizes, s.ndim, 1);
    for (Spatial* pads : {&s.pad_lo, &s.pad_hi}) *pads = three_axes(*pads, s.ndim, 0);
    s.ndim = most_spatial;
    pooling.shape = s;
    return pooling;
}

struct Strip {
    std::int64_t n, first, channels;
};

/// Calls f for each strip of `width` channels of each item: what no two threads share.
template <class F>
void for_each_strip(const PoolingShape& s, std::int64_t width, F&& f) {
    std::int64_t strips = (s.channels + width - 1) / width;
    std::int64_t each = std::max<std::int64_t>(1, s.in[0] * s.in[1] * s.in[2] * std::min(width, s.channels));
    std::int64_t items = s.batch * strips, together = std::max<std::int64_t>(1, block_elements / each);
    parallel_for((items + together - 1) / together, [&](std::int64_t block) {
        for (std::int64_t item = block * together; item < std::min(items, (block + 1) * together); ++item) {
            std::int64_t first = item % strips * width;
            f(Strip{item / strips, first, std::min(width, s.channels - first)});
        }
    });
}

template <class F>
void for_each_output(const PoolingShape& s, F&& f) {
    for (std::int64_t y0 = 0; y0 < s.out[0]; ++y0) {
        Span span0(s, 0, y0);
        for (std::int64_t y1 = 0; y1 < s.out[1]; ++y1) {
            Span span1(s, 1, y1);
            for (std::int64_t y2 = 0; y2 < s.out[2]; ++y2) f(Window({y0, y1, y2}, span0, span1, Span(s, 2, y2)));
        }
    }
}

/// Where channels lie side by side their stride is a constant, so that the loop over them becomes vectors.
template <bool near>
auto channel_stride(const WindowStrides& strides) {
    if constexpr (near)
        return std::integral_constant<std::int64_t, 1>{};
    else
        return strides.channel;
}

/// How many channels a strip has: one, where they do not lie side by side. As a constant, so that no loop over them is made into vectors, which
/// for half types alone was a tenth of a megabyte.
template <bool near>
auto channels_of(const Strip& at) {
    if constexpr (near)
        return at.channels;
    else
        return std::integral_constant<std::int64_t, 1>{};
}
/// Of the numbers that are kept for each of them.
template <bool near>
inline constexpr std::int64_t most_channels = near ? strip : 1;

/// f(whether channels lie side by side), as a constant; for float and double alone, to keep the code small.
template <class T, class F>
void with_layout(bool near, F&& f) {
    if constexpr (std::is_floating_point_v<T>)
        if (near) return f(std::true_type{});
    f(std::false_type{});
}

template <bool near, class T, class Channels>
void set_zero(const PoolingShape& s, const WindowStrides& strides, T* plane, Channels channels) {
    for (std::int64_t x0 = 0; x0 < s.in[0]; ++x0)
        for (std::int64_t x1 = 0; x1 < s.in[1]; ++x1)
            for (std::int64_t x2 = 0; x2 < s.in[2]; ++x2) {
                T* pixel = plane + offset(strides, x0, x1, x2);
                for (std::int64_t c = 0; c < channels; ++c) pixel[c * channel_stride<near>(strides)] = T(0.0f);
            }
}

template <class T>
T* plane_of(T* data, const WindowStrides& strides, const Strip& at) {
    return data + at.n * strides.batch + at.first * strides.channel;
}

template <class T>
T least() {
    if constexpr (std::is_same_v<T, bool>)
        return false;
    else if constexpr (std::is_integral_v<T>)
        return std::numeric_limits<T>::lowest();
    else if constexpr (std::is_floating_point_v<T>)
        return -std::numeric_limits<T>::infinity();
    else
        return T(-std::numeric_limits<float>::infinity());
}

/// Whether `value` takes the place of `best`, PyTorch's rule: greater, or NaN.
template <class T>
bool takes(T value, T best) {
    if constexpr (std::is_integral_v<T>)
        return value > best;
    else
        return (value > best) | (value != value);
}

}  // namespace weft::cpu::pools
