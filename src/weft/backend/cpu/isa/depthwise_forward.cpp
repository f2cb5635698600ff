// Channels in vectors; the sums of some places of a row stay in registers while the kernel is walked. Each is one chain of fused
// multiply-adds in the kernel's order, so every set gives the same bits.
#include <type_traits>

#include "weft/backend/cpu/isa/depthwise.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using V = Vec<float>;
// Sums that stay in registers: so many places of two vectors of channels; or, where there are 16 registers, more places of one, beside which the
// weights of a row of the kernel have room. Two vectors are a whole line of memory, which stores past the caches want.
constexpr int usual_places = V::lanes >= 16 ? 6 : 4, most_places = V::lanes == 8 ? 8 : usual_places;

template <int value>
using Int = std::integral_constant<int, value>;

/// Which of `count` numbers from `from` on, each `by` above the last, lie in [0, size): [first, end).
struct Range {
    std::int64_t first, end;
    Range() = default;  // of none yet: hundreds of them would be cleared for each picture
    Range(std::int64_t from, std::int64_t by, std::int64_t count, std::int64_t size) {
        first = from >= 0 ? 0 : (-from + by - 1) / by;
        end = from >= size ? 0 : (size - 1 - from) / by + 1;
        if (end > count) end = count;
        if (first > end) first = end;
    }
    bool holds(std::int64_t i) const { return i >= first && i < end; }
};

/// The kernel's places whose rows lie inside the picture, for rows of the result: where each reads, from where the result's first would with no
/// padding, its weights, and its column. Rows of which the same of the kernel lies inside share them.
class Taps {
  public:
    std::int64_t picture[most_depthwise_places], weights[most_depthwise_places], column[most_depthwise_places];
    int count = 0;
    std::int64_t ahead = 0;  // to the row that the next one of the result reads anew; 0: there is none

    explicit Taps(const DepthwiseImage& s) : s_(s) {}

    /// To row y of the result and these columns of the kernel.
    void turn_to(std::int64_t y, const Range& columns) {
        const std::int64_t d = s_.dilation[0], row = y * s_.stride[0] - s_.pad[0], behind = row + s_.kernel[0] * d;
        const bool whole = row >= 0 && behind - d < s_.in[0];
        const Range rows = whole ? Range(0, 1, s_.kernel[0], s_.kernel[0]) : Range(row, d, s_.kernel[0], s_.in[0]);
        constexpr std::int64_t near = 32 << 10;  // numbers of a picture that a second-level cache has at hand
        const std::int64_t new_row = behind - d + s_.stride[0];
        const bool asks = s_.in[0] * s_.picture_row > near && new_row < s_.in[0];
        ahead = asks ? (new_row - row - s_.pad[0]) * s_.picture_row : 0;
        if (rows.first == rows_.first && rows.end == rows_.end) return;
        rows_ = rows, count = 0;
        for (std::int64_t k1 = rows.first; k1 < rows.end; ++k1)
            for (std::int64_t k2 = columns.first; k2 < columns.end; ++k2, ++count) {
                picture[count] =
                    (k1 * d - s_.pad[0]) * s_.picture_row + (k2 * s_.dilation[1] - s_.pad[1]) * s_.picture_step;
                weights[count] = (k1 * s_.kernel[1] + k2) * s_.channels;
                column[count] = k2;
            }
    }

  private:
    const DepthwiseImage& s_;
    Range rows_{0, 1, 0, 0};
};

/// Of some places that lie side by side, which read inside the picture: for each column of the kernel; and which of the pixels, where the
/// result moves by as much as the kernel's places lie apart.
class Inside {
  public:
    Range places[most_depthwise_places], pixels;

    void turn_to(const DepthwiseImage& s, std::int64_t x, int count) {
        if (x == x_ && count == count_) return;
        x_ = x, count_ = count;
        const std::int64_t from = x * s.stride[1] - s.pad[1];
        for (std::int64_t k = 0; k < s.kernel[1]; ++k)
            places[k] = Range(from + k * s.dilation[1], s.stride[1], count, s.in[1]);
        pixels = Range(from, s.dilation[1], count - 1 + s.kernel[1], s.in[1]);
    }

  private:
    std::int64_t x_ = -1;
    int count_ = 0;
};

