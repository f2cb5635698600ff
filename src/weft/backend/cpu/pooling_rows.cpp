#include "weft/backend/cpu/pooling_rows.h"

#include <memory>

#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/isa/pooled_rows.h"

namespace weft::cpu::pools {
namespace {

constexpr std::int64_t least_row = 64;  // results along a row: shorter ones are turned

TakeRows best_take_rows() { return WEFT_OF_BEST_ISA(take_rows); }

/// One row of windows, of the row that they read.
void pool_row(const PoolingShape& s, TakeRows take, const float* from, float* to) {
    const std::int64_t stride = s.stride[2], out = s.out[2], reach = (s.kernel[2] - 1) * s.dilation[2];
    std::int64_t low = std::min((s.pad_lo[2] + stride - 1) / stride, out);  // windows in front that hang over the edge
    std::int64_t room = s.in[2] - 1 - reach + s.pad_lo[2];
    std::int64_t high = std::clamp(room < 0 ? 0 : room / stride + 1, low, out);
    auto edge = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t y = first; y < last; ++y) {
            to[y] = least<float>();
            Span span(s, 2, y);
            for (std::int64_t k = span.first; k < span.last; ++k) {
                float value = from[span.begin + k * span.step];
                to[y] = takes(value, to[y]) ? value : to[y];
            }
        }
    };
    edge(0, low);
    RowWindows windows{high - low, s.kernel[2], stride, s.dilation[2]};
    const float* inside = from + low * stride - s.pad_lo[2];
    take(windows, inside, to + low);
    edge(high, out);
}

void pool_plane(const PoolingShape& s, TakeRows take, const float* plane, float* to) {
    for (std::int64_t y0 = 0; y0 < s.out[0]; ++y0)
        for (std::int64_t y1 = 0; y1 < s.out[1]; ++y1, to += s.out[2]) {
            Span span0(s, 0, y0), span1(s, 1, y1);
            if (span0.size() > 0 && span1.size() > 0)
                pool_row(s, take, plane + (span0.begin * s.in[1] + span1.begin) * s.in[2], to);
            else
                std::fill_n(to, s.out[2], least<float>());
        }
}

/// Whether pixels of a result follow each other at one distance.
bool evenly(const WindowStrides& strides, const Spatial& sizes) {
    std::int64_t step = strides.spatial[2];
    return (sizes[1] == 1 || strides.spatial[1] == step * sizes[2]) &&
           (sizes[0] == 1 || strides.spatial[0] == step * sizes[2] * sizes[1]);
}

}  // namespace

// The results of some channels are turned at once.
bool max_by_rows(const Pooling& p, const float* input, float* output) {
    const PoolingShape& s = p.shape;
    // Windows of several rows load each as often as they are tall (3 x 3 of 128 x 128: 1.5 of the time); further steps make no vectors.
    if (s.kernel[0] * s.kernel[1] > 1 || s.stride[2] > 2) return false;
    if (s.out[2] < least_row || !in_planes(p.first, s.in) || !evenly(p.second, s.out)) return false;
    TakeRows take = best_take_rows();
    auto turn = block_loops(best_isa()).move.turn;
    constexpr auto size = static_cast<std::int64_t>(sizeof(float));
    std::int64_t pixels = s.out[0] * s.out[1] * s.out[2];
    bool side_by_side = p.second.channel == 1 || s.channels == 1, as_it_lies = p.second.spatial[2] == 1;
    if (!side_by_side && !as_it_lies) return false;
    for_each_strip(s, least_turned, [&](const Strip& at) {
        std::unique_ptr<float[]> memory;
        if (!as_it_lies)
            memory = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(pixels * at.channels));
        float* to = plane_of(output, p.second, at);
        for (std::int64_t c = 0; c < at.channels; ++c)
            pool_plane(s, take, plane_of(input, p.first, at) + c * p.first.channel,
                       as_it_lies ? to + c * p.second.channel : memory.get() + c * pixels);
        if (!as_it_lies) turn(to, memory.get(), pixels * size, pixels, at.channels, p.second.spatial[2], sizeof(float));
    });
    return true;
}

}  // namespace weft::cpu::pools
