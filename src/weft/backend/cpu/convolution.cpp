#include "weft/backend/cpu/convolution.h"

#include <algorithm>
#include <type_traits>

#include "weft/backend/cpu/convolution_parts.h"
#include "weft/backend/cpu/convolution_way.h"
#include "weft/backend/cpu/depthwise.h"
#include "weft/backend/cpu/direct_convolution.h"
#include "weft/backend/cpu/few_channels.h"
#include "weft/backend/cpu/generic_convolution.h"
#include "weft/backend/cpu/grouped_convolution.h"
#include "weft/backend/cpu/isa.h"
#include "weft/backend/cpu/onednn_convolution.h"
#include "weft/backend/cpu/own_convolution.h"
#include "weft/backend/cpu/winograd.h"
#include "weft/base/error.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

template <class T>
class OwnWay final : public Convolution::Way {
  public:
    OwnWay(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides, bool block,
           bool packed_outside)
        : own_(kind, shape, strides, block ? 1 : ThreadPool::instance().threads()), packed_outside_(packed_outside) {}
    std::size_t scratch_bytes() const override {
        return bytes(own_.scratch_elements() + (packed_outside_ ? 0 : own_.packed_elements()));
    }
    std::size_t packed_bytes() const override { return packed_outside_ ? bytes(own_.packed_elements()) : 0; }
    void pack(const void* weights, void* packed) const override {
        own_.pack(static_cast<const T*>(weights), static_cast<T*>(packed));
    }
    void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const override {
        auto* from = static_cast<const T*>(packed);
        auto* space = static_cast<T*>(scratch);
        if (!from) {
            if (own_.packed_elements() > 0) own_.pack(static_cast<const T*>(second), space);
            from = space, space += own_.packed_elements();
        }
        own_.run(static_cast<const T*>(first), static_cast<const T*>(second), from, static_cast<T*>(result), space);
    }
    std::string implementation() const override { return "weft"; }

  private:
    static std::size_t bytes(std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); }
    OwnConvolution<T> own_;
    bool packed_outside_;
};

class GenericWay final : public Convolution::Way {
  public:
    GenericWay(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides)
        : dtype_(dtype), kind_(kind), shape_(shape), strides_(strides) {}
    std::size_t scratch_bytes() const override { return 0; }
    void run(const void* first, const void* second, void* result, void*, const void*) const override {
        generic_convolution(dtype_, kind_, shape_, strides_, first, second, result);
    }
    std::string implementation() const override { return "weft, plain loops"; }

  private:
    DType dtype_;
    ConvolutionKind kind_;
    ConvolutionShape shape_;
    ConvolutionStrides strides_;
};

ConvolutionShape three_axes(ConvolutionShape s) {
    for (Spatial* sizes : {&s.in, &s.out, &s.kernel, &s.stride, &s.dilation})
        *sizes = cpu::three_axes(*sizes, s.ndim, 1);
    s.pad_lo = cpu::three_axes(s.pad_lo, s.ndim, 0);
    s.ndim = most_spatial;
    return s;
}

void check(bool holds, const char* rule, std::int64_t value) {
    if (!holds) throw ShapeError(text("convolution: ", rule, ", but it is ", value));
}

void check(const ConvolutionShape& s) {
    check(s.ndim >= 1 && s.ndim <= most_spatial, "the number of spatial axes must be 1, 2 or 3", s.ndim);
    check(s.groups >= 1, "groups must be at least 1", s.groups);
    check(s.batch >= 0, "the batch size must not be negative", s.batch);
    if (s.in_channels < 0 || s.out_channels < 0 || s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0)
        throw ShapeError(text("convolution: ", s.groups, " groups must divide the channels, but there are ",
                              s.in_channels, " in and ", s.out_channels, " out"));
    for (int axis = 0; axis < s.ndim; ++axis) {
        check(s.stride[axis] >= 1, "a stride must be at least 1", s.stride[axis]);
        check(s.dilation[axis] >= 1, "a dilation must be at least 1", s.dilation[axis]);
        check(s.kernel[axis] >= 1, "a kernel's size must be at least 1", s.kernel[axis]);
        check(s.pad_lo[axis] >= 0, "padding must not be negative", s.pad_lo[axis]);
        check(s.in[axis] >= 0 && s.out[axis] >= 0, "a size must not be negative", std::min(s.in[axis], s.out[axis]));
    }
}

