#include "weft/backend/cpu/few_channels_weights.h"

#include <algorithm>
#include <cmath>

#include "weft/backend/cpu/added_copies.h"
#include "weft/backend/cpu/few_channels_places.h"
#include "weft/backend/cpu/gemm.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t most_sums = 16;  // that images are shared out to, whatever the number of threads

/// Rows of zeros and of what the gradient of the output has for each pixel of the input, by the input: what each of its channels has to do with
/// each channel and place.
class FewChannelsWeights final : public Convolution::Way {
  public:
    FewChannelsWeights(const ConvolutionShape& s, const ConvolutionStrides& strides)
        : s_(s),
          strides_(strides),
          rows_(s.out_channels * few::product(s.kernel)),
          band_(few::lines_of_band(rows_, s.in)),
          sums_(std::min(s.batch, most_sums)) {
        std::int64_t pixels = band_ * s.in[2];
        slots_ = static_cast<int>(std::clamp<std::int64_t>(sums_, 1, ThreadPool::instance().threads()));
        each_sum_ = aligned(static_cast<std::size_t>(rows_ * s.in_channels) * sizeof(float));
        planes_ = aligned(static_cast<std::size_t>(s.out_channels * few::product(s.out)) * sizeof(float));
        moved_ = aligned(static_cast<std::size_t>(rows_ * pixels) * sizeof(float));
        each_slot_ = planes_ + moved_ + aligned(gemm_scratch_bytes(float32, rows_, s.in_channels, pixels));
    }

    std::size_t scratch_bytes() const override {
        return static_cast<std::size_t>(sums_) * each_sum_ + static_cast<std::size_t>(slots_) * each_slot_;
    }
    std::string implementation() const override { return "weft, a product of moved pixels"; }

