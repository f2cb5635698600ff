#include "weft/found.h"

#if WEFT_HAVE_ONEDNN

#include <algorithm>

#include "weft/backend/cpu/onednn_program.h"

namespace weft::cpu::onednn {

using dnnl::memory;
using Dims = memory::dims;

dnnl::engine& engine() {
    static dnnl::engine* one = new dnnl::engine(dnnl::engine::kind::cpu, 0);
    return *one;
}

void Operand::connect(bool result) {
    reordered = true;
    const memory::desc &from = result ? inner : user, &to = result ? user : inner;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::reorder::primitive_desc description(engine(), from, engine(), to, attributes);
    if (description.scratchpad_desc().get_size() > 0)
        throw dnnl::error(dnnl_unimplemented, "a reorder that needs memory");
    reorder = dnnl::reorder(description);
}

namespace {

constexpr auto direct = dnnl::algorithm::convolution_direct;

// oneDNN 2 describes an operation first and chooses its primitive then; 3 does both in one call.
#if DNNL_VERSION_MAJOR >= 3

template <class Primitive, class... Description>
auto choose(const dnnl::primitive_attr& attributes, const Description&... description) {
    return typename Primitive::primitive_desc(engine(), description..., attributes);
}
template <class Primitive, class... Description>
auto choose_backward(const dnnl::primitive_attr& attributes, const dnnl::convolution_forward::primitive_desc& forward,
                     const Description&... description) {
    return typename Primitive::primitive_desc(engine(), description..., forward, attributes);
}
Dims strides_of(const memory::desc& plain) { return plain.get_strides(); }

#else

template <class Primitive, class... Description>
auto choose(const dnnl::primitive_attr& attributes, const Description&... description) {
    return typename Primitive::primitive_desc({description...}, attributes, engine());
}
template <class Primitive, class... Description>
auto choose_backward(const dnnl::primitive_attr& attributes, const dnnl::convolution_forward::primitive_desc& forward,
                     const Description&... description) {
    return typename Primitive::primitive_desc({description...}, attributes, engine(), forward);
}
Dims strides_of(const memory::desc& plain) {
    const auto& strides = plain.data.format_desc.blocking.strides;
    return Dims(strides, strides + plain.data.ndims);
}

#endif

class Builder {
  public:
    Builder(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides)
        : kind_(kind), s_(shape), strides_(strides) {}

    /// Of a block of `images`; `weights` is the layout to use, or the library's choice.
    Program build(std::int64_t images, const std::optional<memory::desc>& weights) const {
        Program p;
        memory::desc input = activations(images, s_.in_channels, s_.in),
                     output = activations(images, s_.out_channels, s_.out);
        memory::desc weight =
            weights ? *weights : memory::desc(weight_dims(), memory::data_type::f32, memory::format_tag::any);
        dnnl::primitive_attr attributes;
        attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        auto forward = choose<dnnl::convolution_forward>(attributes, dnnl::prop_kind::forward_training, direct, input,
                                                         weight, output, steps(), dilates(), pads(), pads_hi());
        Operand of_input{user(input, images, s_.in_channels, s_.in, strides_.input), input, {}, false};
        Operand of_output{user(output, images, s_.out_channels, s_.out, strides_.output), output, {}, false};
        Operand of_weight{user_weights(), {}, {}, false};
        if (kind_ == ConvolutionKind::forward) {
            finish<dnnl::convolution_forward>(p, forward);
            of_weight.inner = forward.weights_desc();
            set(p, of_input, of_weight, of_output);
        } else if (kind_ == ConvolutionKind::backward_input) {
            auto backward = choose_backward<dnnl::convolution_backward_data>(
                attributes, forward, direct, input, weight, output, steps(), dilates(), pads(), pads_hi());
            finish<dnnl::convolution_backward_data>(p, backward);
            of_weight.inner = backward.weights_desc();
            set(p, of_output, of_weight, of_input);
        } else {
            auto backward = choose_backward<dnnl::convolution_backward_weights>(
                attributes, forward, direct, input, weight, output, steps(), dilates(), pads(), pads_hi());
            finish<dnnl::convolution_backward_weights>(p, backward);
            of_weight.inner = backward.diff_weights_desc();
            set(p, of_input, of_output, of_weight);
        }
        return p;
    }

