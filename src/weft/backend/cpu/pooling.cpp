#include "weft/backend/cpu/pooling.h"

#include <algorithm>
#include <bit>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/backend/cpu/pooling_pixels.h"
#include "weft/backend/cpu/pooling_rows.h"
#include "weft/backend/cpu/pooling_turned.h"
#include "weft/base/error.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu {
namespace pools {
namespace {

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

template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// Float32 holds them and their sums, and has vectors: whoever pools them widens them first (window.cpp).
[[noreturn]] void refuse_halves(const char* operation) {
    throw InternalError(text(operation, ": half types are pooled as float32"));
}

template <bool near, class T>
void max_of_window(const PoolingShape& s, const WindowStrides& strides, const Window& window, const T* input,
                   const Strip& at, T* best) {
    const auto channel = channel_stride<near>(strides);
    const auto channels = channels_of<near>(at);
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
template <bool near, class T>
void place_of_max(const PoolingShape& s, const WindowStrides& strides, const Window& window, const T* input,
                  const Strip& at, T* best, std::int32_t* place) {
    const auto channel = channel_stride<near>(strides);
    const auto channels = channels_of<near>(at);
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
    const auto channels = channels_of<near>(at);
    const T* plane = plane_of(input, p.first, at);
    T* result = plane_of(output, p.second, at);
    if constexpr (near && std::is_same_v<T, float>) return greatest_of_pixels(p, at, plane, result);
    T best[most_channels<near>];
    for_each_output(p.shape, [&](const Window& window) {
        max_of_window<near>(p.shape, p.first, window, plane, at, best);
        T* pixel = result + offset(p.second, window.y[0], window.y[1], window.y[2]);
        for (std::int64_t c = 0; c < channels; ++c) pixel[c * channel_stride<near>(p.second)] = best[c];
    });
}

/// The value, or zero. Of a single channel without a branch, for no processor foresees which element of a window was its maximum; loops over channels
/// become vectors, which have none anyway.
template <bool near, class T>
T value_if(bool so, T value) {
    if constexpr (near) {
        return so ? value : T(0.0f);
    } else {
        using Bits = UnsignedOf<sizeof(T)>;
        return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(value) & -static_cast<Bits>(so)));
    }
}

template <bool near, class T>
void max_backward_of_strip(const Pooling& p, const Strip& at, const T* input, const T* gradient, T* result) {
    const auto channels = channels_of<near>(at);
    const T* plane = plane_of(input, p.first, at);
    const T* from = plane_of(gradient, p.second, at);
    T* to = plane_of(result, p.third, at);
    set_zero<near>(p.shape, p.third, to, channels);
    T best[most_channels<near>];
    std::int32_t place[most_channels<near>];
    for_each_output(p.shape, [&](const Window& window) {
        place_of_max<near>(p.shape, p.first, window, plane, at, best, place);
        const T* given = from + offset(p.second, window.y[0], window.y[1], window.y[2]);
        window.for_each(p.shape, p.third, [&](std::int64_t pixel_at, std::int32_t number) {
            T* pixel = to + pixel_at;
            for (std::int64_t c = 0; c < channels; ++c) {
                T& sum = pixel[c * channel_stride<near>(p.third)];
                T of_window = given[c * channel_stride<near>(p.second)];
                sum = static_cast<T>(sum + value_if<near>(place[c] == number, of_window));
            }
        });
    });
}

template <bool near, class T>
void average_of_strip(const Pooling& p, const Strip& at, const T* input, T* output) {
    const auto channels = channels_of<near>(at);
    const T* plane = plane_of(input, p.first, at);
    T* result = plane_of(output, p.second, at);
    if constexpr (near && std::is_same_v<T, float>) return mean_of_pixels(p, at, plane, result);
    Sum<T> sums[most_channels<near>];
    for_each_output(p.shape, [&](const Window& window) {
        std::fill_n(sums, std::int64_t{channels}, Sum<T>(0));
        window.for_each(p.shape, p.first, [&](std::int64_t pixel_at, std::int32_t) {
            const T* pixel = plane + pixel_at;
            for (std::int64_t c = 0; c < channels; ++c) sums[c] += widened(pixel[c * channel_stride<near>(p.first)]);
        });
        T* pixel = result + offset(p.second, window.y[0], window.y[1], window.y[2]);
        std::int64_t divisor = std::max<std::int64_t>(1, window.divisor(p.shape));
        for (std::int64_t c = 0; c < channels; ++c)
            pixel[c * channel_stride<near>(p.second)] = static_cast<T>(divided<T>(sums[c], divisor));
    });
}

template <bool near, class T>
void average_backward_of_strip(const Pooling& p, const Strip& at, const T* gradient, T* result) {
    const auto channels = channels_of<near>(at);
    const T* from = plane_of(gradient, p.first, at);
    T* to = plane_of(result, p.second, at);
    set_zero<near>(p.shape, p.second, to, channels);
    Sum<T> share[most_channels<near>];
    for_each_output(p.shape, [&](const Window& window) {
        const T* given = from + offset(p.first, window.y[0], window.y[1], window.y[2]);
        std::int64_t divisor = std::max<std::int64_t>(1, window.divisor(p.shape));
        for (std::int64_t c = 0; c < channels; ++c)
            share[c] = divided<T>(widened(given[c * channel_stride<near>(p.first)]), divisor);
        window.for_each(p.shape, p.second, [&](std::int64_t pixel_at, std::int32_t) {
            T* pixel = to + pixel_at;
            for (std::int64_t c = 0; c < channels; ++c) {
                T& sum = pixel[c * channel_stride<near>(p.second)];
                sum = static_cast<T>(widened(sum) + share[c]);
            }
        });
    });
}

template <class T>
Operands<T, 2> from_to(const Pooling& p, const void* input, void* output) {
    return {Lain<T>{unchanged<T>(input), p.first, p.shape.in},
            Lain<T>{static_cast<T*>(output), p.second, p.shape.out, true}};
}

}  // namespace
}  // namespace pools

