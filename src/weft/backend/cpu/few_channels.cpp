#include "weft/backend/cpu/few_channels.h"

#include <algorithm>

#include "weft/backend/cpu/gemm.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t most_channels = 4, least_out_channels = 8;

std::int64_t product(const Spatial& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/// Outputs from `first` to `last` of an axis whose input lies inside, for one place of the kernel; they read from `offset` on.
struct ReadRange {
    ReadRange(const ConvolutionShape& s, int axis, std::int64_t place)
        : step(s.stride[axis]), offset(place * s.dilation[axis] - s.pad_lo[axis]) {
        first = offset >= 0 ? 0 : (-offset + step - 1) / step;
        last = s.in[axis] > offset ? std::min(s.out[axis], (s.in[axis] - 1 - offset) / step + 1) : 0;
    }
    std::int64_t step, offset, first, last;
    std::int64_t input(std::int64_t y) const { return y * step + offset; }
};

class FewChannels final : public Convolution::Way {
  public:
    FewChannels(const ConvolutionShape& shape, const ConvolutionStrides& strides)
        : s_(shape), strides_(strides), rows_(shape.in_channels * product(shape.kernel)), pixels_(product(shape.out)) {
        slots_ = static_cast<int>(std::clamp<std::int64_t>(s_.batch, 1, ThreadPool::instance().threads()));
        packed_ = aligned(static_cast<std::size_t>(rows_ * s_.out_channels) * sizeof(float));
        made_ = aligned(static_cast<std::size_t>(rows_ * pixels_) * sizeof(float));
        each_slot_ = made_ + aligned(gemm_scratch_bytes(float32, rows_, pixels_, s_.out_channels));
    }

    std::size_t scratch_bytes() const override { return packed_ + static_cast<std::size_t>(slots_) * each_slot_; }
    std::string implementation() const override { return "weft, added from a product"; }

    void run(const void* first, const void* second, void* result, void* scratch, const void*) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        auto* weights = reinterpret_cast<float*>(memory);
        pack(static_cast<const float*>(second), weights);
        auto image = [&](std::int64_t n, int slot) {
            std::byte* own = memory + packed_ + static_cast<std::size_t>(slot) * each_slot_;
            auto* made = reinterpret_cast<float*>(own);
            Matrix a{weights, s_.out_channels, 1},
                b{static_cast<const float*>(first) + n * strides_.output.batch, strides_.output.channel, pixel_step()};
            gemm(float32, rows_, pixels_, s_.out_channels, a, b, made, pixels_, false, {},
                 {own + made_, each_slot_ - made_});
            add(made, static_cast<float*>(result) + n * strides_.input.batch);
        };
        parallel_for(s_.batch, image, slots_);
    }

  private:
    std::int64_t pixel_step() const { return strides_.output.spatial[most_spatial - 1]; }

    template <class F>
    void for_each_place(F&& f) const {
        std::int64_t row = 0;
        Spatial k;
        for (std::int64_t c = 0; c < s_.in_channels; ++c)
            for (k[0] = 0; k[0] < s_.kernel[0]; ++k[0])
                for (k[1] = 0; k[1] < s_.kernel[1]; ++k[1])
                    for (k[2] = 0; k[2] < s_.kernel[2]; ++k[2]) f(row++, c, k);
    }

    void pack(const float* weights, float* to) const {
        const WindowStrides& w = strides_.weight;
        for_each_place([&](std::int64_t row, std::int64_t c, const Spatial& k) {
            const float* from =
                weights + c * w.channel + k[0] * w.spatial[0] + k[1] * w.spatial[1] + k[2] * w.spatial[2];
            for (std::int64_t o = 0; o < s_.out_channels; ++o) to[row * s_.out_channels + o] = from[o * w.batch];
        });
    }

    void add(const float* made, float* image) const {
        clear(image);
        const Spatial& x = strides_.input.spatial;
        for_each_place([&](std::int64_t row, std::int64_t c, const Spatial& k) {
            ReadRange i0(s_, 0, k[0]), i1(s_, 1, k[1]), i2(s_, 2, k[2]);
            for (std::int64_t y0 = i0.first; y0 < i0.last; ++y0)
                for (std::int64_t y1 = i1.first; y1 < i1.last; ++y1) {
                    const float* from = made + row * pixels_ + (y0 * s_.out[1] + y1) * s_.out[2];
                    float* to = image + c * strides_.input.channel + i0.input(y0) * x[0] + i1.input(y1) * x[1] +
                                i2.offset * x[2];
                    add_row(to, i2.step * x[2], from, i2.first, i2.last);
                }
        });
    }

    static void add_row(float* to, std::int64_t step, const float* from, std::int64_t first, std::int64_t last) {
        if (step == 1)
            for (std::int64_t y = first; y < last; ++y) to[y] += from[y];
        else
            for (std::int64_t y = first; y < last; ++y) to[y * step] += from[y];
    }

    void clear(float* image) const {
        const WindowStrides& x = strides_.input;
        for (std::int64_t c = 0; c < s_.in_channels; ++c)
            for (std::int64_t i = 0; i < s_.in[0]; ++i)
                for (std::int64_t j = 0; j < s_.in[1]; ++j) {
                    float* row = image + c * x.channel + i * x.spatial[0] + j * x.spatial[1];
                    for (std::int64_t k = 0; k < s_.in[2]; ++k) row[k * x.spatial[2]] = 0;
                }
    }

    ConvolutionShape s_;
    ConvolutionStrides strides_;
    std::int64_t rows_, pixels_;  // of what the product makes
    int slots_;
    std::size_t packed_, made_, each_slot_;
};

/// Whether one stride leads from each output pixel to the next.
bool evenly_spaced(const ConvolutionShape& s, const WindowStrides& output) {
    const Spatial& step = output.spatial;
    return (s.out[1] == 1 || step[1] == step[2] * s.out[2]) &&
           (s.out[0] == 1 || step[0] == step[2] * s.out[1] * s.out[2]);
}

}  // namespace

std::unique_ptr<const Convolution::Way> few_channels_gradient(ConvolutionKind kind, const ConvolutionShape& shape,
                                                              const ConvolutionStrides& strides) {
    bool few = kind == ConvolutionKind::backward_input && shape.groups == 1 && shape.in_channels <= most_channels &&
               shape.out_channels >= least_out_channels;
    bool some = shape.batch > 0 && shape.in_channels > 0 && product(shape.in) > 0 && product(shape.out) > 0;
    if (!few || !some || !evenly_spaced(shape, strides.output)) return nullptr;
    return std::make_unique<FewChannels>(shape, strides);
}

}  // namespace weft::cpu
