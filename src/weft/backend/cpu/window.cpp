#include "weft/ops/window.h"

#include <array>

#include "weft/backend/cpu/block_evaluator.h"
#include "weft/backend/cpu/convolution.h"
#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/pooling.h"
#include "weft/backend/cpu/strided.h"
#include "weft/base/integers.h"
#include "weft/kernel/builder.h"

namespace weft::cpu {
namespace {

Spatial spatial(const Dims& list, std::size_t first, std::int64_t fill) {
    Spatial result{fill, fill, fill};
    for (std::size_t i = first; i < list.size(); ++i) result[i - first] = list[i];
    return result;
}

WindowStrides strides_of(const Layout& layout) {
    return {layout.strides[0], layout.strides[1], spatial(layout.strides, 2, 0)};
}

// A convolution's operands by the parts they play, as convolution.h wants them.
struct Parts {
    Parts(const WindowAttributes& a, std::span<const Layout> inputs, const Layout& output) : dtype(output.dtype) {
        const Layout *x = &inputs[0], *w = &inputs[1], *y = &output;
        if (a.kind == WindowKind::convolution_input_gradient)
            x = &output, y = &inputs[0], kind = ConvolutionKind::backward_input;
        if (a.kind == WindowKind::convolution_weight_gradient)
            w = &output, y = &inputs[1], kind = ConvolutionKind::backward_weight;
        shape.ndim = static_cast<int>(a.stride.size());
        shape.batch = x->dims[0], shape.in_channels = x->dims[1], shape.out_channels = w->dims[0],
        shape.groups = a.groups;
        shape.in = spatial(x->dims, 2, 1), shape.out = spatial(y->dims, 2, 1), shape.kernel = spatial(w->dims, 2, 1);
        shape.stride = spatial(a.stride, 0, 1), shape.pad_lo = spatial(a.low, 0, 0),
        shape.dilation = spatial(a.dilation, 0, 1);
        strides = {strides_of(*x), strides_of(*w), strides_of(*y)};
    }
    DType dtype;
    ConvolutionKind kind = ConvolutionKind::forward;
    ConvolutionShape shape;
    ConvolutionStrides strides;
};

class Convolve final : public Kernel {
  public:
    explicit Convolve(Convolution convolution)
        : convolution_(std::move(convolution)),
          by_(convolution_.implementation()),
          packed_bytes_(convolution_.packed_bytes()) {}
    std::size_t scratch_bytes() const override { return convolution_.scratch_bytes(); }
    std::size_t shared_bytes() const override { return packed_bytes_; }
    void share(void* const* operands, std::byte* shared) const override { convolution_.pack(operands[1], shared); }
    std::string_view by() const override { return by_; }
    void run(void* const* operands, std::byte* scratch) const override {
        const void* packed = packed_bytes_ > 0 ? operands[3] : nullptr;
        convolution_.run(operands[0], operands[1], operands[2], scratch, packed);
    }
    const Convolution& convolution() const { return convolution_; }

  private:
    Convolution convolution_;
    std::string by_;
    std::size_t packed_bytes_;
};

class Pool final : public Kernel {
  public:
    Pool(const WindowAttributes& a, std::span<const Layout> inputs, const Layout& output)
        : kind_(a.kind), dtype_(output.dtype) {
        bool gradient = kind_ == WindowKind::max_pool_gradient || kind_ == WindowKind::avg_pool_gradient;
        const Layout& x = gradient ? output : inputs[0];
        const Layout& y = gradient ? inputs.back() : output;
        shape_.ndim = static_cast<int>(a.stride.size());
        shape_.batch = x.dims[0], shape_.channels = x.dims[1];
        shape_.in = spatial(x.dims, 2, 1), shape_.out = spatial(y.dims, 2, 1), shape_.kernel = spatial(a.kernel, 0, 1);
        shape_.stride = spatial(a.stride, 0, 1), shape_.pad_lo = spatial(a.low, 0, 0),
        shape_.pad_hi = spatial(a.high, 0, 0);
        shape_.dilation = spatial(a.dilation, 0, 1);
        shape_.count_include_pad = a.count_padding;
        shape_.parts = a.parts;
        for (const Layout& input : inputs) strides_.push_back(strides_of(input));
        strides_.push_back(strides_of(output));
        empty_ = output.size() == 0;
    }
    std::string_view by() const override { return "pooling"; }

    void run(void* const* operands, std::byte*) const override {
        if (empty_) return;
        const auto& s = strides_;
        switch (kind_) {
            case WindowKind::max_pool:
                return max_pool(dtype_, shape_, s[0], operands[0], s[1], operands[1]);
            case WindowKind::max_pool_gradient:
                return max_pool_backward(dtype_, shape_, s[0], operands[0], s[1], operands[1], s[2], operands[2]);
            case WindowKind::max_pool_select:
                return max_pool_select(dtype_, shape_, s[0], operands[0], s[1], operands[1], s[2], operands[2]);
            case WindowKind::avg_pool:
                return average_pool(dtype_, shape_, s[0], operands[0], s[1], operands[1]);
            case WindowKind::avg_pool_gradient:
                return average_pool_backward(dtype_, shape_, s[0], operands[0], s[1], operands[1]);
            default:
                throw InternalError("window: not a pool");
        }
    }

