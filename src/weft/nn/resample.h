// Layers that put (N, C, spatial...) on another grid. Names, arguments and defaults are PyTorch's. Callers: users' models, train/.
#pragma once

#include <string>

#include "weft/nn/functional/image.h"

namespace weft::nn {

/// functional::interpolate: `factors` times as large, one for all spatial axes or one for each.
struct Upsample {
    explicit Upsample(std::vector<double> factors, std::string mode = "nearest")
        : factors(std::move(factors)), mode(std::move(mode)) {}
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("mode", mode);
    }
    std::vector<double> factors;
    std::string mode;
};

/// (N, C r^2, H, W) becomes (N, C, H r, W r), r being `upscale_factor` (Shi et al., 2016).
struct PixelShuffle {
    explicit PixelShuffle(std::int64_t upscale_factor) : upscale_factor(upscale_factor) {}
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("upscale_factor", upscale_factor);
    }
    std::int64_t upscale_factor;
};

}  // namespace weft::nn
