#include "weft/backend/cpu/grouped_convolution.h"

#include <utility>
#include <vector>

#include "weft/backend/cpu/isa.h"
#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

/// output[y] = sum of input[y - pad + k] weight[k] is what output had to be for a convolution of the output to the input by weight[K - 1 - k], padded by
/// what this one is not, to hand its gradient down.
ConvolutionShape other_of(ConvolutionShape s) {
    std::swap(s.in_channels, s.out_channels), std::swap(s.in, s.out);
    for (int axis = 0; axis < s.ndim; ++axis) s.pad_lo[axis] = s.dilation[axis] * (s.kernel[axis] - 1) - s.pad_lo[axis];
    return s;
}

class GroupedWay final : public Convolution::Way {
  public:
    GroupedWay(const ConvolutionShape& shape, const WindowStrides& weights, WayPointer other)
        : s_(shape), weights_(weights), other_(std::move(other)) {}
    std::size_t scratch_bytes() const override {
        return (packed_bytes() > 0 ? 0 : aligned(turned() * sizeof(float))) + other_->scratch_bytes();
    }
    std::size_t packed_bytes() const override { return other_->packed_bytes(); }
    void pack(const void* weights, void* packed) const override {
        std::vector<float> memory(turned());
        turn(static_cast<const float*>(weights), memory.data());
        other_->pack(memory.data(), packed);
    }
    void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const override {
        if (packed) return other_->run(first, nullptr, result, scratch, packed);
        auto* memory = static_cast<float*>(scratch);
        turn(static_cast<const float*>(second), memory);
        std::byte* rest = static_cast<std::byte*>(scratch) + aligned(turned() * sizeof(float));
        other_->run(first, memory, result, rest, nullptr);
    }
    std::string implementation() const override { return other_->implementation() + ", of kernels turned around"; }
    const Way* other() const { return other_.get(); }

  private:
    std::size_t turned() const {
        std::int64_t kernel = s_.kernel[0] * s_.kernel[1] * s_.kernel[2];
        return static_cast<std::size_t>(s_.out_channels * (s_.in_channels / s_.groups) * kernel);
    }

    /// to[channel that is read][channel of its group that is made][place, the last one first]
    void turn(const float* from, float* to) const {
        const std::int64_t read = s_.in_channels / s_.groups, made = s_.out_channels / s_.groups;
        for (std::int64_t c = 0; c < s_.in_channels; ++c)
            for (std::int64_t o = 0; o < made; ++o) {
                const float* weight = from + (c / read * made + o) * weights_.batch + c % read * weights_.channel;
                for (std::int64_t k0 = s_.kernel[0]; k0-- > 0;)
                    for (std::int64_t k1 = s_.kernel[1]; k1-- > 0;)
                        for (std::int64_t k2 = s_.kernel[2]; k2-- > 0;)
                            *to++ =
                                weight[k0 * weights_.spatial[0] + k1 * weights_.spatial[1] + k2 * weights_.spatial[2]];
            }
    }

    ConvolutionShape s_;
    WindowStrides weights_;
    WayPointer other_;
};

bool is_product(const Convolution::Way& way) { return way.implementation().find("gemm") != std::string::npos; }

/// What oneDNN 2.6 is slow at on the way forward: groups whose channels fill no vector are products of matrices to it, and without vectors of 64 bytes all
/// others take longer, too (a Zen 3, of its time: 8 x 128 x 28 x 28 in 32 groups by 3 x 3 0.40, 8 groups 0.79; 16 x 16 x 56 x 56 in 4 0.21; 32 x 128 x 14 x
/// 14 to 16 in 4 by 5 x 5 0.47; of one group 1.0 to 1.5).
bool is_slow(const Convolution::Way& way) { return is_product(way) || best_isa() == Isa::avx2; }

}  // namespace

WayPointer best_in_groups(WayPointer way, const ConvolutionShape& s, const ConvolutionStrides& strides,
                          const Convolution::Way::Use& use, const MakeUsedWay& make) {
    auto* first = dynamic_cast<const GroupedWay*>(use.first);
    bool depthwise = s.in_channels == s.groups && s.out_channels == s.groups;
    if (depthwise || (use.first && !first) || !is_slow(*way)) return way;
    for (int axis = 0; axis < s.ndim; ++axis)
        if (s.stride[axis] != 1 || s.pad_lo[axis] > s.dilation[axis] * (s.kernel[axis] - 1)) return way;
    WindowStrides dense = channels_first(s.out_channels / s.groups, s.ndim, s.kernel);
    Convolution::Way::Use others = use;
    if (first) others.first = first->other();
    auto other = make(ConvolutionKind::backward_input, other_of(s), {strides.output, dense, strides.input}, others);
    if (!other || is_product(*other)) return way;
    return std::make_unique<GroupedWay>(s, strides.weight, std::move(other));
}

}  // namespace weft::cpu
