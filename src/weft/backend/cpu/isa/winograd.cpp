// Channels in vectors. A square is transformed along one axis, then along the other: each transform of a column is a struct below.
#include "weft/backend/cpu/isa/winograd.h"

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using V = Vec<float>;
using Vector = typename V::Type;

WEFT_INLINE Vector half(Vector a) { return V::fma(V::all(0.5f), a, V::all(-0.0f)); }

struct OfPixels {
    static constexpr int from = 4, to = 4;
    WEFT_INLINE void along(const Vector* d, Vector* t) {
        t[0] = V::subtract(d[0], d[2]);
        t[1] = V::add(d[1], d[2]);
        t[2] = V::subtract(d[2], d[1]);
        t[3] = V::subtract(d[1], d[3]);
    }
};
struct OfWeights {
    static constexpr int from = 3, to = 4;
    WEFT_INLINE void along(const Vector* g, Vector* t) {
        Vector outer = V::add(g[0], g[2]);
        t[0] = g[0];
        t[1] = half(V::add(outer, g[1]));
        t[2] = half(V::subtract(outer, g[1]));
        t[3] = g[2];
    }
};
struct OfGradient {
    static constexpr int from = 2, to = 4;
    WEFT_INLINE void along(const Vector* g, Vector* t) {
        t[0] = g[0];
        t[1] = half(V::add(g[0], g[1]));
        t[2] = half(V::subtract(g[0], g[1]));
        t[3] = g[1];
    }
};
struct ToPixels {
    static constexpr int from = 4, to = 2;
    WEFT_INLINE void along(const Vector* m, Vector* y) {
        y[0] = V::add(V::add(m[0], m[1]), m[2]);
        y[1] = V::subtract(V::subtract(m[1], m[2]), m[3]);
    }
};
struct ToWeights {
    static constexpr int from = 4, to = 3;
    WEFT_INLINE void along(const Vector* m, Vector* w) {
        Vector inner = V::add(m[1], m[2]);
        w[0] = V::add(m[0], inner);
        w[1] = V::subtract(m[1], m[2]);
        w[2] = V::subtract(inner, m[3]);
    }
};

/// square[from][from] to result[to][to].
template <class Of>
WEFT_INLINE void transform(const Vector* square, Vector* result) {
    Vector half_way[Of::to * Of::from];
#pragma GCC unroll 4
    for (int j = 0; j < Of::from; ++j) {
        Vector column[Of::from], made[Of::to];
#pragma GCC unroll 4
        for (int i = 0; i < Of::from; ++i) column[i] = square[i * Of::from + j];
        Of::along(column, made);
#pragma GCC unroll 4
        for (int i = 0; i < Of::to; ++i) half_way[i * Of::from + j] = made[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < Of::to; ++i) Of::along(half_way + i * Of::from, result + i * Of::to);
}

WEFT_INLINE Vector load(const float* from, int count) {
    return count == V::lanes ? V::load(from) : V::load(from, count);
}
WEFT_INLINE void store(float* to, Vector value, int count) {
    count == V::lanes ? V::store(to, value) : V::store(to, value, count);
}

/// Calls f(first channel, how many) for each vector of channels.
template <class F>
WEFT_INLINE void for_each_vector(std::int64_t channels, F&& f) {
    std::int64_t c = 0;
    for (; c + V::lanes <= channels; c += V::lanes) f(c, V::lanes);
    if (c < channels) f(c, static_cast<int>(channels - c));
}

template <class Of>
void take(const float* const* pixels, std::int64_t channels, float* to, std::int64_t step) {
    for_each_vector(
        channels, [=](std::int64_t c, int count) __attribute__((always_inline)) {
            Vector square[Of::from * Of::from], result[Of::to * Of::to];
#pragma GCC unroll 16
            for (int p = 0; p < Of::from * Of::from; ++p) square[p] = load(pixels[p] + c, count);
            transform<Of>(square, result);
#pragma GCC unroll 16
            for (int p = 0; p < Of::to * Of::to; ++p) store(to + p * step + c, result[p], count);
        });
}

void take_weights(const float* weights, std::int64_t channels, float* to, std::int64_t step) {
    const float* places[9];
    for (int w = 0; w < 9; ++w) places[w] = weights + w * channels;
    take<OfWeights>(places, channels, to, step);
}

/// Whether all are finite is asked of their sum (one that overflows says no, too).
template <class Of>
bool give(const float* from, std::int64_t step, std::int64_t channels, float* const* pixels) {
    typename V::Lanes finite = V::all_lanes();
    for_each_vector(
        channels, [&](std::int64_t c, int count) __attribute__((always_inline)) {
            Vector square[Of::from * Of::from], result[Of::to * Of::to], sum = V::zero();
#pragma GCC unroll 16
            for (int p = 0; p < Of::from * Of::from; ++p) square[p] = load(from + p * step + c, count);
            transform<Of>(square, result);
#pragma GCC unroll 16
            for (int p = 0; p < Of::to * Of::to; ++p) {
                if (!pixels[p]) continue;
                sum = V::add(sum, result[p]);
                store(pixels[p] + c, result[p], count);
            }
            Vector nothing = V::subtract(sum, sum);
            finite = V::ordered(finite, nothing, nothing);
        });
    return V::all_of(finite);
}

bool give_weights(const float* from, std::int64_t step, std::int64_t channels, float* weights) {
    float* places[9];
    for (int w = 0; w < 9; ++w) places[w] = weights + w * channels;
    return give<ToWeights>(from, step, channels, places);
}

}  // namespace

const WinogradKernels winograd_kernels{take<OfPixels>, take<OfGradient>, take_weights, give<ToPixels>, give_weights};

}  // namespace weft::cpu::WEFT_ISA
