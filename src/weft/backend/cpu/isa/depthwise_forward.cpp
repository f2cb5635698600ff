// Channels in vectors; the sums of some places of a row stay in registers while the kernel is walked. Each is one chain of fused
// multiply-adds in the kernel's order, so every set gives the same bits.
#include <type_traits>

#include "weft/backend/cpu/isa/depthwise.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using V = Vec<float>;
// Sums that stay in registers: so many places of two vectors of channels.
constexpr int most_places = V::lanes >= 16 ? 6 : 4;

template <int value>
using Int = std::integral_constant<int, value>;

/// The kernel's places that lie inside the picture, for some places of the result: where each reads, from the result's first, and its weights.
struct Taps {
    std::int64_t picture[most_depthwise_places], weights[most_depthwise_places];
    int count = 0;
    std::int64_t ahead = 0;  // to the row that the next one of the result reads anew; 0: there is none

    Taps(const DepthwiseImage& s, std::int64_t y, std::int64_t first_x, std::int64_t last_x) {
        for (std::int64_t k1 = 0; k1 < s.kernel[0]; ++k1) {
            std::int64_t row = y * s.stride[0] - s.pad[0] + k1 * s.dilation[0];
            if (row < 0 || row >= s.in[0]) continue;
            for (std::int64_t k2 = 0; k2 < s.kernel[1]; ++k2) {
                std::int64_t offset = k2 * s.dilation[1] - s.pad[1];
                if (first_x * s.stride[1] + offset < 0 || last_x * s.stride[1] + offset >= s.in[1]) continue;
                picture[count] = row * s.picture_row + offset * s.picture_step;
                weights[count++] = (k1 * s.kernel[1] + k2) * s.channels;
            }
        }
        std::int64_t new_row = (y + 1) * s.stride[0] - s.pad[0] + (s.kernel[0] - 1) * s.dilation[0];
        if (new_row < s.in[0]) ahead = new_row * s.picture_row;
    }
};

template <int places, int wide, bool whole, bool past>
WEFT_INLINE void store_sums(const typename V::Type (&totals)[places][wide], float* result, std::int64_t result_step,
                            int count) {
    for (int i = 0; i < places; ++i, result += result_step)
        for (int v = 0; v < wide; ++v)
            if (past)
                V::store_past(result + v * V::lanes, totals[i][v]);
            else if (whole)
                V::store(result + v * V::lanes, totals[i][v]);
            else
                V::store(result + v * V::lanes, totals[i][v], count);
}

/// `wide` vectors of channels of `places` places; of one that is not `whole`, `count` channels.
template <int places, int wide, bool whole, bool past = false>
WEFT_INLINE void sum_channels(const Taps& taps, const float* picture, std::int64_t next, const float* weights,
                              float* result, std::int64_t result_step, int count) {
    auto load = [count](const float* from) __attribute__((always_inline)) {
        return whole ? V::load(from) : V::load(from, count);
    };
    typename V::Type totals[places][wide];
    for (int i = 0; i < places; ++i)
        for (int v = 0; v < wide; ++v) totals[i][v] = V::zero();
    // A row's pixels lie too far from each other for processors to fetch what comes next: it is asked for while this row is summed.
    for (int i = 0; taps.ahead != 0 && i < places; ++i)
        for (int v = 0; v < wide; ++v) __builtin_prefetch(picture + taps.ahead + i * next + v * V::lanes);
    for (int tap = 0; tap < taps.count; ++tap) {
        const float *pixel = picture + taps.picture[tap], *factors = weights + taps.weights[tap];
        typename V::Type weight[wide];
        for (int v = 0; v < wide; ++v) weight[v] = load(factors + v * V::lanes);
#pragma GCC unroll 8
        for (int i = 0; i < places; ++i)
            for (int v = 0; v < wide; ++v)
                totals[i][v] = V::fma(weight[v], load(pixel + i * next + v * V::lanes), totals[i][v]);
    }
    store_sums<places, wide, whole, past>(totals, result, result_step, count);
}

/// The same of whole rows of the kernel, `width` places of it, where the result moves by as much as its places lie apart: a pixel is loaded
/// once for all the sums that it is part of.
template <int places, int wide, int width, bool whole, bool past = false>
WEFT_INLINE void sum_rows(const Taps& taps, const float* picture, std::int64_t next, const float* weights,
                          std::int64_t weights_step, float* result, std::int64_t result_step, int count) {
    auto load = [count](const float* from) __attribute__((always_inline)) {
        return whole ? V::load(from) : V::load(from, count);
    };
    typename V::Type totals[places][wide];
    for (int i = 0; i < places; ++i)
        for (int v = 0; v < wide; ++v) totals[i][v] = V::zero();
    for (int i = 0; taps.ahead != 0 && i < places; ++i)
        for (int v = 0; v < wide; ++v) __builtin_prefetch(picture + taps.ahead + i * next + v * V::lanes);
    for (int tap = 0; tap < taps.count; tap += width) {
        const float *pixel = picture + taps.picture[tap], *factors = weights + taps.weights[tap];
        typename V::Type weight[width][wide];
        for (int k = 0; k < width; ++k)
            for (int v = 0; v < wide; ++v) weight[k][v] = load(factors + k * weights_step + v * V::lanes);
#pragma GCC unroll 32
        for (int p = 0; p < places - 1 + width; ++p, pixel += next)
            for (int v = 0; v < wide; ++v) {
                typename V::Type value = load(pixel + v * V::lanes);
#pragma GCC unroll 8
                for (int i = 0; i < places; ++i)
                    if (int k = p - i; k >= 0 && k < width) totals[i][v] = V::fma(weight[k][v], value, totals[i][v]);
            }
    }
    store_sums<places, wide, whole, past>(totals, result, result_step, count);
}

