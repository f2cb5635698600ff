#include "weft/backend/cpu/weight_order.h"

#include <algorithm>

#include "weft/backend/cpu/block_loops.h"
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

/// f(group, first channel that is read, last) of as much as is worth a thread's while.
template <class F>
void WeightOrder::for_each(F&& f) const {
    constexpr std::int64_t some = 1 << 14;
    if (size() == 0) return;
    std::int64_t channels = std::clamp<std::int64_t>(some / (taps() * made_), 1, read_);
    std::int64_t blocks = (read_ + channels - 1) / channels;
    parallel_for(groups_ * blocks, [&](std::int64_t i) {
        std::int64_t first = i % blocks * channels;
        f(i / blocks, first, std::min(read_, first + channels));
    });
}

template <class T>
void WeightOrder::pack(const T* weights, T* packed) const {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    auto turn = block_loops(best_isa()).move.turn;
    std::int64_t kernel = apart();
    for_each([&](std::int64_t group, std::int64_t first, std::int64_t last) {
        const T* from = weights + group * group_step_;
        T* to = packed + group * each_group();
        if (taps() == 1 && read_step_ == 1)
            return turn(to + first * made_, from + taps_[0] + first, made_step_ * bytes, last - first, made_, made_,
                        sizeof(T));
        for (std::int64_t c = first; c < last; ++c) {
            const T* channel = from + c * read_step_;
            if (kernel != 0) {  // from the place that stands first in memory on
                T* first_row = to + c * made_ + (kernel > 0 ? 0 : (taps() - 1) * read_ * made_);
                turn(first_row, channel + std::min(taps_.front(), taps_.back()), made_step_ * bytes, taps(), made_,
                     kernel * read_ * made_, sizeof(T));
                continue;
            }
            for (std::int64_t tap = 0; tap < taps(); ++tap)
                for (std::int64_t j = 0; j < made_; ++j)
                    to[(tap * read_ + c) * made_ + j] = channel[taps_[static_cast<std::size_t>(tap)] + j * made_step_];
        }
    });
}

template <class T>
void WeightOrder::unpack(const T* packed, T* weights) const {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    auto turn = block_loops(best_isa()).move.turn;
    std::int64_t kernel = apart();
    for_each([&](std::int64_t group, std::int64_t first, std::int64_t last) {
        const T* from = packed + group * each_group();
        T* to = weights + group * group_step_;
        if (taps() == 1 && read_step_ == 1)
            return turn(to + taps_[0] + first, from + first * made_, made_ * bytes, made_, last - first, made_step_,
                        sizeof(T));
        for (std::int64_t c = first; c < last; ++c) {
            T* channel = to + c * read_step_;
            if (kernel > 0) {  // gradients of weights have windows of forward convolutions
                turn(channel + taps_[0], from + c * made_, read_ * made_ * bytes, made_, taps(), made_step_, sizeof(T));
                continue;
            }
            for (std::int64_t tap = 0; tap < taps(); ++tap)
                for (std::int64_t j = 0; j < made_; ++j)
                    channel[taps_[static_cast<std::size_t>(tap)] + j * made_step_] =
                        from[(tap * read_ + c) * made_ + j];
        }
    });
}

template void WeightOrder::pack(const float*, float*) const;
template void WeightOrder::pack(const double*, double*) const;
template void WeightOrder::unpack(const float*, float*) const;
template void WeightOrder::unpack(const double*, double*) const;

}  // namespace weft::cpu
