// Values of pixels: padding, resampling, sampling at any point, and channels moved into pixels and back. PyTorch's names, arguments and
// defaults. Callers: users, nn/, the Python package.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "weft/graph/tensor.h"

namespace weft::nn::functional {

/// `widths`: (before, after) of the last axis, then of the one in front of it, and so on; negative ones cut off. `mode`: "constant" (with
/// `value`), "reflect", "replicate" or "circular"; these three take the last 1, 2 or 3 axes, all behind (N, C) or (C).
Tensor pad(const Operand& x, const Dims& widths, std::string_view mode = "constant", double value = 0);

struct InterpolateOptions {
    Dims size = {};                          ///< of the spatial axes; or
    std::vector<double> scale_factor = {};   ///< how many times as large
    std::string_view mode = "nearest";       ///< nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area
    std::optional<bool> align_corners = {};  ///< of the linear and cubic modes: corners' centres stay in place
    bool recompute_scale_factor = false;     ///< places follow from the sizes, not from scale_factor
    bool antialias = false;                  ///< of bilinear and bicubic: kernels as wide as what is made smaller
};
/// (N, C, spatial...) on another grid. Cubic: Keys (1981) with a = -0.75, antialiased -0.5.
Tensor interpolate(const Operand& x, const InterpolateOptions& options);

/// x (N, C, spatial...) at the points of grid (N, points..., 2 or 3), (x, y, z) from -1 to 1. `mode`: "bilinear", "nearest", "bicubic";
/// `padding_mode`, of what lies outside: "zeros", "border", "reflection". Points that are NaN count as -1.
Tensor grid_sample(const Operand& x, const Operand& grid, std::string_view mode = "bilinear",
                   std::string_view padding_mode = "zeros", bool align_corners = false);
/// The grid of an affine map theta (N, 2, 3) or (N, 3, 4) for results of shape `size`, (N, C, spatial...).
Tensor affine_grid(const Operand& theta, const Dims& size, bool align_corners = false);

/// (..., C r^2, H, W) as (..., C, H r, W r), and back (Shi et al., 2016).
Tensor pixel_shuffle(const Operand& x, std::int64_t upscale_factor);
Tensor pixel_unshuffle(const Operand& x, std::int64_t downscale_factor);
/// (N, C, ...): channel g * (C / groups) + i becomes i * groups + g (Zhang et al., 2018).
Tensor channel_shuffle(const Operand& x, std::int64_t groups);

}  // namespace weft::nn::functional
