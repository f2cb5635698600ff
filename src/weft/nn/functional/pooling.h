// Pooling with PyTorch's names, arguments and defaults: x is (N, C, spatial...), or without N, with as many spatial axes as the name says.
// A list of one number stands for all axes; an empty stride is the kernel's size. Callers: users, nn/, the Python package.
#pragma once

#include <optional>
#include <utility>

#include "weft/graph/tensor.h"
#include "weft/ops/window.h"

namespace weft::nn::functional {

/// The largest of each window; ShapeError for an input that has no elements but in its batch.
Tensor max_pool(const Operand& x, std::size_t spatial, const Dims& kernel, const PoolOptions& options = {});
/// The same and where it stands: its position (int64) in its plane, row-major.
std::pair<Tensor, Tensor> max_pool_with_indices(const Operand& x, std::size_t spatial, const Dims& kernel,
                                                const PoolOptions& options = {});
/// The mean of each window; `divisor`: its sum over this number.
Tensor avg_pool(const Operand& x, std::size_t spatial, const Dims& kernel, const PoolOptions& options = {},
                std::optional<std::int64_t> divisor = {});
/// (sum of x^p over each window)^(1/p); NaN where a sum is below 0 and has no root.
Tensor lp_pool(const Operand& x, std::size_t spatial, double p, const Dims& kernel, const Dims& stride = {},
               bool ceil_mode = false);
/// Windows that cut each axis into as many parts as `sizes` says (-1: as many as there are): part i of n is from floor(i size / n) to
/// ceil((i + 1) size / n).
Tensor adaptive_avg_pool(const Operand& x, std::size_t spatial, const Dims& sizes);
std::pair<Tensor, Tensor> adaptive_max_pool(const Operand& x, std::size_t spatial, const Dims& sizes);
/// What max_pool_with_indices took, back at its places; zeros elsewhere. Without a size: (n - 1) stride - 2 padding + kernel. `size` may
/// have all axes or the spatial ones. IndexError for an index outside the plane.
Tensor max_unpool(const Operand& x, const Operand& indices, std::size_t spatial, const Dims& kernel,
                  const Dims& stride = {}, const Dims& padding = {0}, const Dims& size = {});

}  // namespace weft::nn::functional
