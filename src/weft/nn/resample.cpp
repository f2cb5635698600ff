#include "weft/nn/resample.h"

#include "weft/graph/node.h"

namespace weft::nn {

Tensor Upsample::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope("Upsample");
    return functional::interpolate(x, {.scale_factor = factors, .mode = mode});
}

Tensor PixelShuffle::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope("PixelShuffle");
    return functional::pixel_shuffle(x, upscale_factor);
}

}  // namespace weft::nn
