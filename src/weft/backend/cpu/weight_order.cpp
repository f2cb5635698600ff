#include "weft/backend/cpu/weight_order.h"

#include <algorithm>

#include "weft/base/thread_pool.h"

namespace weft::cpu {

WeightOrder::WeightOrder(ConvolutionKind kind, const ConvolutionShape& shape, const WindowStrides& weights,
                         const Windows& windows, bool depthwise) {
    std::int64_t in_each = shape.in_channels / shape.groups, out_each = shape.out_channels / shape.groups;
    bool back = kind == ConvolutionKind::backward_input;
    groups_ = depthwise ? 1 : shape.groups, group_step_ = out_each * weights.batch;
    read_ = back ? out_each : in_each, read_step_ = back ? weights.batch : weights.channel;
    made_ = depthwise ? shape.groups : back ? in_each : out_each;
    made_step_ = back && !depthwise ? weights.channel : weights.batch;
    for (const auto& tap0 : windows.axis[0].taps)
        for (const auto& tap1 : windows.axis[1].taps)
            for (const auto& tap2 : windows.axis[2].taps)
                taps_.push_back(tap0.kernel * weights.spatial[0] + tap1.kernel * weights.spatial[1] +
                                tap2.kernel * weights.spatial[2]);
}

/// 1 where each tap stands beside the next, -1 where before it, 0 anywhere else.
std::int64_t WeightOrder::apart() const {
    if (taps_.size() < 2) return 0;
    std::int64_t apart = taps_[1] - taps_[0];
    for (std::size_t i = 1; i < taps_.size(); ++i)
        if (taps_[i] != taps_[i - 1] + apart) return 0;
    return apart == 1 || apart == -1 ? apart : 0;
}

/// f(matrix) of what one move takes: the places of a channel's kernels where these stand side by side, else the channels of a place.
template <class F>
void WeightOrder::for_each_matrix(F&& f) const {
    constexpr std::int64_t some = 1 << 14;  // numbers that are worth a thread's while
    if (size() == 0) return;
    std::int64_t channels = std::clamp<std::int64_t>(some / (taps() * made_), 1, read_);
    std::int64_t blocks = (read_ + channels - 1) / channels, each_tap = read_ * made_, kernel = apart();
    parallel_for(groups_ * blocks, [&](std::int64_t i) {
        std::int64_t first = i % blocks * channels, last = std::min(read_, first + channels);
        std::int64_t weights = i / blocks * group_step_, packed = i / blocks * each_group();
        if (kernel == 0) {
            for (std::int64_t tap = 0; tap < taps(); ++tap)
                f(Moved{weights + taps_[static_cast<std::size_t>(tap)] + first * read_step_,
                        {read_step_, made_step_},
                        packed + tap * each_tap + first * made_,
                        {made_, 1},
                        last - first});
            return;
        }
        // From the place that stands first in memory on.
        std::int64_t place = std::min(taps_.front(), taps_.back()), tap = kernel > 0 ? 0 : taps() - 1;
        for (std::int64_t c = first; c < last; ++c)
            f(Moved{weights + place + c * read_step_,
                    {1, made_step_},
                    packed + tap * each_tap + c * made_,
                    {kernel * each_tap, 1},
                    taps()});
    });
}

template <class T>
void WeightOrder::pack(const T* weights, T* packed) const {
    for_each_matrix([&](const Moved& m) {
        move_matrix(packed + m.packed, m.packed_steps, weights + m.weights, m.weight_steps, m.rows, made_);
    });
}

template <class T>
void WeightOrder::unpack(const T* packed, T* weights) const {
    for_each_matrix([&](const Moved& m) {
        move_matrix(weights + m.weights, m.weight_steps, packed + m.packed, m.packed_steps, m.rows, made_);
    });
}

template void WeightOrder::pack(const float*, float*) const;
template void WeightOrder::pack(const double*, double*) const;
template void WeightOrder::unpack(const float*, float*) const;
template void WeightOrder::unpack(const double*, double*) const;

}  // namespace weft::cpu