void max_pool(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
              const WindowStrides& output_strides, void* output) {
    using namespace pools;
    check(shape, "max_pool");
    if (is_complex(dtype))
        throw DTypeError(text("max_pool: ", dtype, " has no order; pool its real part or its magnitude"));
    Pooling pooling = pooling_of(shape, input_strides, output_strides, {});
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1;
    with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (std::is_same_v<T, float>)
            if (!near && max_by_rows(pooling, static_cast<const T*>(input), static_cast<T*>(output))) return;
        if constexpr (is_half_type<T>)
            refuse_halves("max_pool");
        else if constexpr (!kind_is_complex<T>)
            pool_strips(pooling, near, from_to<T>(pooling, input, output),
                        [](auto is_near, const Pooling& p, const Strip& at, const auto& data) {
                            max_of_strip<is_near>(p, at, data[0], data[1]);
                        });
    });
}

void max_pool_backward(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                       const WindowStrides& gradient_strides, const void* gradient, const WindowStrides& result_strides,
                       void* result) {
    using namespace pools;
    check(shape, "max_pool_backward");
    Pooling pooling = pooling_of(shape, input_strides, gradient_strides, result_strides);
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1 && pooling.third.channel == 1;
    with_inexact(dtype, false, "max_pool_backward", [&]<class T>(TypeTag<T>) {
        if constexpr (!kind_is_complex<T>)
            pool_strips(pooling, near,
                        Operands<T, 3>{Lain<T>{unchanged<T>(input), pooling.first, pooling.shape.in},
                                       Lain<T>{unchanged<T>(gradient), pooling.second, pooling.shape.out},
                                       Lain<T>{static_cast<T*>(result), pooling.third, pooling.shape.in, true}},
                        [](auto is_near, const Pooling& p, const Strip& at, const auto& data) {
                            max_backward_of_strip<is_near>(p, at, data[0], data[1], data[2]);
                        });
    });
}

void average_pool(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                  const WindowStrides& output_strides, void* output) {
    using namespace pools;
    check(shape, "average_pool");
    Pooling pooling = pooling_of(shape, input_strides, output_strides, {});
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1;
    with_inexact(dtype, true, "average_pool", [&]<class T>(TypeTag<T>) {
        if constexpr (is_half_type<T>)
            refuse_halves("average_pool");
        else
            pool_strips(pooling, near, from_to<T>(pooling, input, output),
                        [](auto is_near, const Pooling& p, const Strip& at, const auto& data) {
                            average_of_strip<is_near>(p, at, data[0], data[1]);
                        });
    });
}

void average_pool_backward(DType dtype, const PoolingShape& shape, const WindowStrides& gradient_strides,
                           const void* gradient, const WindowStrides& result_strides, void* result) {
    using namespace pools;
    check(shape, "average_pool_backward");
    Pooling pooling = pooling_of(shape, gradient_strides, result_strides, {});
    bool near = pooling.first.channel == 1 && pooling.second.channel == 1;
    with_inexact(dtype, true, "average_pool_backward", [&]<class T>(TypeTag<T>) {
        Operands<T, 2> operands{Lain<T>{unchanged<T>(gradient), pooling.first, pooling.shape.out},
                                Lain<T>{static_cast<T*>(result), pooling.second, pooling.shape.in, true}};
        pool_strips(pooling, near, operands, [](auto is_near, const Pooling& p, const Strip& at, const auto& data) {
            average_backward_of_strip<is_near>(p, at, data[0], data[1]);
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
