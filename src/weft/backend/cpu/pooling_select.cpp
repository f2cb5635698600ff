// For each window, what a second array holds where the first has its maximum: places of maxima, and derivatives of derivatives. The first
// maximum, or the first NaN, decides; a window that holds nothing gives zero.
#include <cstring>

#include "weft/backend/cpu/pooling.h"
#include "weft/backend/cpu/pooling_turned.h"
#include "weft/base/error.h"
#include "weft/kernel/join.h"

namespace weft::cpu {
namespace pools {
namespace {

template <class T>
bool goes_before(T value, T best) {
    return (value > best) | ((value != value) & (best == best));
}

/// One position of a window: what is the best so far, and what belongs to it. All is read, chosen or not, so that loops become vectors.
template <class T, class Channels, class Step, class OtherStep>
void choose(bool first, Channels channels, const T* pixel, Step step, const T* other, OtherStep other_step,
            T* __restrict best, T* __restrict chosen) {
    for (std::int64_t c = 0; first && c < channels; ++c) best[c] = pixel[c * step], chosen[c] = other[c * other_step];
    for (std::int64_t c = 0; c < channels; ++c) {
        T value = pixel[c * step], with = other[c * other_step];
        bool taken = goes_before(value, best[c]);
        best[c] = taken ? value : best[c];
        chosen[c] = taken ? with : chosen[c];
    }
}

template <bool near, class T>
void select_of_strip(const Pooling& p, const Strip& at, const T* input, const T* second, T* output) {
    const auto channels = channels_of<near>(at);
    const T* plane = plane_of(input, p.first, at);
    const T* others = plane_of(second, p.second, at);
    T* result = plane_of(output, p.third, at);
    T best[most_channels<near>], chosen[most_channels<near>];
    for_each_output(p.shape, [&](const Window& window) {
        bool first = true;
        for (T* list : {best, chosen}) std::fill_n(list, std::int64_t{channels}, T(0));
        window.for_each_place(p.shape, [&](const Spatial& x, std::int32_t) {
            const T* pixel = plane + offset(p.first, x[0], x[1], x[2]);
            const T* other = others + offset(p.second, x[0], x[1], x[2]);
            choose(first, channels, pixel, channel_stride<near>(p.first), other, channel_stride<near>(p.second), best,
                   chosen);
            first = false;
        });
        T* pixel = result + offset(p.third, window.y[0], window.y[1], window.y[2]);
        for (std::int64_t c = 0; c < channels; ++c) pixel[c * channel_stride<near>(p.third)] = chosen[c];
    });
}

/// Of types that are rare, by one function for all: places of maxima are wanted of float32 and float64, derivatives now and then of halves.
void select_rarely(DType dtype, const Pooling& p, const std::byte* input, const std::byte* second, std::byte* output) {
    auto before = with_dtype(dtype, []<class T>(TypeTag<T>) -> bool (*)(const std::byte*, const std::byte*) {
        if constexpr (kind_is_complex<T>)
            throw InternalError("max_pool_select: complex numbers have no order");
        else
            return [](const std::byte* value, const std::byte* best) {
                return goes_before(*reinterpret_cast<const T*>(value), *reinterpret_cast<const T*>(best));
            };
    });
    auto size = static_cast<std::int64_t>(size_of(dtype));
    for_each_strip(p.shape, 1, [&](const Strip& at) {
        auto plane = [&](const WindowStrides& s) { return (at.n * s.batch + at.first * s.channel) * size; };
        const std::byte *plane_x = input + plane(p.first), *plane_t = second + plane(p.second);
        std::byte* result = output + plane(p.third);
        for_each_output(p.shape, [&](const Window& window) {
            const std::byte *best = nullptr, *chosen = nullptr;
            window.for_each_place(p.shape, [&](const Spatial& x, std::int32_t) {
                const std::byte* value = plane_x + offset(p.first, x[0], x[1], x[2]) * size;
                if (best && !before(value, best)) return;
                best = value, chosen = plane_t + offset(p.second, x[0], x[1], x[2]) * size;
            });
            std::byte* to = result + offset(p.third, window.y[0], window.y[1], window.y[2]) * size;
            if (chosen)
                std::memcpy(to, chosen, static_cast<std::size_t>(size));
            else
                std::memset(to, 0, static_cast<std::size_t>(size));
        });
    });
}

template <class T>
void select(const Pooling& p, const void* input, const void* second, void* output) {
    bool near = p.first.channel == 1 && p.second.channel == 1 && p.third.channel == 1;
    pool_strips(p, near,
                Operands<T, 3>{Lain<T>{unchanged<T>(input), p.first, p.shape.in},
                               Lain<T>{unchanged<T>(second), p.second, p.shape.in},
                               Lain<T>{static_cast<T*>(output), p.third, p.shape.out, true}},
                [](auto is_near, const Pooling& pooling, const Strip& at, const auto& data) {
                    select_of_strip<is_near>(pooling, at, data[0], data[1], data[2]);
                });
}

}  // namespace
}  // namespace pools

void max_pool_select(DType dtype, const PoolingShape& shape, const WindowStrides& input_strides, const void* input,
                     const WindowStrides& second_strides, const void* second, const WindowStrides& output_strides,
                     void* output) {
    pools::Pooling pooling = pools::pooling_of(shape, input_strides, second_strides, output_strides);
    if (dtype == DType::float32) return pools::select<float>(pooling, input, second, output);
    if (dtype == DType::float64) return pools::select<double>(pooling, input, second, output);
    pools::select_rarely(dtype, pooling, static_cast<const std::byte*>(input), static_cast<const std::byte*>(second),
                         static_cast<std::byte*>(output));
}

}  // namespace weft::cpu