  private:
    template <class Primitive>
    static void finish(Program& p, const typename Primitive::primitive_desc& description) {
        p.primitive = Primitive(description);
        p.scratchpad_desc = description.scratchpad_desc();
        p.scratchpad = round_up(p.scratchpad_desc.get_size());
        p.name = description.impl_info_str();
    }

    static void set(Program& p, const Operand& first, const Operand& second, const Operand& result) {
        p.first = first, p.second = second, p.result = result;
        if (p.first.user != p.first.inner) p.first.connect(false);
        if (p.second.user != p.second.inner) p.second.connect(false);
        if (p.result.user != p.result.inner) p.result.connect(true);
    }

    // Axes of size 1 that lead are left out: oneDNN is fastest, and has the most, for two axes.
    int first_axis() const {
        int axis = 0;
        while (axis < 1 && s_.in[axis] == 1 && s_.out[axis] == 1 && s_.kernel[axis] == 1 && s_.pad_lo[axis] == 0)
            ++axis;
        return axis;
    }
    Dims axes(const Spatial& values) const { return Dims(values.begin() + first_axis(), values.end()); }
    Dims steps() const { return axes(s_.stride); }
    Dims pads() const { return axes(s_.pad_lo); }
    Dims dilates() const {
        Dims dilates = axes(s_.dilation);
        for (auto& dilate : dilates) --dilate;
        return dilates;
    }
    Dims pads_hi() const {
        Spatial hi;
        for (int axis = 0; axis < most_spatial; ++axis)
            hi[axis] = std::max<std::int64_t>(0, (s_.out[axis] - 1) * s_.stride[axis] +
                                                     (s_.kernel[axis] - 1) * s_.dilation[axis] + 1 - s_.in[axis] -
                                                     s_.pad_lo[axis]);
        return axes(hi);
    }

    Dims dims(std::int64_t first, std::int64_t second, const Spatial& sizes) const {
        Dims all = axes(sizes);
        all.insert(all.begin(), {first, second});
        return all;
    }
    memory::desc activations(std::int64_t images, std::int64_t channels, const Spatial& sizes) const {
        using Tag = memory::format_tag;
        return {dims(images, channels, sizes), memory::data_type::f32, first_axis() == 0 ? Tag::ndhwc : Tag::nhwc};
    }
    /// The user's layout; `inner` itself where the two differ at most in strides of axes of size 1.
    memory::desc user(const memory::desc& inner, std::int64_t images, std::int64_t channels, const Spatial& sizes,
                      const WindowStrides& strides) const {
        Dims user_strides = dims(strides.batch, strides.channel, strides.spatial), size = dims(images, channels, sizes),
             inner_strides = strides_of(inner);
        bool same = true;
        for (std::size_t i = 0; i < size.size(); ++i) {
            if (size[i] == 1) user_strides[i] = inner_strides[i];
            same = same && user_strides[i] == inner_strides[i];
        }
        return same ? inner : memory::desc(size, memory::data_type::f32, user_strides);
    }

    Dims weight_dims() const {
        return grouped(s_.groups, s_.out_channels / s_.groups, s_.in_channels / s_.groups, s_.kernel);
    }
    Dims grouped(std::int64_t groups, std::int64_t out, std::int64_t in, const Spatial& sizes) const {
        Dims all = dims(out, in, sizes);
        if (s_.groups > 1) all.insert(all.begin(), groups);
        return all;
    }
    memory::desc user_weights() const {
        const WindowStrides& w = strides_.weight;
        Dims size = weight_dims(),
             strides = grouped(s_.out_channels / s_.groups * w.batch, w.batch, w.channel, w.spatial);
        std::int64_t dense = 1;
        for (std::size_t i = size.size(); i-- > 0; dense *= size[i])
            if (size[i] == 1) strides[i] = std::max<std::int64_t>(strides[i], dense);
        return memory::desc(size, memory::data_type::f32, strides);
    }

    ConvolutionKind kind_;
    const ConvolutionShape& s_;
    const ConvolutionStrides& strides_;
};

}  // namespace

Program convolution_program(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides,
                            std::int64_t images, const std::optional<memory::desc>& weights) {
    return Builder(kind, shape, strides).build(images, weights);
}

}  // namespace weft::cpu::onednn

#endif