/// A kernel of one place that moves by some: a convolution of the places that it meets alone, by one. Libraries would turn all others too (8 x
/// 64 x 56 x 56 in twos: 0.58 of the time).
void skip_places(ConvolutionKind kind, ConvolutionShape& s, WindowStrides& input) {
    if (kind == ConvolutionKind::backward_input) return;  // which is zero at the others
    if (input.channel == 1) return;                       // nothing is turned
    for (int axis = 0; axis < most_spatial; ++axis) {
        if (s.kernel[axis] != 1 || s.pad_lo[axis] != 0 || s.stride[axis] == 1) continue;
        if ((s.out[axis] - 1) * s.stride[axis] >= s.in[axis]) continue;
        input.spatial[axis] *= s.stride[axis];
        s.in[axis] = s.out[axis];
        s.stride[axis] = 1;
    }
}

template <class T>
std::unique_ptr<const Convolution::Way> own_way(ConvolutionKind kind, const ConvolutionShape& shape,
                                                const ConvolutionStrides& strides, const Convolution::Way::Use& use) {
    // What another way packed, this one cannot read.
    bool like = !use.first || dynamic_cast<const OwnWay<T>*>(use.first);
    return std::make_unique<OwnWay<T>>(kind, shape, strides, use.block && like, use.packs() && like);
}

/// Of a convolution along one axis, whether weft's own products take less time than oneDNN's: where much is read at a time, and little of it is padding.
bool own_lines_take_less(ConvolutionKind kind, const ConvolutionShape& s) {
    constexpr std::int64_t least_read = 16, least_channels = 8, least_places = 64;
    if (kind == ConvolutionKind::forward) return s.in_channels >= least_read;
    if (kind == ConvolutionKind::backward_input)
        return s.out_channels >= least_read && 4 * s.out[2] * s.stride[2] >= 3 * s.in[2];
    return std::min(s.in_channels, s.out_channels) >= least_channels && s.batch * s.out[2] >= least_places;
}

/// Whether weft's own products take less time than a library without vectors of 64 bytes, to pixels that hold their channels (a Zen 3, of oneDNN's 2.6
/// time):
/// - lines of many channels: 16 x 64 x 400 to 64 by 9 0.68, its gradients 0.98, 0.6;
/// - steps past pixels, of many channels, which it turns: 8 x 128 x 56 x 56 to 64 by 3 x 3 in twos 0.5, its gradients 0.7;
/// - few channels that are made of much: 8 of 16 by 7 x 7 0.53, of 32 by 5 x 5 0.65, 4 of 128 by 3 x 3 in twos 0.46, 16 of 128 by 4 x 4 0.7; gradients
///   in 8 and 16 channels 0.5 to 1.03;
/// - kernels of 2 x 2: gradients in the input of 64 channels 0.75, in the weights 0.6 to 0.75;
/// - groups of many channels: 4 of 32 by 3 x 3 0.66, 2 of 32 0.87, not their gradients.
bool own_takes_less(ConvolutionKind kind, const ConvolutionShape& s, const ConvolutionStrides& strides) {
    if (best_isa() != Isa::avx2 || strides.output.channel != 1) return false;
    std::int64_t places = s.batch, kernel = 1;
    bool steps = false;
    for (int axis = 0; axis < most_spatial; ++axis) {
        places *= s.out[axis], kernel *= s.kernel[axis];
        steps |= s.stride[axis] > 1;
    }
    bool forward = kind == ConvolutionKind::forward, pixels = strides.input.channel == 1;
    if (kernel == 1) return false;
    if (s.groups > 1) return forward && pixels && !steps && std::min(s.in_channels, s.out_channels) >= 32 * s.groups;
    if (s.in[0] * s.in[1] == 1 && kernel == s.kernel[2] && (pixels || strides.input.spatial[2] == 1))
        return own_lines_take_less(kind, s);
    if (!pixels) return false;
    constexpr std::int64_t least_inputs = 64, least_outputs = 16, few = 16;
    if (steps && s.in_channels >= least_inputs && s.out_channels >= least_outputs && 2 * places >= s.out_channels)
        return true;
    bool by_twos = !steps && s.kernel[2] == 2;
    if (kind == ConvolutionKind::backward_weight)
        return by_twos && s.out_channels >= 64 && (s.in_channels >= 32 || s.out[2] >= 32);
    std::int64_t read = s.kernel[2] * (forward ? s.in_channels : s.out_channels);  // by a line of the kernel
    std::int64_t made = forward ? s.out_channels : s.in_channels;
    if (forward) return made <= few && read >= 40;
    return (made <= few && read >= 160) || (by_twos && read >= 64);
}