  private:
    WindowKind kind_;
    DType dtype_;
    PoolingShape shape_;
    std::vector<WindowStrides> strides_;
    bool empty_;
};

// Another kernel, handed some of its inputs channels-last: what pools read in step is copied so first (a tenth of what reading them
// across memory would cost), but for what they turn themselves, some channels at a time. Half types are pooled as floats, in vectors, and
// rounded once, where that is what an element would be: not where the shares of several windows are added, each rounded.
class ChannelsLast final : public Kernel {
  public:
    ChannelsLast(const WindowAttributes& a, std::span<const Layout> inputs, const Layout& output) {
        std::vector<Layout> laid(inputs.begin(), inputs.end());
        Layout result = output;
        bool as_floats = is_half(output.dtype) && output.size() > 0 && !adds_up(a);
        for (std::size_t i = 0; i < laid.size(); ++i) {
            Layout last{as_floats ? DType::float32 : laid[i].dtype, laid[i].dims, channels_last_strides(laid[i].dims)};
            if (laid[i].size() == 0 || (laid[i].strides == last.strides && !as_floats)) continue;
            if (turns_itself(laid[i]) && turns_itself(output)) continue;
            copies_.push_back({i, room_for(last), BlockKernel(copying(laid[i], last))});
            laid[i] = last;
        }
        inputs_ = laid.size();
        if (as_floats) {
            result = {DType::float32, output.dims, channels_last_strides(output.dims)};
            copies_.push_back({inputs_, room_for(result), BlockKernel(copying(result, output))});
        }
        for (const Copy& copy : copies_) work_ = std::max(work_, copy.kernel.scratch_bytes());
        kernel_ = std::make_unique<Pool>(a, laid, result);
    }
    std::size_t scratch_bytes() const override { return scratch_ + work_; }
    std::string_view by() const override { return kernel_->by(); }
    void run(void* const* operands, std::byte* scratch) const override {
        std::array<void*, 4> handed{};
        std::copy(operands, operands + inputs_ + 1, handed.begin());
        auto copy_from = [&](const Copy& copy, const void* from, void* to) {
            copy.kernel.run(&from, &to, scratch + scratch_);
        };
        for (const Copy& copy : copies_) {
            handed[copy.operand] = scratch + copy.offset;
            if (copy.operand < inputs_) copy_from(copy, operands[copy.operand], handed[copy.operand]);
        }
        kernel_->run(handed.data(), scratch + scratch_);
        if (!copies_.empty() && copies_.back().operand == inputs_)
            copy_from(copies_.back(), handed[inputs_], operands[inputs_]);
    }

  private:
    struct Copy {
        std::size_t operand, offset;
        BlockKernel kernel;
    };
    std::size_t room_for(const Layout& layout) {
        std::size_t at = scratch_;
        scratch_ += aligned(static_cast<std::size_t>(layout.size()) * size_of(layout.dtype));
        return at;
    }
    /// Whether an element of the result may be a sum of several windows' shares.
    static bool adds_up(const WindowAttributes& a) {
        if (a.kind != WindowKind::max_pool_gradient && a.kind != WindowKind::avg_pool_gradient) return false;
        bool overlap = a.parts;
        for (std::size_t i = 0; i < a.stride.size(); ++i) {
            std::int64_t reach = (a.kernel[i] - 1) * (a.dilation.empty() ? 1 : a.dilation[i]) + 1;
            overlap |= a.stride[i] < reach;
        }
        return overlap;
    }
    /// Of an operand that lies channels first, or whose channels lie side by side: whether pooling turns it where that helps.
    static bool turns_itself(const Layout& operand) {
        bool floats = operand.dtype == DType::float32 || operand.dtype == DType::float64;
        if (!floats || operand.dims[1] < least_turned) return false;
        return operand.strides[1] == 1 || in_planes(strides_of(operand), spatial(operand.dims, 2, 1));
    }
    static Dims channels_last_strides(const Dims& dims) {
        Dims strides(dims.size());
        strides[1] = 1;
        std::int64_t step = dims[1];
        for (std::size_t axis = dims.size(); axis-- > 2;) strides[axis] = step, step *= dims[axis];
        strides[0] = step;
        return strides;
    }
    static Loop copying(const Layout& from, const Layout& to) {
        ProgramBuilder builder;
        builder.output(builder.input(compute_dtype(from.dtype)));
        Loop loop;
        loop.program = builder.take();
        loop.dims = from.dims;
        loop.loads = {{from.dtype, from.strides}};
        loop.stores = {{to.dtype, to.strides}};
        return loop;
    }

    std::vector<Copy> copies_;
    std::size_t scratch_ = 0, work_ = 0, inputs_ = 0;
    std::unique_ptr<Kernel> kernel_;
};

bool convolves(const WindowAttributes& a) {
    return a.kind == WindowKind::convolution || a.kind == WindowKind::convolution_input_gradient ||
           a.kind == WindowKind::convolution_weight_gradient;
}

}  // namespace

std::unique_ptr<Kernel> window_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                      const KernelUse& use) {
    auto& a = *attributes_if<WindowAttributes>(node);
    if (!convolves(a)) return std::make_unique<ChannelsLast>(a, inputs, output);
    Parts parts(a, inputs, output);
    auto* like = dynamic_cast<const Convolve*>(use.first);
    return std::make_unique<Convolve>(
        Convolution(parts.dtype, parts.kind, parts.shape, parts.strides,
                    {use.block, use.kept && parts.kind != ConvolutionKind::backward_weight,
                     like ? &like->convolution() : nullptr}));
}

std::int64_t window_images(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    auto& a = *attributes_if<WindowAttributes>(node);
    return convolves(a) ? convolution_images(Parts(a, inputs, output).shape) : 1;
}

}  // namespace weft::cpu
