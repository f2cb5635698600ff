#include <algorithm>

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/depthwise.h"
#include "weft/backend/cpu/isa/depthwise.h"
#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);
// Channels are turned by as many as keep a picture and its result in the second-level cache, within these bounds: at a border, where a place is
// summed by itself, four vectors of channels hide what each sum waits for the one before; pixels further apart meet few sets of the first level.
constexpr std::int64_t least_turned = 32, most_turned = 64, turned_bytes = 640 << 10;

std::int64_t channels_turned(const ConvolutionShape& s) {
    std::int64_t of_channel = (s.in[1] * s.in[2] + s.out[1] * s.out[2]) * float_bytes;
    bool most = of_channel * most_turned <= turned_bytes;
    return std::min(s.in_channels, most ? most_turned : least_turned);
}

/// How a picture lies: its channels side by side, or each channel's pixels, which are then turned, some channels at a time.
enum class Lies { channels_last, channels_first, otherwise };

Lies lies(const WindowStrides& strides, const Spatial& sizes) {
    if (strides.channel == 1) return Lies::channels_last;
    return in_planes(strides, sizes) ? Lies::channels_first : Lies::otherwise;
}

class Forward final : public Convolution::Way {
  public:
    Forward(const ConvolutionShape& shape, const ConvolutionStrides& strides, const Use& use)
        : s_(shape), strides_(strides), kernel_(best_depthwise_kernel()), turn_(block_loops(best_isa()).move.turn) {
        // What another way packed, this one cannot read.
        packed_outside_ = use.packs() && (!use.first || dynamic_cast<const Forward*>(use.first));
        turns_in_ = lies(strides.input, shape.in) == Lies::channels_first;
        turns_out_ = lies(strides.output, shape.out) == Lies::channels_first;
        bool turns = turns_in_ || turns_out_;
        // Turned channels stay in the second-level cache; of others, so many rows that those which overlap cost little.
        channels_ = turns ? channels_turned(s_) : s_.in_channels;
        rows_ = turns ? s_.out[1] : std::min<std::int64_t>(s_.out[1], 16);
        blocks_ = divide_up(s_.in_channels, channels_), parts_ = divide_up(s_.out[1], rows_);
        tasks_ = s_.batch * blocks_ * parts_;
        slots_ = use.block ? 1 : slots_for(tasks_);
        constexpr std::int64_t far = std::int64_t{16}
                                     << 20;  // bytes of a result that would put more out of the caches than it is worth
        bool lines = s_.in_channels % 16 == 0 && !turns_out_ && strides.output.spatial[1] % 16 == 0 &&
                     strides.output.spatial[2] % 16 == 0 && strides.output.batch % 16 == 0;
        past_ = lines && s_.batch * pixels(s_.out) * s_.in_channels * float_bytes >= far;
        weights_bytes_ = aligned(static_cast<std::size_t>(s_.kernel[1] * s_.kernel[2] * s_.in_channels * float_bytes));
        in_bytes_ = turns_in_ ? aligned(static_cast<std::size_t>(pixels(s_.in) * channels_ * float_bytes)) : 0;
        out_bytes_ = turns_out_ ? aligned(static_cast<std::size_t>(pixels(s_.out) * channels_ * float_bytes)) : 0;
    }
    std::size_t scratch_bytes() const override {
        return (packed_outside_ ? 0 : weights_bytes_) + static_cast<std::size_t>(slots_) * (in_bytes_ + out_bytes_);
    }
    std::size_t packed_bytes() const override { return packed_outside_ ? weights_bytes_ : 0; }
    void pack(const void* weights, void* packed) const override {
        arrange(static_cast<const float*>(weights), static_cast<float*>(packed));
    }
    std::string implementation() const override { return "weft, depthwise"; }

