#include "weft/nn/noise.h"

#include "weft/graph/node.h"
#include "weft/nn/training.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"

namespace weft::nn {
namespace {

void check_share(const char* layer, double p) {
    if (!(p >= 0 && p <= 1)) throw ValueError(text(layer, ": p is ", p, "; it is a probability, between 0 and 1"));
}

}  // namespace

GaussianNoise::GaussianNoise(double deviation) : deviation_(deviation) {
    if (!(deviation >= 0))
        throw ValueError(text("GaussianNoise: the deviation is ", deviation, "; it must be at least 0"));
}

Tensor GaussianNoise::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor value = x.as_tensor();
    if (!training() || deviation_ == 0) return value;
    ModuleScope scope("GaussianNoise");
    DType dtype = inexact(value.dtype());
    return astype(value, dtype) + astype(random::normal(value.shape(), 0, deviation_), dtype);
}

SaltAndPepper::SaltAndPepper(double p, double low, double high) : p_(p), low_(low), high_(high) {
    check_share("SaltAndPepper", p);
}

Tensor SaltAndPepper::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor value = x.as_tensor();
    if (!training() || p_ == 0) return value;
    ModuleScope scope("SaltAndPepper");
    value = astype(value, inexact(value.dtype()));
    Tensor draw = random::uniform(value.shape());  // one draw says whether, and which
    return where(draw < p_ / 2, low_, where(draw < p_, high_, value));
}

MaskingNoise::MaskingNoise(double p, double scale) : p_(p), scale_(scale) { check_share("MaskingNoise", p); }

Tensor MaskingNoise::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor value = x.as_tensor();
    if (!training()) return value;
    ModuleScope scope("MaskingNoise");
    value = astype(value, inexact(value.dtype()));
    Tensor scaled = scale_ == 1 ? value : value * scale_;
    return p_ == 0 ? scaled : where(random::bernoulli(1 - p_, value.shape()), scaled, 0);
}

Tensor Binarize::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor value = x.as_tensor();
    return astype(value > at, inexact(value.dtype()));
}

}  // namespace weft::nn