std::unique_ptr<const Convolution::Way> choose(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape,
                                               const ConvolutionStrides& strides,
                                               const Convolution::Way::Use& use = {}) {
    check(shape);
    ConvolutionShape wide = three_axes(shape);
    ConvolutionStrides wide_strides{cpu::three_axes(strides.input, shape.ndim),
                                    cpu::three_axes(strides.weight, shape.ndim),
                                    cpu::three_axes(strides.output, shape.ndim)};
    skip_places(kind, wide, wide_strides.input);
    if (dtype == DType::float32) {
        if (auto way = few_channels_convolution(kind, wide, wide_strides)) return way;
        auto direct = [](ConvolutionKind of, const ConvolutionShape& of_shape, const ConvolutionStrides& lies) {
            return own_way<float>(of, of_shape, lies, {});
        };
        if (kind == ConvolutionKind::forward)
            if (auto way = direct_convolution(wide, wide_strides, use)) return way;
        if (auto way = winograd_convolution(kind, wide, wide_strides, use, direct)) return way;
        if (kind == ConvolutionKind::forward)
            if (auto way = depthwise_forward(wide, wide_strides, use)) return way;
        if (!use.packs())
            if (auto way = depthwise_gradient(kind, wide, wide_strides)) return way;
        if (own_takes_less(kind, wide, wide_strides)) return own_way<float>(kind, wide, wide_strides, use);
        auto make = [&](const ConvolutionShape& part, const Convolution::Way::Use& of) {
            return onednn_convolution(kind, part, wide_strides, of);
        };
        if (kind == ConvolutionKind::forward && !use.block)
            if (auto way = convolution_in_parts(wide, wide_strides, use.kept, make)) return way;
        if (kind == ConvolutionKind::backward_weight && !use.block)
            if (auto way = weight_gradient_in_parts(wide, wide_strides, make)) return way;
        auto way = make(wide, use);
        if (way && kind == ConvolutionKind::forward && wide.groups > 1)
            return best_in_groups(std::move(way), wide, wide_strides, use, onednn_convolution);
        if (way) return way;
    }
    if (dtype == DType::float32) return own_way<float>(kind, wide, wide_strides, use);
    if (dtype == DType::float64) return own_way<double>(kind, wide, wide_strides, use);
    return std::make_unique<GenericWay>(dtype, kind, wide, wide_strides);
}

}  // namespace

Convolution::Convolution(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape,
                         const ConvolutionStrides& strides)
    : way_(choose(dtype, kind, shape, strides)) {}

Convolution::Convolution(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape,
                         const ConvolutionStrides& strides, const Use& use)
    : way_(choose(dtype, kind, shape, strides, {use.block, use.kept, use.first ? use.first->way_.get() : nullptr})) {}

Convolution::Convolution(Convolution&&) noexcept = default;
Convolution& Convolution::operator=(Convolution&&) noexcept = default;
Convolution::~Convolution() = default;

std::size_t Convolution::scratch_bytes() const { return way_->scratch_bytes(); }
std::size_t Convolution::packed_bytes() const { return way_->packed_bytes(); }
void Convolution::pack(const void* weights, void* packed) const { way_->pack(weights, packed); }
void Convolution::run(const void* first, const void* second, void* result, void* scratch, const void* packed) const {
    way_->run(first, second, result, scratch, packed_bytes() > 0 ? packed : nullptr);
}
std::string Convolution::implementation() const { return way_->implementation(); }

std::int64_t convolution_output_size(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad_lo,
                                     std::int64_t pad_hi, std::int64_t dilation) {
    std::int64_t room = in + pad_lo + pad_hi - dilation * (kernel - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
}

std::int64_t convolution_images(const ConvolutionShape& s) {
    constexpr std::int64_t block_places = 128;  // for which its weights are read once, so that they cost nothing
    std::int64_t places = 1, work = work_of_image(s);
    for (int axis = 0; axis < s.ndim; ++axis) places *= s.out[axis];
    if (work == 0) return 1;
    std::int64_t images = std::max(divide_up(work_of_block(s.batch * work), work), divide_up(block_places, places));
    return std::clamp<std::int64_t>(images, 1, std::max<std::int64_t>(1, s.batch));
}

}  // namespace weft::cpu
