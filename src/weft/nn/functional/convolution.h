// Convolutions with PyTorch's names, arguments and defaults, and what lays windows out and adds them up. x is (N, C, spatial...) or, for
// one example, (C, spatial...). Callers: users, nn/, the Python package.
#pragma once

#include <string_view>
#include <variant>

#include "weft/graph/tensor.h"

namespace weft::nn::functional {

/// Zeros at both ends of each axis; or "valid" (none), "same" (so many that sizes stay, with stride 1).
using Padding = std::variant<Dims, std::string>;
Padding no_padding();

Tensor conv(const Operand& x, std::size_t spatial, const Operand& weight, const Tensor& bias = {},
            const Dims& stride = {1}, const Padding& padding = no_padding(), const Dims& dilation = {1},
            std::int64_t groups = 1);
Tensor conv_transpose(const Operand& x, std::size_t spatial, const Operand& weight, const Tensor& bias = {},
                      const Dims& stride = {1}, const Dims& padding = {0}, const Dims& output_padding = {0},
                      std::int64_t groups = 1, const Dims& dilation = {1});
/// Windows of (N, C, H, W) as columns: (N, C * kernel's size, windows).
Tensor unfold(const Operand& x, const Dims& kernel_size, const Dims& dilation = {1}, const Dims& padding = {0},
              const Dims& stride = {1});
/// The sum of such columns where they came from: (N, C, output_size...).
Tensor fold(const Operand& x, const Dims& output_size, const Dims& kernel_size, const Dims& dilation = {1},
            const Dims& padding = {0}, const Dims& stride = {1});

}  // namespace weft::nn::functional
