// Convolutions and transposed convolutions over 1 to 3 spatial axes. Names, defaults, layouts (input (N, C, spatial...), N may be
// left out) and first values are PyTorch's. Callers: users' models.
#pragma once

#include <optional>
#include <string>

#include "weft/graph/parameter.h"

namespace weft::nn {

/// One number for every spatial axis, or one for each.
struct PerAxis {
    Dims values;
    PerAxis(std::int64_t value) : values{value} {}
    PerAxis(int value) : values{value} {}
    PerAxis(std::initializer_list<std::int64_t> values) : values(values) {}
    PerAxis(const Dims& values) : values(values) {}
};

struct ConvOptions {
    PerAxis stride = 1, padding = 0, dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
    bool same = false;  ///< padding so that, with stride 1, sizes stay (PyTorch's padding='same')
    Tensor key = {};
    DType dtype = DType::float32;
};

struct ConvTransposeOptions {
    PerAxis stride = 1, padding = 0, output_padding = 0, dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
    Tensor key = {};
    DType dtype = DType::float32;
};

/// What all convolutions hold.
template <class Options>
class ConvolutionLayer {
  public:
    Parameter weight;
    std::optional<Parameter> bias;

    template <class V>
    void members(V& visit) {
        visit("in_channels", in_channels_), visit("out_channels", out_channels_), visit("kernel_size", kernel_);
        visit("stride", options_.stride.values), visit("padding", options_.padding.values);
        visit("weight", weight), visit("bias", bias);
    }

  protected:
    ConvolutionLayer(std::size_t spatial, std::int64_t in_channels, std::int64_t out_channels, Options options)
        : spatial_(spatial), in_channels_(in_channels), out_channels_(out_channels), options_(std::move(options)) {}

    std::size_t spatial_;
    std::int64_t in_channels_, out_channels_;
    Dims kernel_;
    Options options_;
};

/// What Conv1d, Conv2d and Conv3d share: weight (out_channels, in_channels / groups, kernel...); first values are uniform within
/// +-1/sqrt(in_channels / groups * kernel).
class Convolution : public ConvolutionLayer<ConvOptions> {
  public:
    Tensor operator()(const Operand& x) const;

  protected:
    Convolution(std::size_t spatial, std::int64_t in_channels, std::int64_t out_channels, const PerAxis& kernel,
                ConvOptions options);

  private:
    Dims padding_high_;
};

struct Conv1d : Convolution {
    Conv1d(std::int64_t in_channels, std::int64_t out_channels, PerAxis kernel_size, ConvOptions options = {})
        : Convolution(1, in_channels, out_channels, kernel_size, std::move(options)) {}
};
struct Conv2d : Convolution {
    Conv2d(std::int64_t in_channels, std::int64_t out_channels, PerAxis kernel_size, ConvOptions options = {})
        : Convolution(2, in_channels, out_channels, kernel_size, std::move(options)) {}
};
struct Conv3d : Convolution {
    Conv3d(std::int64_t in_channels, std::int64_t out_channels, PerAxis kernel_size, ConvOptions options = {})
        : Convolution(3, in_channels, out_channels, kernel_size, std::move(options)) {}
};

/// What ConvTranspose1d, 2d and 3d share: weight (in_channels, out_channels / groups, kernel...); first values are uniform within
/// +-1/sqrt(out_channels / groups * kernel).
class ConvolutionTranspose : public ConvolutionLayer<ConvTransposeOptions> {
  public:
    Tensor operator()(const Operand& x) const;

  protected:
    ConvolutionTranspose(std::size_t spatial, std::int64_t in_channels, std::int64_t out_channels,
                         const PerAxis& kernel, ConvTransposeOptions options);
};

struct ConvTranspose1d : ConvolutionTranspose {
    ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, PerAxis kernel_size,
                    ConvTransposeOptions options = {})
        : ConvolutionTranspose(1, in_channels, out_channels, kernel_size, std::move(options)) {}
};
struct ConvTranspose2d : ConvolutionTranspose {
    ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, PerAxis kernel_size,
                    ConvTransposeOptions options = {})
        : ConvolutionTranspose(2, in_channels, out_channels, kernel_size, std::move(options)) {}
};
struct ConvTranspose3d : ConvolutionTranspose {
    ConvTranspose3d(std::int64_t in_channels, std::int64_t out_channels, PerAxis kernel_size,
                    ConvTransposeOptions options = {})
        : ConvolutionTranspose(3, in_channels, out_channels, kernel_size, std::move(options)) {}
};

}  // namespace weft::nn