    void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        auto* weights = static_cast<const float*>(packed);
        if (!packed_outside_) {
            arrange(static_cast<const float*>(second), reinterpret_cast<float*>(memory));
            weights = reinterpret_cast<const float*>(memory);
            memory += weights_bytes_;
        }
        for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
            std::byte* own = memory + static_cast<std::size_t>(slot) * (in_bytes_ + out_bytes_);
            run_part(task, static_cast<const float*>(first), weights, static_cast<float*>(result),
                     reinterpret_cast<float*>(own), reinterpret_cast<float*>(own + in_bytes_));
        });
    }

  private:
    static std::int64_t pixels(const Spatial& sizes) { return sizes[1] * sizes[2]; }

    /// Channels side by side for each place of the kernel, a task's channels after another's.
    void arrange(const float* weights, float* to) const {
        const WindowStrides& w = strides_.weight;
        for (std::int64_t first = 0; first < s_.in_channels; first += channels_)
            for (std::int64_t k1 = 0; k1 < s_.kernel[1]; ++k1)
                for (std::int64_t k2 = 0; k2 < s_.kernel[2]; ++k2)
                    for (std::int64_t c = first; c < std::min(first + channels_, s_.in_channels); ++c)
                        *to++ = weights[c * w.batch + k1 * w.spatial[1] + k2 * w.spatial[2]];
    }

    /// Some rows, or some channels, of one picture.
    void run_part(std::int64_t task, const float* picture, const float* weights, float* result, float* turned,
                  float* made) const {
        std::int64_t part = task % parts_, block = task / parts_ % blocks_, n = task / parts_ / blocks_;
        std::int64_t c = block * channels_, channels = std::min(channels_, s_.in_channels - c);
        picture += n * strides_.input.batch + c * strides_.input.channel;
        result += n * strides_.output.batch + c * strides_.output.channel;
        DepthwiseImage image{.channels = channels,
                             .in = {s_.in[1], s_.in[2]},
                             .kernel = {s_.kernel[1], s_.kernel[2]},
                             .stride = {s_.stride[1], s_.stride[2]},
                             .pad = {s_.pad_lo[1], s_.pad_lo[2]},
                             .dilation = {s_.dilation[1], s_.dilation[2]},
                             .picture_row = turns_in_ ? s_.in[2] * channels : strides_.input.spatial[1],
                             .picture_step = turns_in_ ? channels : strides_.input.spatial[2],
                             .places = s_.out[2],
                             .result_row = turns_out_ ? s_.out[2] * channels : strides_.output.spatial[1],
                             .result_step = turns_out_ ? channels : strides_.output.spatial[2]};
        constexpr std::int64_t line = 64;
        image.past = past_ && reinterpret_cast<std::uintptr_t>(result) % line == 0;
        if (turns_in_)
            turn_(turned, picture, strides_.input.channel * float_bytes, pixels(s_.in), channels, channels,
                  float_bytes);
        std::int64_t first = part * rows_, last = std::min(s_.out[1], first + rows_);
        kernel_.rows(image, turns_in_ ? turned : picture, weights + c * s_.kernel[1] * s_.kernel[2],
                     turns_out_ ? made : result, first, last, channels);
        if (turns_out_)
            turn_(result, made, channels * float_bytes, channels, pixels(s_.out), strides_.output.channel, float_bytes);
    }

    ConvolutionShape s_;
    ConvolutionStrides strides_;
    DepthwiseKernel kernel_;
    decltype(MoveLoops::turn) turn_;
    bool packed_outside_ = false, turns_in_ = false, turns_out_ = false, past_ = false;
    std::int64_t channels_, rows_, blocks_, parts_, tasks_;  // of a task; tasks along channels, along rows, all
    int slots_;
    std::size_t weights_bytes_, in_bytes_, out_bytes_;
};

}  // namespace

DepthwiseKernel best_depthwise_kernel() { return WEFT_OF_BEST_ISA(depthwise_kernel); }

std::unique_ptr<const Convolution::Way> depthwise_forward(const ConvolutionShape& shape,
                                                          const ConvolutionStrides& strides,
                                                          const Convolution::Way::Use& use) {
    bool known = lies(strides.input, shape.in) != Lies::otherwise && lies(strides.output, shape.out) != Lies::otherwise;
    if (!is_depthwise(shape) || !known || shape.kernel[1] * shape.kernel[2] > most_depthwise_places) return nullptr;
    return std::make_unique<Forward>(shape, strides, use);
}

}  // namespace weft::cpu