/// How far places that are summed together lie apart, in the picture and in the result, in elements: neighbours of a row, or of a column.
struct Apart {
    std::int64_t picture, result;
    bool in_row;
};

/// Calls f(wide, whole, c) for all channels: vectors of them, `most` and fewer at a time. The last vector begins where it ends with the
/// channels, some of which it sums once more: a part of a vector takes as long.
template <int most, class F>
WEFT_INLINE void for_each_channels(std::int64_t channels, F&& f) {
    std::int64_t c = 0;
    for (; c + most * V::lanes <= channels; c += most * V::lanes) f(Int<most>{}, std::true_type{}, c);
    if constexpr (most > 2)
        if (c + 2 * V::lanes <= channels) f(Int<2>{}, std::true_type{}, c), c += 2 * V::lanes;
    if (channels < V::lanes) return f(Int<1>{}, std::false_type{}, c);
    for (; c < channels; c += V::lanes)
        f(Int<1>{}, std::true_type{}, c + V::lanes > channels ? channels - V::lanes : c);
}

/// All channels: so much of some rows of the picture stays in the first-level cache, where a vector of each pixel in a row would meet few of
/// its sets.
template <int places>
void sum_places(const DepthwiseImage& s, const Apart& apart, const Taps& taps, const float* picture,
                const float* weights, float* result, std::int64_t channels) {
    constexpr int most = places > 2 ? 2 : 4;  // of few places more vectors, so that no sum waits for itself
    const std::int64_t next = apart.picture, result_step = apart.result;
    const int count = static_cast<int>(channels);  // where it is less than a vector
    auto channels_of = [&](auto wide, auto whole, std::int64_t c) __attribute__((always_inline)) {
        constexpr bool most_of_all = wide() == most;
        if (most_of_all && s.past)
            sum_channels<places, wide(), whole(), most_of_all>(taps, picture + c, next, weights + c, result + c,
                                                               result_step, count);
        else
            sum_channels<places, wide(), whole()>(taps, picture + c, next, weights + c, result + c, result_step, count);
    };
    if constexpr (places == most_places) {
        auto rows = [&](auto width) {
            for_each_channels<most>(
                channels, [&](auto wide, auto whole, std::int64_t c) __attribute__((always_inline)) {
                    constexpr bool most_of_all = wide() == most;
                    if (most_of_all && s.past)
                        sum_rows<places, wide(), width(), whole(), most_of_all>(
                            taps, picture + c, next, weights + c, s.channels, result + c, result_step, count);
                    else
                        sum_rows<places, wide(), width(), whole()>(taps, picture + c, next, weights + c, s.channels,
                                                                   result + c, result_step, count);
                });
        };
        if (apart.in_row && next == s.dilation[1] * s.picture_step) {
            if (s.kernel[1] == 3) return rows(Int<3>{});
            if (s.kernel[1] == 5) return rows(Int<5>{});
            if constexpr (V::lanes >= 16)  // 14 weights and 12 sums want 32 registers
                if (s.kernel[1] == 7) return rows(Int<7>{});
        }
    }
    for_each_channels<most>(channels, channels_of);
}

}  // namespace

/// Places of an axis, of [first, end), that read the whole of the kernel from inside the picture.
struct Inside {
    std::int64_t first, end;
    Inside(const DepthwiseImage& s, int axis, std::int64_t from, std::int64_t to) {
        std::int64_t room = s.in[axis] - 1 + s.pad[axis] - (s.kernel[axis] - 1) * s.dilation[axis];
        first = (s.pad[axis] + s.stride[axis] - 1) / s.stride[axis];
        end = room < 0 ? 0 : room / s.stride[axis] + 1;
        if (first < from) first = from;
        if (end > to) end = to;
    }
};

void depthwise_rows(const DepthwiseImage& s, const float* picture, const float* weights, float* result,
                    std::int64_t first, std::int64_t last, std::int64_t channels) {
    const Apart in_row{s.stride[1] * s.picture_step, s.result_step, true},
        in_column{s.stride[0] * s.picture_row, s.result_row, false};
    const Inside across(s, 1, 0, s.places), down(s, 0, first, last);
    const std::int64_t left = across.first, right = across.end;
    auto sum = [&](auto places, const Apart& apart, const Taps& taps, std::int64_t y, std::int64_t x) {
        sum_places<places()>(s, apart, taps, picture + x * s.stride[1] * s.picture_step, weights,
                             result + y * s.result_row + x * s.result_step, channels);
    };
    for (std::int64_t y = first; y < last && left < right; ++y) {
        Taps taps(s, y, left, right - 1);
        std::int64_t x = left;
        for (; x + most_places <= right; x += most_places) sum(Int<most_places>{}, in_row, taps, y, x);
        for (; x + 2 <= right; x += 2) sum(Int<2>{}, in_row, taps, y, x);
        if (x < right) sum(Int<1>{}, in_row, taps, y, x);
    }
    // At the border each place has parts of the kernel of its own; but those of a column, between top and bottom, have the same.
    for (std::int64_t x = 0; x < s.places; ++x) {
        if (x == left && left < right) x = right;
        if (x >= s.places) break;
        for (std::int64_t y = first; y < last;) {
            bool together = y >= down.first && y + most_places <= down.end;
            Taps taps(s, y, x, x);
            together ? sum(Int<most_places>{}, in_column, taps, y, x) : sum(Int<1>{}, in_column, taps, y, x);
            y += together ? most_places : 1;
        }
    }
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    if (s.past) _mm_sfence();  // other threads are told later, and must find what was stored
#endif
}

}  // namespace weft::cpu::WEFT_ISA
