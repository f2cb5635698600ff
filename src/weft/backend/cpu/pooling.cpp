#include "weft/backend/cpu/pooling.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t strip = 64;                // channels that are pooled together
constexpr std::int64_t block_elements = 1 << 14;  // of input that one block reads, at least

PoolingShape three_axes(PoolingShape s) {
    for (Spatial* sizes : {&s.in, &s.out, &s.kernel, &s.stride, &s.dilation})
        *sizes = cpu::three_axes(*sizes, s.ndim, 1);
    for (Spatial* pads : {&s.pad_lo, &s.pad_hi}) *pads = cpu::three_axes(*pads, s.ndim, 0);
    s.ndim = most_spatial;
    return s;
}

void check(const PoolingShape& s, const char* operation) {
    auto rule = [&](bool holds, const char* what, std::int64_t value) {
        if (!holds) throw ShapeError(text(operation, ": ", what, ", but it is ", value));
    };
    rule(s.ndim >= 1 && s.ndim <= most_spatial, "the number of spatial axes must be 1, 2 or 3", s.ndim);
    rule(s.batch >= 0 && s.channels >= 0, "batch and channels must not be negative", std::min(s.batch, s.channels));
    for (int axis = 0; axis < s.ndim; ++axis) {
        rule(s.stride[axis] >= 1, "a stride must be at least 1", s.stride[axis]);
        rule(s.dilation[axis] >= 1, "a dilation must be at least 1", s.dilation[axis]);
        rule(s.kernel[axis] >= 1, "a window's size must be at least 1", s.kernel[axis]);
        rule(s.pad_lo[axis] >= 0 && s.pad_hi[axis] >= 0, "padding must not be negative",
             std::min(s.pad_lo[axis], s.pad_hi[axis]));
        rule(s.in[axis] >= 0 && s.out[axis] >= 0, "a size must not be negative", std::min(s.in[axis], s.out[axis]));
    }
}

std::int64_t offset(const WindowStrides& strides, std::int64_t x0, std::int64_t x1, std::int64_t x2) {
    return x0 * strides.spatial[0] + x1 * strides.spatial[1] + x2 * strides.spatial[2];
}

/// Window positions [first, last) of one axis whose input lies inside, for output y.
struct Span {
    Span(const PoolingShape& s, int axis, std::int64_t y) {
        begin = y * s.stride[axis] - s.pad_lo[axis];
        step = s.dilation[axis];
        first = begin < 0 ? (-begin + step - 1) / step : 0;
        std::int64_t inside = s.in[axis] - begin;  // positions before the input's end
        last = std::min(s.kernel[axis], inside > 0 ? (inside + step - 1) / step : 0);
        first = std::min(first, last);
        within_padding = std::min(begin + s.kernel[axis], s.in[axis] + s.pad_hi[axis]) - begin;
    }
    std::int64_t size() const { return last - first; }
    std::int64_t begin, step, first, last, within_padding;
};

/// Output position (y0, y1, y2) and its window.
struct Window {
    Window(const PoolingShape& s, std::int64_t y0, std::int64_t y1, std::int64_t y2)
        : y{y0, y1, y2}, spans{Span(s, 0, y0), Span(s, 1, y1), Span(s, 2, y2)} {}

