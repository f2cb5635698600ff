#include "weft/backend/cpu/depthwise.h"

#include <algorithm>

#include "weft/backend/cpu/isa/depthwise.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

class InWeights final : public Convolution::Way {
  public:
    InWeights(const ConvolutionShape& shape, const ConvolutionStrides& strides)
        : s_(shape), strides_(strides), kernel_(best_depthwise_kernel()) {
        constexpr std::int64_t blocks = 32,
                               least_rows = 8;  // by sizes alone: sums are the same for any number of threads
        rows_ = s_.batch * s_.out[1];
        block_ = std::max(least_rows, divide_up(rows_, blocks));
        blocks_ = divide_up(rows_, block_);
    }
    std::size_t scratch_bytes() const override {
        return static_cast<std::size_t>(blocks_) * aligned(static_cast<std::size_t>(sums()) * sizeof(float));
    }
    std::string implementation() const override { return "weft, depthwise"; }

    void run(const void* first, const void* second, void* result, void* scratch, const void*) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        auto of_block = [&](std::int64_t block) {
            return reinterpret_cast<float*>(memory + static_cast<std::size_t>(block) *
                                                         (scratch_bytes() / static_cast<std::size_t>(blocks_)));
        };
        parallel_for(blocks_, [&](std::int64_t block) {
            float* own = of_block(block);
            std::fill(own, own + sums(), 0.0f);
            for (std::int64_t row = block * block_, end = std::min(rows_, row + block_); row < end; ++row)
                add_row(row / s_.out[1], row % s_.out[1], static_cast<const float*>(first),
                        static_cast<const float*>(second), own);
        });
        float* total = of_block(0);
        for (std::int64_t block = 1; block < blocks_; ++block) {
            const float* more = of_block(block);
            for (std::int64_t i = 0; i < sums(); ++i) total[i] += more[i];
        }
        store(total, static_cast<float*>(result));
    }

  private:
    std::int64_t sums() const { return s_.kernel[1] * s_.kernel[2] * s_.in_channels; }

    /// What a row of the gradient gives: against the rows of the picture that it was made of.
    void add_row(std::int64_t n, std::int64_t y, const float* picture, const float* gradient, float* sums) const {
        DepthwiseRow row{.channels = s_.in_channels,
                         .taps = s_.kernel[2],
                         .stride = s_.stride[2],
                         .pad = s_.pad_lo[2],
                         .dilation = s_.dilation[2],
                         .places = s_.out[2],
                         .gradient_step = strides_.output.spatial[2],
                         .width = s_.in[2],
                         .picture_step = strides_.input.spatial[2],
                         .gradient_ahead = 0,
                         .picture_ahead = 0};
        gradient += n * strides_.output.batch + y * strides_.output.spatial[1];
        for (std::int64_t k = 0; k < s_.kernel[1]; ++k) {
            std::int64_t from = y * s_.stride[1] - s_.pad_lo[1] + k * s_.dilation[1];
            if (from < 0 || from >= s_.in[1]) continue;
            row.gradient_ahead = k == s_.kernel[1] / 2 ? strides_.output.spatial[1] : 0;
            row.picture_ahead = k + 1 == s_.kernel[1] ? s_.stride[1] * strides_.input.spatial[1] : 0;
            kernel_.add_row(row, gradient, picture + n * strides_.input.batch + from * strides_.input.spatial[1],
                            sums + k * s_.kernel[2] * s_.in_channels);
        }
    }

    void store(const float* total, float* to) const {
        const WindowStrides& w = strides_.weight;
        for (std::int64_t k1 = 0; k1 < s_.kernel[1]; ++k1)
            for (std::int64_t k2 = 0; k2 < s_.kernel[2]; ++k2)
                for (std::int64_t c = 0; c < s_.in_channels; ++c)
                    to[c * w.batch + k1 * w.spatial[1] + k2 * w.spatial[2]] = *total++;
    }

    ConvolutionShape s_;
    ConvolutionStrides strides_;
    DepthwiseKernel kernel_;
    std::int64_t rows_, block_, blocks_;
};

class InPicture final : public Convolution::Way {
  public:
    InPicture(const ConvolutionShape& shape, const ConvolutionStrides& strides) : s_(shape), weight_(strides.weight) {
        ConvolutionShape turned = shape;
        ConvolutionStrides lies = strides;
        std::swap(turned.in, turned.out);
        std::swap(lies.input, lies.output);
        for (int axis = 0; axis < most_spatial; ++axis)
            turned.pad_lo[axis] = shape.dilation[axis] * (shape.kernel[axis] - 1) - shape.pad_lo[axis];
        lies.weight = channels_first(1, most_spatial, shape.kernel);
        way_ = depthwise_forward(turned, lies, {});
        turned_bytes_ = aligned(static_cast<std::size_t>(shape.in_channels * places()) * sizeof(float));
    }
    explicit operator bool() const { return static_cast<bool>(way_); }
    std::size_t scratch_bytes() const override { return turned_bytes_ + way_->scratch_bytes(); }
    std::string implementation() const override { return way_->implementation(); }

    void run(const void* first, const void* second, void* result, void* scratch, const void*) const override {
        auto* turned = static_cast<float*>(scratch);
        auto* weights = static_cast<const float*>(second);
        const Spatial& k = s_.kernel;
        for (std::int64_t c = 0; c < s_.in_channels; ++c)
            for (std::int64_t k1 = 0; k1 < k[1]; ++k1)
                for (std::int64_t k2 = 0; k2 < k[2]; ++k2)
                    turned[(c * k[1] + k[1] - 1 - k1) * k[2] + k[2] - 1 - k2] =
                        weights[c * weight_.batch + k1 * weight_.spatial[1] + k2 * weight_.spatial[2]];
        way_->run(first, turned, result, static_cast<std::byte*>(scratch) + turned_bytes_, nullptr);
    }

  private:
    std::int64_t places() const { return s_.kernel[1] * s_.kernel[2]; }

    ConvolutionShape s_;
    WindowStrides weight_;
    std::unique_ptr<const Way> way_;
    std::size_t turned_bytes_ = 0;
};

}  // namespace

bool is_depthwise(const ConvolutionShape& shape) {
    bool alone = shape.groups > 1 && shape.in_channels == shape.groups && shape.out_channels == shape.groups;
    bool flat = shape.in[0] == 1 && shape.out[0] == 1 && shape.kernel[0] == 1 && shape.pad_lo[0] == 0;
    bool some = shape.batch > 0 && shape.in[1] * shape.in[2] > 0 && shape.out[1] * shape.out[2] > 0;
    return alone && flat && some;
}

std::unique_ptr<const Convolution::Way> depthwise_gradient(ConvolutionKind kind, const ConvolutionShape& shape,
                                                           const ConvolutionStrides& strides) {
    bool beside = strides.input.channel == 1 && strides.output.channel == 1;
    if (!is_depthwise(shape) || !beside) return nullptr;
    if (kind == ConvolutionKind::backward_weight) return std::make_unique<InWeights>(shape, strides);
    if (kind != ConvolutionKind::backward_input) return nullptr;
    for (int axis = 0; axis < most_spatial; ++axis)
        if (shape.stride[axis] != 1 || shape.pad_lo[axis] > shape.dilation[axis] * (shape.kernel[axis] - 1))
            return nullptr;
    auto way = std::make_unique<InPicture>(shape, strides);
    if (!*way) return nullptr;
    return way;
}

}  // namespace weft::cpu