/// Some places of the result and the channels of each, from the pointers on; steps in elements.
struct Places {
    const Taps& taps;
    const float *picture, *weights;
    float* result;
    std::int64_t next, result_step, weights_step;  // to the next place; to the weights of the kernel's next
    const Inside* inside = nullptr;                // of places at the border; null: all that they read lies inside

    Places from(std::int64_t c) const {
        return {taps, picture + c, weights + c, result + c, next, result_step, weights_step, inside};
    }
    void go_on(int vectors) {
        picture += vectors * V::lanes, weights += vectors * V::lanes, result += vectors * V::lanes;
    }
};

/// What all sums of a block begin with. A row's pixels lie too far from each other for processors to fetch what comes next: it is asked for
/// while this row is summed.
template <int places, int wide>
WEFT_INLINE void begin(typename V::Type (&totals)[places][wide], const Places& at) {
    for (int i = 0; i < places; ++i)
        for (int v = 0; v < wide; ++v) totals[i][v] = V::zero();
    for (int i = 0; at.taps.ahead != 0 && i < places; ++i)
        for (int v = 0; v < wide; ++v) __builtin_prefetch(at.picture + at.taps.ahead + i * at.next + v * V::lanes);
}

template <int places, int wide, bool past>
WEFT_INLINE void store_sums(const typename V::Type (&totals)[places][wide], const Places& at) {
    float* result = at.result;
    for (int i = 0; i < places; ++i, result += at.result_step)
        for (int v = 0; v < wide; ++v)
            past ? V::store_past(result + v * V::lanes, totals[i][v]) : V::store(result + v * V::lanes, totals[i][v]);
}

/// Which places of a block a place of the kernel has a part in.
enum { every, all_but_ends, some };

/// `blocks` times `wide` vectors of channels, from `first` on. A function of its own, so that all registers are the sums' and their pointers'.
template <int places, int wide, bool past, bool border>
[[gnu::noinline]] void sum_taps(const Places& all, std::int64_t first, std::int64_t blocks) {
    for (Places at = all.from(first); blocks > 0; --blocks, at.go_on(wide)) {
        typename V::Type totals[places][wide];
        begin(totals, at);
        for (int tap = 0; tap < at.taps.count; ++tap) {
            const float *pixel = at.picture + at.taps.picture[tap], *factors = at.weights + at.taps.weights[tap];
            const Range* inside = border ? &at.inside->places[at.taps.column[tap]] : nullptr;
            typename V::Type weight[wide];
            for (int v = 0; v < wide; ++v) weight[v] = V::load(factors + v * V::lanes);
            auto add = [&](auto which) __attribute__((always_inline)) {
#pragma GCC unroll 8
                for (int i = 0; i < places; ++i) {
                    if (which() == all_but_ends &&
                        ((i == 0 && inside->first > 0) || (i == places - 1 && inside->end < places)))
                        continue;
                    if (which() == some && !inside->holds(i)) continue;
                    for (int v = 0; v < wide; ++v)
                        totals[i][v] = V::fma(weight[v], V::load(pixel + i * at.next + v * V::lanes), totals[i][v]);
                }
            };
            if (!border || inside->end - inside->first == places)
                add(Int<every>{});
            else if (inside->first <= 1 && inside->end >= places - 1)
                add(Int<all_but_ends>{});
            else
                add(Int<some>{});
        }
        store_sums<places, wide, past>(totals, at);
    }
}

/// The same of whole rows of the kernel, `width` places of it, where the result moves by as much as its places lie apart: a pixel is loaded
/// once for all the sums that it is part of.
template <int places, int wide, int width, bool past, bool border>
[[gnu::noinline]] void sum_rows(const Places& all, std::int64_t first, std::int64_t blocks) {
    const Range pixels = border ? all.inside->pixels : Range(0, 1, 0, 0);
    for (Places at = all.from(first); blocks > 0; --blocks, at.go_on(wide)) {
        typename V::Type totals[places][wide];
        begin(totals, at);
        for (int tap = 0; tap < at.taps.count; tap += width) {
            const float *pixel = at.picture + at.taps.picture[tap], *factors = at.weights + at.taps.weights[tap];
            typename V::Type weight[width][wide];
            for (int k = 0; k < width; ++k)
                for (int v = 0; v < wide; ++v) weight[k][v] = V::load(factors + k * at.weights_step + v * V::lanes);
#pragma GCC unroll 32
            for (int p = 0; p < places - 1 + width; ++p, pixel += at.next) {
                if (border && !pixels.holds(p)) continue;
                for (int v = 0; v < wide; ++v) {
                    typename V::Type value = V::load(pixel + v * V::lanes);
#pragma GCC unroll 8
                    for (int i = 0; i < places; ++i)
                        if (int k = p - i; k >= 0 && k < width) V::add_product(totals[i][v], weight[k][v], value);
                }
            }
        }
        store_sums<places, wide, past>(totals, at);
    }
}

