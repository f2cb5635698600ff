#include "hand_loops.h"

#include <cstring>

#include "weft/kernel/elementary.h"
#include "weft/kernel/lanes.h"

namespace weft::bench {
namespace {

#if defined(__AVX512F__)
constexpr int width = 16;
#else
constexpr int width = 8;
#endif
struct Hand;
using V = Lanes<float, width, Hand>;

V all(float value) { return V::all(value); }

template <class Body>
void each_vector(std::int64_t count, Body body) {
    for (std::int64_t i = 0; i < count; i += width) body(i);
}

}  // namespace

void hand_gelu(float* const* a, std::int64_t count) {
    each_vector(count, [&](std::int64_t i) {
        V x = V::load(a[0] + i);
        V inner = (x + x * all(0.044715f) * x * x) * all(0.7978845608f);
        (x * all(0.5f) * (elementary::tanh(inner) + all(1))).store(a[1] + i);
    });
}

void hand_mix(float* const* a, std::int64_t count) {
    each_vector(count, [&](std::int64_t i) {
        V x = V::load(a[0] + i), y = V::load(a[1] + i);
        (elementary::sigmoid(x) * elementary::exp(-y) + x * y).store(a[2] + i);
    });
}

void hand_adam(float* const* a, std::int64_t count) {
    each_vector(count, [&](std::int64_t i) {
        V p = V::load(a[0] + i), g = V::load(a[1] + i);
        V m = V::load(a[2] + i) * all(0.9f) + g * all(0.1f), v = V::load(a[3] + i) * all(0.999f) + g * all(0.001f) * g;
        (p - m * all(0.001f) / (sqrt(v) + all(1e-8f))).store(a[4] + i);
        m.store(a[5] + i);
        v.store(a[6] + i);
    });
}

void hand_chain(float* const* a, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += 4 * width) {  // four at once, for each waits for the one before
        V x[4], y[4];
        for (int k = 0; k < 4; ++k) y[k] = x[k] = V::load(a[0] + i + k * width);
        for (int step = 0; step < 100; ++step) {
            for (int k = 0; k < 4; ++k)
                y[k] = (step % 3 == 0   ? y[k] * x[k]
                        : step % 3 == 1 ? y[k] + all(0.5f)
                                        : y[k] - x[k] * all(0.25f)) *
                       all(0.99f);
        }
        for (int k = 0; k < 4; ++k) y[k].store(a[1] + i + k * width);
    }
}

void hand_cube_sum(const float* cube, float* sums, std::int64_t side, int axis) {
    if (axis == 2) {
        for (std::int64_t row = 0; row < side * side; ++row) {
            const float* from = cube + row * side;
            V lanes[4] = {all(0), all(0), all(0), all(0)};
            for (std::int64_t i = 0; i < side; i += 4 * width)
                for (int k = 0; k < 4; ++k) lanes[k] = lanes[k] + V::load(from + i + k * width);
            float rest[width], total = 0;
            ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])).store(rest);
            for (float value : rest) total += value;
            sums[row] = total;
        }
        return;
    }
    std::int64_t outer = axis == 0 ? 1 : side, length = axis == 0 ? side * side : side;
    for (std::int64_t block = 0; block < outer; ++block) {
        float* to = sums + block * length;
        const float* from = cube + block * side * length;
        std::memset(to, 0, static_cast<std::size_t>(length) * sizeof(float));
        for (std::int64_t row = 0; row < side; ++row)
            for (std::int64_t i = 0; i < length; i += width)
                (V::load(to + i) + V::load(from + row * length + i)).store(to + i);
    }
}

}  // namespace weft::bench
