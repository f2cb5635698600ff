#include "weft/backend/cpu/convolution.h"

#include <algorithm>
#include <type_traits>

#include "weft/backend/cpu/convolution_way.h"
#include "weft/backend/cpu/generic_convolution.h"
#include "weft/backend/cpu/onednn_convolution.h"
#include "weft/backend/cpu/own_convolution.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

template <class T>
class OwnWay final : public Convolution::Way {
  public:
    OwnWay(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides)
        : own_(kind, shape, strides, ThreadPool::instance().threads()) {}
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(own_.scratch_elements()) * sizeof(T); }
    void run(const void* first, const void* second, void* result, void* scratch) const override {
        own_.run(static_cast<const T*>(first), static_cast<const T*>(second), static_cast<T*>(result),
                 static_cast<T*>(scratch));
    }
    std::string implementation() const override { return "weft"; }

  private:
    OwnConvolution<T> own_;
};

class GenericWay final : public Convolution::Way {
  public:
    GenericWay(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides)
        : dtype_(dtype), kind_(kind), shape_(shape), strides_(strides) {}
    std::size_t scratch_bytes() const override { return 0; }
    void run(const void* first, const void* second, void* result, void*) const override {
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

std::unique_ptr<const Convolution::Way> choose(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape,
                                               const ConvolutionStrides& strides) {
    ConvolutionShape wide = three_axes(shape);
    ConvolutionStrides wide_strides{cpu::three_axes(strides.input, shape.ndim),
                                    cpu::three_axes(strides.weight, shape.ndim),
                                    cpu::three_axes(strides.output, shape.ndim)};
    if (dtype == DType::float32)
        if (auto way = onednn_convolution(kind, wide, wide_strides)) return way;
    if (dtype == DType::float32) return std::make_unique<OwnWay<float>>(kind, wide, wide_strides);
    if (dtype == DType::float64) return std::make_unique<OwnWay<double>>(kind, wide, wide_strides);
    return std::make_unique<GenericWay>(dtype, kind, wide, wide_strides);
}

}  // namespace

Convolution::Convolution(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape,
                         const ConvolutionStrides& strides) {
    check(shape);
    way_ = choose(dtype, kind, shape, strides);
}

Convolution::Convolution(Convolution&&) noexcept = default;
Convolution& Convolution::operator=(Convolution&&) noexcept = default;
Convolution::~Convolution() = default;

std::size_t Convolution::scratch_bytes() const { return way_->scratch_bytes(); }
void Convolution::run(const void* first, const void* second, void* result, void* scratch) const {
    way_->run(first, second, result, scratch);
}
std::string Convolution::implementation() const { return way_->implementation(); }

std::int64_t convolution_output_size(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad_lo,
                                     std::int64_t pad_hi, std::int64_t dilation) {
    std::int64_t room = in + pad_lo + pad_hi - dilation * (kernel - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
}

}  // namespace weft::cpu