/// Fewer channels than a vector has.
void sum_few(const Places& at, int places, int channels) {
    float* result = at.result;
    for (int i = 0; i < places; ++i, result += at.result_step) {
        typename V::Type total = V::zero();
        for (int tap = 0; tap < at.taps.count; ++tap) {
            if (at.inside && !at.inside->places[at.taps.column[tap]].holds(i)) continue;
            total = V::fma(V::load(at.weights + at.taps.weights[tap], channels),
                           V::load(at.picture + at.taps.picture[tap] + i * at.next, channels), total);
        }
        V::store(result, total, channels);
    }
}

/// All channels, vectors of them, `most` and fewer at a time: so much of some rows of the picture stays in the first-level cache, where a vector
/// of each pixel in a row would meet few of its sets. The last vector begins where it ends with the channels, some of which it sums once more: a
/// part of a vector takes as long. `sums(wide, past)`: a function of so many vectors.
template <int most, class Sums>
WEFT_INLINE void for_each_channels(const Places& at, std::int64_t channels, bool past, Sums&& sums) {
    std::int64_t c = 0;
    auto some = [&](auto wide) __attribute__((always_inline)) {
        std::int64_t blocks = (channels - c) / (wide() * V::lanes);
        if (blocks == 0) return;
        constexpr bool most_of_all = wide() == most && most > 1;
        most_of_all&& past ? sums(wide, std::bool_constant<most_of_all>{})(at, c, blocks)
                           : sums(wide, std::false_type{})(at, c, blocks);
        c += blocks * wide() * V::lanes;
    };
    some(Int<most>{});
    if constexpr (most > 2) some(Int<2>{});
    if constexpr (most > 1) some(Int<1>{});
    if (c < channels) sums(Int<1>{}, std::false_type{})(at, channels - V::lanes, 1);
}

/// `by_rows`: the result moves by as much as the kernel's places of a row lie apart.
template <int places, bool border>
void sum_places(const DepthwiseImage& s, const Places& at, std::int64_t channels, bool by_rows) {
    // Of few places more vectors, so that no sum waits for itself.
    constexpr int most = places > usual_places ? 1 : places > 2 ? 2 : 4;
    if constexpr (places >= usual_places) {
        auto rows = [&](auto width) {
            for_each_channels<most>(at, channels, s.past, [](auto wide, auto past) {
                return &sum_rows<places, decltype(wide)::value, decltype(width)::value, decltype(past)::value, border>;
            });
        };
        if (by_rows && s.kernel[1] == 3) return rows(Int<3>{});
        if (by_rows && s.kernel[1] == 5) return rows(Int<5>{});
        if constexpr (V::lanes >= 16 || most == 1)  // 14 weights and 12 sums want 32 registers
            if (by_rows && s.kernel[1] == 7) return rows(Int<7>{});
    }
    for_each_channels<most>(at, channels, s.past, [](auto wide, auto past) {
        return &sum_taps<places, decltype(wide)::value, decltype(past)::value, border>;
    });
}

void sum_places(const DepthwiseImage& s, const Places& at, int places, std::int64_t channels, bool by_rows) {
    if (channels < V::lanes) return sum_few(at, places, static_cast<int>(channels));
    auto sum = [&](auto count) {
        at.inside ? sum_places<count(), true>(s, at, channels, by_rows)
                  : sum_places<count(), false>(s, at, channels, by_rows);
    };
    if (most_places > usual_places && places == most_places) return sum(Int<most_places>{});
    if (places == usual_places) return sum(Int<usual_places>{});
    places == 2 ? sum(Int<2>{}) : sum(Int<1>{});
}