    /// Calls f(place of the input pixel, number of the position in the whole window) for each position inside.
    template <class F>
    void for_each(const PoolingShape& s, const WindowStrides& strides, F&& f) const {
        for (std::int64_t k0 = spans[0].first; k0 < spans[0].last; ++k0)
            for (std::int64_t k1 = spans[1].first; k1 < spans[1].last; ++k1)
                for (std::int64_t k2 = spans[2].first; k2 < spans[2].last; ++k2)
                    f(offset(strides, spans[0].begin + k0 * spans[0].step, spans[1].begin + k1 * spans[1].step,
                             spans[2].begin + k2 * spans[2].step),
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

struct Strip {
    std::int64_t n, first, channels;
};

/// Calls f for each strip of channels of each item: what no two threads share.
template <class F>
void for_each_strip(const PoolingShape& s, bool near, F&& f) {
    std::int64_t width = near ? strip : 1, strips = (s.channels + width - 1) / width;
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
    for (std::int64_t y0 = 0; y0 < s.out[0]; ++y0)
        for (std::int64_t y1 = 0; y1 < s.out[1]; ++y1)
            for (std::int64_t y2 = 0; y2 < s.out[2]; ++y2) f(Window(s, y0, y1, y2));
}

/// Where channels lie side by side their stride is a constant, so that the loop over them becomes vectors.
template <bool near>
auto channel_stride(const WindowStrides& strides) {
    if constexpr (near)
        return std::integral_constant<std::int64_t, 1>{};
    else
        return strides.channel;
}

/// f(whether channels lie side by side), as a constant; for float and double alone, to keep the code small.
template <class T, class F>
void with_layout(bool near, F&& f) {
    if constexpr (std::is_floating_point_v<T>)
        if (near) return f(std::true_type{});
    f(std::false_type{});
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

template <class T, class Stride>
void max_of_window(const PoolingShape& s, const WindowStrides& strides, const Window& window, const T* input,
                   Stride channel, std::int64_t channels, T* best) {
    for (std::int64_t c = 0; c < channels; ++c) best[c] = least<T>();
    window.for_each(s, strides, [&](std::int64_t at, std::int32_t) {
        const T* pixel = input + at;
        for (std::int64_t c = 0; c < channels; ++c) {
            T value = pixel[c * channel];
            best[c] = takes(value, best[c]) ? value : best[c];
        }
    });
}

/// The same, and the window position of the maximum; the first inside, if nothing is greater than the least value.
template <class T, class Stride>
void place_of_max(const PoolingShape& s, const WindowStrides& strides, const Window& window, const T* input,
                  Stride channel, std::int64_t channels, T* best, std::int32_t* place) {
    std::int32_t first = -1;
    for (std::int64_t c = 0; c < channels; ++c) best[c] = least<T>();
    window.for_each(s, strides, [&](std::int64_t at, std::int32_t number) {
        const T* pixel = input + at;
        if (first < 0) {
            first = number;
            for (std::int64_t c = 0; c < channels; ++c) place[c] = number;
        }
        for (std::int64_t c = 0; c < channels; ++c) {
            T value = pixel[c * channel];
            bool taken = takes(value, best[c]);
            best[c] = taken ? value : best[c];
            place[c] = taken ? number : place[c];
        }
    });
}

template <bool near, class T>
void set_zero(const PoolingShape& s, const WindowStrides& strides, T* plane, std::int64_t channels) {
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

/// f(T) for the floating types (and complex ones where asked for); DTypeError for others.
template <class F>
void with_inexact(DType dtype, bool complex_too, const char* operation, F&& f) {
    with_dtype(dtype, [&]<class T>(TypeTag<T> tag) {
        if constexpr (!std::is_integral_v<T>)
            if (complex_too || !is_complex(dtype)) return f(tag);
        throw DTypeError(
            text(operation, ": takes ", complex_too ? "floating and complex" : "floating", " types, not ", dtype));
    });
}

template <class T>
Sum<T> divided(Sum<T> sum, std::int64_t divisor) {
    if constexpr (kind_is_complex<T>)
        return sum / static_cast<typename T::value_type>(divisor);
    else
        return sum / static_cast<Sum<T>>(divisor);
}

template <bool near, class T>
void max_of_strip(const Pooling& p, const Strip& at, const T* input, T* output) {
    const T* plane = plane_of(input, p.first, at);
    T* result = plane_of(output, p.second, at);
    T best[strip];
    for_each_output(p.shape, [&](const Window& window) {
        max_of_window(p.shape, p.first, window, plane, channel_stride<near>(p.first), at.channels, best);
        T* pixel = result + offset(p.second, window.y[0], window.y[1], window.y[2]);
        for (std::int64_t c = 0; c < at.channels; ++c) pixel[c * channel_stride<near>(p.second)] = best[c];
    });
}

template <bool near, class T>
void max_backward_of_strip(const Pooling& p, const Strip& at, const T* input, const T* gradient, T* result) {
    const T* plane = plane_of(input, p.first, at);
    const T* from = plane_of(gradient, p.second, at);
    T* to = plane_of(result, p.third, at);
    set_zero<near>(p.shape, p.third, to, at.channels);
    T best[strip];
    std::int32_t place[strip];
    for_each_output(p.shape, [&](const Window& window) {
        place_of_max(p.shape, p.first, window, plane, channel_stride<near>(p.first), at.channels, best, place);
        const T* given = from + offset(p.second, window.y[0], window.y[1], window.y[2]);
        window.for_each(p.shape, p.third, [&](std::int64_t pixel_at, std::int32_t number) {
            T* pixel = to + pixel_at;
            for (std::int64_t c = 0; c < at.channels; ++c) {
                T& sum = pixel[c * channel_stride<near>(p.third)];
                T of_window = given[c * channel_stride<near>(p.second)];
                sum = static_cast<T>(sum + (place[c] == number ? of_window : T(0.0f)));
            }
        });
    });
}

template <bool near, class T>
void average_of_strip(const Pooling& p, const Strip& at, const T* input, T* output) {
    const T* plane = plane_of(input, p.first, at);
    T* result = plane_of(output, p.second, at);
    Sum<T> sums[strip];
    for_each_output(p.shape, [&](const Window& window) {
        std::fill_n(sums, at.channels, Sum<T>(0));
        window.for_each(p.shape, p.first, [&](std::int64_t pixel_at, std::int32_t) {
            const T* pixel = plane + pixel_at;
            for (std::int64_t c = 0; c < at.channels; ++c) sums[c] += widened(pixel[c * channel_stride<near>(p.first)]);
        });
        T* pixel = result + offset(p.second, window.y[0], window.y[1], window.y[2]);
        std::int64_t divisor = std::max<std::int64_t>(1, window.divisor(p.shape));
        for (std::int64_t c = 0; c < at.channels; ++c)
            pixel[c * channel_stride<near>(p.second)] = static_cast<T>(divided<T>(sums[c], divisor));
    });
}

template <bool near, class T>
void average_backward_of_strip(const Pooling& p, const Strip& at, const T* gradient, T* result) {
    const T* from = plane_of(gradient, p.first, at);
    T* to = plane_of(result, p.second, at);
    set_zero<near>(p.shape, p.second, to, at.channels);
    Sum<T> share[strip];
    for_each_output(p.shape, [&](const Window& window) {
        const T* given = from + offset(p.first, window.y[0], window.y[1], window.y[2]);
        std::int64_t divisor = std::max<std::int64_t>(1, window.divisor(p.shape));
        for (std::int64_t c = 0; c < at.channels; ++c)
            share[c] = divided<T>(widened(given[c * channel_stride<near>(p.first)]), divisor);
        window.for_each(p.shape, p.second, [&](std::int64_t pixel_at, std::int32_t) {
            T* pixel = to + pixel_at;
            for (std::int64_t c = 0; c < at.channels; ++c) {
                T& sum = pixel[c * channel_stride<near>(p.second)];
                sum = static_cast<T>(widened(sum) + share[c]);
            }
        });
    });
}

}  // namespace

void max_pool(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
              const WindowStrides& output_strides, void* output) {
    check(shape, "max_pool");
    if (is_complex(dtype))
        throw DTypeError(text("max_pool: ", dtype, " has no order; pool its real part or its magnitude"));
    Pooling pooling{
        three_axes(shape), cpu::three_axes(input_strides, shape.ndim), cpu::three_axes(output_strides, shape.ndim), {}};
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1;
    with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (!kind_is_complex<T>)
            with_layout<T>(near, [&](auto is_near) {
                for_each_strip(pooling.shape, near, [&](const Strip& at) {
                    max_of_strip<is_near>(pooling, at, static_cast<const T*>(input), static_cast<T*>(output));
                });
            });
    });
}

void max_pool_backward(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                       const WindowStrides& gradient_strides, const void* gradient, const WindowStrides& result_strides,
                       void* result) {
    check(shape, "max_pool_backward");
    Pooling pooling{three_axes(shape), cpu::three_axes(input_strides, shape.ndim),
                    cpu::three_axes(gradient_strides, shape.ndim), cpu::three_axes(result_strides, shape.ndim)};
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1 && pooling.third.channel == 1;
    with_inexact(dtype, false, "max_pool_backward", [&]<class T>(TypeTag<T>) {
        if constexpr (!kind_is_complex<T>)
            with_layout<T>(near, [&](auto is_near) {
                for_each_strip(pooling.shape, near, [&](const Strip& at) {
                    max_backward_of_strip<is_near>(pooling, at, static_cast<const T*>(input),
                                                   static_cast<const T*>(gradient), static_cast<T*>(result));
                });
            });
    });
}

void average_pool(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                  const WindowStrides& output_strides, void* output) {
    check(shape, "average_pool");
    Pooling pooling{
        three_axes(shape), cpu::three_axes(input_strides, shape.ndim), cpu::three_axes(output_strides, shape.ndim), {}};
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1;
    with_inexact(dtype, true, "average_pool", [&]<class T>(TypeTag<T>) {
        with_layout<T>(near, [&](auto is_near) {
            for_each_strip(pooling.shape, near, [&](const Strip& at) {
                average_of_strip<is_near>(pooling, at, static_cast<const T*>(input), static_cast<T*>(output));
            });
        });
    });
}

void average_pool_backward(DType dtype, const PoolingShape& shape, const WindowStrides& gradient_strides,
                           const void* gradient, const WindowStrides& result_strides, void* result) {
    check(shape, "average_pool_backward");
    Pooling pooling{three_axes(shape),
                    cpu::three_axes(gradient_strides, shape.ndim),
                    cpu::three_axes(result_strides, shape.ndim),
                    {}};
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1;
    with_inexact(dtype, true, "average_pool_backward", [&]<class T>(TypeTag<T>) {
        with_layout<T>(near, [&](auto is_near) {
            for_each_strip(pooling.shape, near, [&](const Strip& at) {
                average_backward_of_strip<is_near>(pooling, at, static_cast<const T*>(gradient),
                                                   static_cast<T*>(result));
            });
        });
    });
}

std::int64_t pooling_output_size(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad_lo,
                                 std::int64_t pad_hi, std::int64_t dilation, bool ceil) {
    std::int64_t room = in + pad_lo + pad_hi - dilation * (kernel - 1) - 1;
    if (room < 0 && (!ceil || room <= -stride)) return 0;
    std::int64_t out = (ceil ? room + stride - 1 : room) / stride + 1;
    return ceil && (out - 1) * stride >= in + pad_lo ? std::max<std::int64_t>(0, out - 1) : out;
}

}  // namespace weft::cpu
