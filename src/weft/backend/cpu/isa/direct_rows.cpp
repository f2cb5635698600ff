// Some places of a row and some vectors of channels at a time, whose sums stay in registers: what a place reads is spread over a vector's lanes.
#include "weft/backend/cpu/isa/direct_rows.h"

#include <type_traits>

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
#if defined(WEFT_ISA_avx2)
namespace {

using V = Vec<float>;
// Beside sums, a place's number and the weights of as many vectors want registers.
constexpr int most_sums = 12;

/// Where the weights and results of some vectors of channels are.
struct Vectors {
    std::int64_t weights[3], results[3];
};

/// `step`: the row's, if it is above 0.
template <int step, int places, int wide>
[[gnu::noinline]] void sum_places(const DirectRow& row, const Vectors& at, const float* pixels, const float* weights,
                                  float* result) {
    const std::int64_t apart = step > 0 ? step : row.step;
    typename V::Type totals[places][wide];
#pragma GCC unroll 12
    for (int p = 0; p < places; ++p)
#pragma GCC unroll 3
        for (int v = 0; v < wide; ++v) totals[p][v] = V::zero();
    for (std::int64_t t = 0; t < row.taps; ++t) {
        const float *pixel = pixels + row.offsets[t], *factors = weights + t * V::lanes;
        typename V::Type weight[wide];
#pragma GCC unroll 3
        for (int v = 0; v < wide; ++v) weight[v] = V::load(factors + at.weights[v]);
#pragma GCC unroll 12
        for (int p = 0; p < places; ++p) {
            const typename V::Type number = V::all(pixel[p * apart]);
#pragma GCC unroll 3
            for (int v = 0; v < wide; ++v) V::add_product(totals[p][v], weight[v], number);
        }
    }
#pragma GCC unroll 12
    for (int p = 0; p < places; ++p)
#pragma GCC unroll 3
        for (int v = 0; v < wide; ++v) V::store(result + p * row.result_step + at.results[v], totals[p][v]);
}

template <int step, int places, int wide>
void sum_some(int count, const DirectRow& row, const Vectors& at, const float* pixels, const float* weights,
              float* result) {
    if (count == places) return sum_places<step, places, wide>(row, at, pixels, weights, result);
    if constexpr (places > 1) sum_some<step, places - 1, wide>(count, row, at, pixels, weights, result);
}

/// A row of some vectors, in pieces of much the same length: short ones wait for their sums.
template <int step, int wide>
void sum_row(const DirectRow& row, const Vectors& at, const float* pixels, const float* weights, float* result) {
    constexpr int most = most_sums / wide;
    const std::int64_t pieces = (row.places + most - 1) / most;
    for (std::int64_t i = 0, x = 0; i < pieces; ++i) {
        const auto count = static_cast<int>((row.places - x) / (pieces - i));
        sum_some<step, most, wide>(count, row, at, pixels + x * row.step, weights, result + x * row.result_step);
        x += count;
    }
}

template <int step>
void sum_channels(const DirectRow& row, const float* pixels, const float* weights, float* result) {
    const std::int64_t vectors = (row.channels + V::lanes - 1) / V::lanes;
    for (std::int64_t first = 0; first < vectors;) {
        const std::int64_t left = vectors - first;
        const int wide = left == 3 || left > 4 ? 3 : left > 1 ? 2 : 1;
        Vectors at;
        for (int v = 0; v < wide; ++v) {
            at.weights[v] = (first + v) * row.vector_step;
            at.results[v] = (first + v) * V::lanes;
            if (at.results[v] + V::lanes > row.channels) at.results[v] = row.channels - V::lanes;
        }
        if (wide == 3)
            sum_row<step, 3>(row, at, pixels, weights, result);
        else if (wide == 2)
            sum_row<step, 2>(row, at, pixels, weights, result);
        else
            sum_row<step, 1>(row, at, pixels, weights, result);
        first += wide;
    }
}

void run(const DirectRow& row, const float* pixels, const float* weights, float* result) {
    if (row.step == 1)
        sum_channels<1>(row, pixels, weights, result);
    else if (row.step == 2)
        sum_channels<2>(row, pixels, weights, result);
    else
        sum_channels<0>(row, pixels, weights, result);
}

}  // namespace

const DirectRows direct_rows{run, V::lanes};
#else
const DirectRows direct_rows{nullptr, 0};  // others were not timed
#endif

}  // namespace weft::cpu::WEFT_ISA