/// Rows [first, last), places side by side summed together.
class Rows {
  public:
    Rows(const DepthwiseImage& s, std::int64_t channels) : s_(s), channels_(channels), taps_(s) {
        // Pixels that lie a multiple of this apart meet few sets of the first-level cache: whole lines of each, then, and fewer pixels.
        constexpr std::int64_t meets = 1024 / sizeof(float);
        most_ = s.past || s.picture_step % meets == 0 ? usual_places : most_places;
        by_rows_ = s.stride[1] == s.dilation[1];
        inner_ = Range(-s.pad[1], s.stride[1], s.places, s.in[1]);
        Range behind((s.kernel[1] - 1) * s.dilation[1] - s.pad[1], s.stride[1], s.places, s.in[1]);
        if (behind.end < inner_.end) inner_.end = behind.end;
    }

    void run(const float* picture, const float* weights, float* result, std::int64_t first, std::int64_t last) {
        const std::int64_t next = s_.stride[1] * s_.picture_step;
        for (std::int64_t y = first; y < last; ++y) {
            taps_.turn_to(y, Range(0, 1, s_.kernel[1], s_.kernel[1]));
            const float* row = picture + y * s_.stride[0] * s_.picture_row;
            for (std::int64_t x = 0; x < s_.places;) {
                const int count = together(x);
                Places at{taps_, row + x * next, weights,    result + y * s_.result_row + x * s_.result_step,
                          next,  s_.result_step, s_.channels};
                if (!inner_.holds(x) || !inner_.holds(x + count - 1)) {
                    Inside& border = x == 0 ? left_ : right_;
                    border.turn_to(s_, x, count);
                    at.inside = &border;
                }
                sum_places(s_, at, count, channels_, by_rows_);
                x += count;
            }
        }
    }

  private:
    // How many places from x on. Those that are left at the end, too few, are summed with some that have been summed before.
    int together(std::int64_t& x) const {
        std::int64_t left = s_.places - x;
        if (left >= most_) return most_;
        if (left >= usual_places) return usual_places;
        if (left > 1 && x > 0 && (by_rows_ || left == usual_places - 1))
            return x = s_.places - usual_places, usual_places;
        return left >= 2 ? 2 : 1;
    }

    const DepthwiseImage& s_;
    std::int64_t channels_;
    int most_;
    bool by_rows_;
    Range inner_;  // places that read the whole of a row of the kernel from inside the picture
    Taps taps_;
    Inside left_, right_;
};

/// The same of pictures of few columns, places below each other summed together, where they read the whole of the kernel from inside.
void sum_columns(const DepthwiseImage& s, const float* picture, const float* weights, float* result, std::int64_t first,
                 std::int64_t last, std::int64_t channels) {
    Range inner(-s.pad[0], s.stride[0], last, s.in[0]);
    Range behind((s.kernel[0] - 1) * s.dilation[0] - s.pad[0], s.stride[0], last, s.in[0]);
    if (behind.end < inner.end) inner.end = behind.end;
    for (std::int64_t x = 0; x < s.places; ++x) {
        const Range columns(x * s.stride[1] - s.pad[1], s.dilation[1], s.kernel[1], s.in[1]);
        Taps taps(s);
        for (std::int64_t y = first; y < last;) {
            const bool whole = y >= inner.first && y + usual_places <= inner.end;
            taps.turn_to(y, columns);
            Places at{taps,
                      picture + y * s.stride[0] * s.picture_row + x * s.stride[1] * s.picture_step,
                      weights,
                      result + y * s.result_row + x * s.result_step,
                      s.stride[0] * s.picture_row,
                      s.result_row,
                      s.channels};
            sum_places(s, at, whole ? usual_places : 1, channels, false);
            y += whole ? usual_places : 1;
        }
    }
}

}  // namespace

void depthwise_rows(const DepthwiseImage& s, const float* picture, const float* weights, float* result,
                    std::int64_t first, std::int64_t last, std::int64_t channels) {
    if (s.places >= usual_places)
        Rows(s, channels).run(picture, weights, result, first, last);
    else
        sum_columns(s, picture, weights, result, first, last, channels);
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
    if (s.past) _mm_sfence();  // other threads are told later, and must find what was stored
#endif
}

}  // namespace weft::cpu::WEFT_ISA
