// Channels in vectors; sums stay in registers while the row is walked. Each is one chain of fused multiply-adds in the order of x, so every
// set gives the same bits.
#include "weft/backend/cpu/isa/depthwise.h"

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using V = Vec<float>;
// Sums that stay in registers: of five places of the kernel's row, and so many vectors of channels as there are registers for.
constexpr int most = 5, together = V::lanes >= 16 ? 4 : 2;

/// Where along a row the kernel's place k reads inside the picture: x in [first, last).
struct Range {
    std::int64_t first, last;
    Range() = default;
    Range(const DepthwiseRow& r, std::int64_t k) {
        std::int64_t offset = k * r.dilation - r.pad;
        first = offset >= 0 ? 0 : (-offset + r.stride - 1) / r.stride;
        last = r.width > offset ? (r.width - 1 - offset) / r.stride + 1 : 0;
        if (last > r.places) last = r.places;
        if (first > last) first = last;
    }
};

/// `taps` places of the kernel from k on, and `wide` vectors of channels from the pointers on; of one that is not `whole`, `count` channels.
template <int taps, int wide, bool whole>
struct Walk {
    using Vector = typename V::Type;
    Vector totals[taps][wide];
    std::int64_t gradient_ahead, picture_ahead;

    static Vector load(const float* from, int count) { return whole ? V::load(from) : V::load(from, count); }

    template <bool inside>
    void add(const Range* ranges, std::int64_t x, const float* gradient, const float* picture, std::int64_t between,
             int count) {
        Vector g[wide];
        for (int v = 0; v < wide; ++v) g[v] = load(gradient + v * V::lanes, count);
        // A row's pixels lie too far from each other for processors to fetch what comes next.
        if (gradient_ahead)
            for (int v = 0; v < wide; ++v) __builtin_prefetch(gradient + gradient_ahead + v * V::lanes);
        if (picture_ahead)
            for (int v = 0; v < wide; ++v) __builtin_prefetch(picture + picture_ahead + v * V::lanes);
        for (int t = 0; t < taps; ++t) {
            if (!inside && (x < ranges[t].first || x >= ranges[t].last)) continue;
            for (int v = 0; v < wide; ++v)
                totals[t][v] = V::fma(g[v], load(picture + t * between + v * V::lanes, count), totals[t][v]);
        }
    }

    static void run(const DepthwiseRow& r, std::int64_t k, int count, const float* gradient, const float* picture,
                    float* sums) {
        Walk walk;
        walk.gradient_ahead = k == 0 ? r.gradient_ahead : 0, walk.picture_ahead = k == 0 ? r.picture_ahead : 0;
        Range ranges[taps];
        std::int64_t from = r.places, to = 0, inner = 0, end = r.places;  // where any place reads inside; where all do
        for (int t = 0; t < taps; ++t) {
            Range range(r, k + t);
            ranges[t] = range;
            from = range.first < from ? range.first : from, to = range.last > to ? range.last : to;
            inner = range.first > inner ? range.first : inner, end = range.last < end ? range.last : end;
            for (int v = 0; v < wide; ++v) walk.totals[t][v] = V::zero();
        }
        if (end < inner) inner = end = to;
        const float* first = picture + (k * r.dilation - r.pad) * r.picture_step;
        std::int64_t step = r.stride * r.picture_step, between = r.dilation * r.picture_step, x = from;
        for (; x < inner; ++x)
            walk.template add<false>(ranges, x, gradient + x * r.gradient_step, first + x * step, between, count);
        for (; x < end; ++x)
            walk.template add<true>(ranges, x, gradient + x * r.gradient_step, first + x * step, between, count);
        for (; x < to; ++x)
            walk.template add<false>(ranges, x, gradient + x * r.gradient_step, first + x * step, between, count);
        for (int t = 0; t < taps; ++t)
            for (int v = 0; v < wide; ++v) {
                float* sum = sums + t * r.channels + v * V::lanes;
                Vector total = V::add(load(sum, count), walk.totals[t][v]);
                whole ? V::store(sum, total) : V::store(sum, total, count);
            }
    }
};

/// All places of the kernel's row, some at a time.
template <int wide, bool whole>
void add_channels(const DepthwiseRow& r, int count, const float* gradient, const float* picture, float* sums) {
    for (std::int64_t k = 0; k < r.taps; k += most, sums += most * r.channels) {
        switch (r.taps - k) {
            case 1:
                Walk<1, wide, whole>::run(r, k, count, gradient, picture, sums);
                break;
            case 2:
                Walk<2, wide, whole>::run(r, k, count, gradient, picture, sums);
                break;
            case 3:
                Walk<3, wide, whole>::run(r, k, count, gradient, picture, sums);
                break;
            case 4:
                Walk<4, wide, whole>::run(r, k, count, gradient, picture, sums);
                break;
            default:
                Walk<most, wide, whole>::run(r, k, count, gradient, picture, sums);
        }
    }
}

void add_row(const DepthwiseRow& r, const float* gradient, const float* picture, float* sums) {
    std::int64_t c = 0;
    for (; c + together * V::lanes <= r.channels; c += together * V::lanes)
        add_channels<together, true>(r, V::lanes, gradient + c, picture + c, sums + c);
    for (; c + V::lanes <= r.channels; c += V::lanes)
        add_channels<1, true>(r, V::lanes, gradient + c, picture + c, sums + c);
    if (c < r.channels)
        add_channels<1, false>(r, static_cast<int>(r.channels - c), gradient + c, picture + c, sums + c);
}

}  // namespace

const DepthwiseKernel depthwise_kernel{add_row, depthwise_rows};

}  // namespace weft::cpu::WEFT_ISA