    void run(const void* first, const void* second, void* result, void* scratch, const void*) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        auto sum = [&](std::int64_t i) {
            return reinterpret_cast<float*>(memory + static_cast<std::size_t>(i) * each_sum_);
        };
        auto images = [&](std::int64_t i, int slot) {
            std::byte* own =
                memory + static_cast<std::size_t>(sums_) * each_sum_ + static_cast<std::size_t>(slot) * each_slot_;
            for (std::int64_t n = i * s_.batch / sums_, begin = n; n < (i + 1) * s_.batch / sums_; ++n)
                join(static_cast<const float*>(first) + n * strides_.input.batch,
                     static_cast<const float*>(second) + n * strides_.output.batch, sum(i), n != begin, own);
        };
        parallel_for(sums_, images, slots_);
        add_copies(sum(0), sums_, static_cast<std::int64_t>(each_sum_ / sizeof(float)), rows_ * s_.in_channels);
        // An infinite pixel times a zero, where no output reads it, is NaN.
        if (!std::all_of(sum(0), sum(0) + rows_ * s_.in_channels, [](float x) { return std::isfinite(x); }))
            by_definition(static_cast<const float*>(first), static_cast<const float*>(second), sum(0));
        store(sum(0), static_cast<float*>(result));
    }

  private:
    void join(const float* input, const float* output, float* sum, bool further, std::byte* own) const {
        auto* planes = reinterpret_cast<float*>(own);
        auto* moved = reinterpret_cast<float*>(own + planes_);
        load(output, planes);
        std::int64_t step = strides_.input.spatial[2], lines = s_.in[0] * s_.in[1];
        for (std::int64_t line = 0; line < lines; line += band_) {
            std::int64_t end = std::min(lines, line + band_), pixels = (end - line) * s_.in[2];
            move(planes, line, end, moved);
            Matrix a{moved, pixels, 1}, b{input + line * s_.in[2] * step, step, strides_.input.channel};
            gemm(float32, rows_, s_.in_channels, pixels, a, b, sum, s_.in_channels, further || line > 0, {},
                 {own + planes_ + moved_, each_slot_ - planes_ - moved_});
        }
    }

    void load(const float* output, float* planes) const {
        const WindowStrides& from = strides_.output;
        for (std::int64_t c = 0; c < s_.out_channels; ++c)
            for (std::int64_t line = 0; line < s_.out[0] * s_.out[1]; ++line) {
                const float* pixel =
                    output + c * from.channel + line / s_.out[1] * from.spatial[0] + line % s_.out[1] * from.spatial[1];
                for (std::int64_t i = 0; i < s_.out[2]; ++i) *planes++ = pixel[i * from.spatial[2]];
            }
    }

    /// Of each place the outputs that read the pixels of these lines, zeros where none does.
    void move(const float* planes, std::int64_t begin, std::int64_t end, float* to) const {
        few::for_each_place(s_.out_channels, s_.kernel, [&](std::int64_t, std::int64_t c, const Spatial& k) {
            few::ReadRange i0(s_, 0, k[0]), i1(s_, 1, k[1]), i2(s_, 2, k[2]);
            for (std::int64_t line = begin; line < end; ++line, to += s_.in[2]) {
                std::int64_t y0 = line / s_.in[1] - i0.offset, y1 = line % s_.in[1] - i1.offset;
                std::int64_t count = i0.holds(y0) && i1.holds(y1) ? i2.last - i2.first : 0;
                float* at = std::fill_n(to, count > 0 ? i2.input(i2.first) : 0, 0.0F);
                const float* from = planes + ((c * s_.out[0] + y0) * s_.out[1] + y1) * s_.out[2] + i2.first;
                if (count > 0) at = std::copy(from, from + count, at);
                std::fill(at, to + s_.in[2], 0.0F);
            }
        });
    }

    void by_definition(const float* input, const float* output, float* sum) const {
        std::fill(sum, sum + rows_ * s_.in_channels, 0.0F);
        parallel_for(rows_, [&](std::int64_t row) {
            Spatial k{row / (s_.kernel[2] * s_.kernel[1]) % s_.kernel[0], row / s_.kernel[2] % s_.kernel[1],
                      row % s_.kernel[2]};
            std::int64_t o = row / few::product(s_.kernel);
            for (std::int64_t n = 0; n < s_.batch; ++n)
                join_by_definition(input + n * strides_.input.batch,
                                   output + n * strides_.output.batch + o * strides_.output.channel, k,
                                   sum + row * s_.in_channels);
        });
    }

    void join_by_definition(const float* input, const float* output, const Spatial& k, float* sum) const {
        const Spatial &from = strides_.input.spatial, &of = strides_.output.spatial;
        few::ReadRange i0(s_, 0, k[0]), i1(s_, 1, k[1]), i2(s_, 2, k[2]);
        for (std::int64_t y0 = i0.first; y0 < i0.last; ++y0)
            for (std::int64_t y1 = i1.first; y1 < i1.last; ++y1)
                for (std::int64_t y2 = i2.first; y2 < i2.last; ++y2) {
                    float g = output[y0 * of[0] + y1 * of[1] + y2 * of[2]];
                    const float* x = input + i0.input(y0) * from[0] + i1.input(y1) * from[1] + i2.input(y2) * from[2];
                    for (std::int64_t c = 0; c < s_.in_channels; ++c) sum[c] += g * x[c * strides_.input.channel];
                }
    }

    void store(const float* sum, float* weights) const {
        const WindowStrides& w = strides_.weight;
        few::for_each_place(s_.out_channels, s_.kernel, [&](std::int64_t row, std::int64_t o, const Spatial& k) {
            float* to = weights + o * w.batch + few::place_offset(w, k);
            for (std::int64_t c = 0; c < s_.in_channels; ++c) to[c * w.channel] = sum[row * s_.in_channels + c];
        });
    }

    ConvolutionShape s_;
    ConvolutionStrides strides_;
    std::int64_t rows_, band_, sums_;  // of the product; lines of a band; into which images are summed
    int slots_;
    std::size_t each_sum_, planes_, moved_, each_slot_;
};

}  // namespace

std::unique_ptr<const Convolution::Way> few_channels_weight_gradient(const ConvolutionShape& shape,
                                                                     const ConvolutionStrides& strides) {
    return std::make_unique<FewChannelsWeights>(shape, strides);
}

}  // namespace weft::cpu
