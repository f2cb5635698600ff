// Pictures that lie channels first, pooled as if their channels lay side by side: a strip of them at a time is turned, in the cache, and what
// comes of it turned back (32 x 64 x 28 x 28 by 2 x 2: 0.4 of the time, for windows of single pixels fill no vectors).
// Callers: pooling.cpp, pooling_select.cpp.
#pragma once

#include <array>
#include <memory>

#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/pooling_windows.h"

namespace weft::cpu::pools {

/// An operand of pooling, or its result: where it lies and how.
template <class T>
struct Lain {
    T* data;
    const WindowStrides& strides;
    const Spatial& sizes;
    bool is_result = false;

    std::int64_t pixels() const { return sizes[0] * sizes[1] * sizes[2]; }
    /// Whether its channels lie side by side as it is.
    bool near() const { return strides.channel == 1; }
    WindowStrides turned(std::int64_t channels) const {
        return {0, 1, {sizes[1] * sizes[2] * channels, sizes[2] * channels, channels}};
    }
};

/// What is read alone, beside what is written.
template <class T>
T* unchanged(const void* data) {
    return const_cast<T*>(static_cast<const T*>(data));
}

template <class T, std::size_t count>
using Operands = std::array<Lain<T>, count>;

/// How many channels are turned together; 0 where that is not done: too few of them, other types, other layouts.
template <class T, std::size_t count>
std::int64_t turned_width(const PoolingShape& s, bool near, const Operands<T, count>& operands) {
    if constexpr (!std::is_floating_point_v<T>) return 0;
    constexpr std::int64_t cache = 512 * 1024;
    if (near || s.channels < least_turned) return 0;
    std::int64_t bytes = 0;
    for (const Lain<T>& operand : operands) {
        if (!operand.near() && !in_planes(operand.strides, operand.sizes)) return 0;
        bytes += operand.pixels() * static_cast<std::int64_t>(sizeof(T));
    }
    return std::clamp(cache / std::max<std::int64_t>(bytes, 1) / least_turned * least_turned, least_turned, strip);
}

/// f(pooling, strip, where the operands lie) of one strip whose channels lie side by side.
template <class T, std::size_t count, class F>
void pool_turned(const PoolingShape& shape, const Strip& at, const Operands<T, count>& operands, F&& f) {
    static_assert(count <= 3);
    auto turn = block_loops(best_isa()).move.turn;
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    std::int64_t elements = 0;
    for (const Lain<T>& operand : operands) elements += operand.near() ? 0 : operand.pixels() * at.channels;
    auto memory = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(elements));
    std::array<T*, count> data;
    std::array<WindowStrides, 3> strides{};
    T* free = memory.get();
    for (std::size_t i = 0; i < count; ++i) {
        const Lain<T>& operand = operands[i];
        T* plane = plane_of(operand.data, operand.strides, at);
        data[i] = operand.near() ? plane : free;
        strides[i] = operand.near() ? operand.strides : operand.turned(at.channels);
        if (operand.near()) continue;
        free += operand.pixels() * at.channels;
        if (!operand.is_result)
            turn(data[i], plane, operand.strides.channel * size, operand.pixels(), at.channels, at.channels, sizeof(T));
    }
    f(Pooling{shape, strides[0], strides[1], strides[2]}, Strip{0, 0, at.channels}, data);
    for (std::size_t i = 0; i < count; ++i)
        if (const Lain<T>& operand = operands[i]; operand.is_result && !operand.near())
            turn(plane_of(operand.data, operand.strides, at), data[i], at.channels * size, at.channels,
                 operand.pixels(), operand.strides.channel, sizeof(T));
}

/// One strip after the other: f<whether its channels lie side by side>(pooling, strip, operands' data), turned where that pays.
template <class T, std::size_t count, class F>
void pool_strips(const Pooling& pooling, bool near, const Operands<T, count>& operands, F&& f) {
    std::array<T*, count> data;
    for (std::size_t i = 0; i < count; ++i) data[i] = operands[i].data;
    std::int64_t width = turned_width(pooling.shape, near, operands);
    if constexpr (std::is_floating_point_v<T>) {
        if (width > 0)
            return for_each_strip(pooling.shape, width, [&](const Strip& at) {
                pool_turned(pooling.shape, at, operands,
                            [&](const Pooling& p, const Strip& strip_of_it, const auto& turned) {
                                f(std::true_type{}, p, strip_of_it, turned);
                            });
            });
    }
    with_layout<T>(near, [&](auto is_near) {
        for_each_strip(pooling.shape, most_channels<is_near>, [&](const Strip& at) { f(is_near, pooling, at, data); });
    });
}

}  // namespace weft::cpu::pools
