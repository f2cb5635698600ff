#include "weft/nn/units.h"

#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"

namespace weft::nn {

Tensor drawn_units(const Tensor& logits, const Tensor& key) {
    return astype(random::uniform(logits.shape(), 0, 1, key) < sigmoid(logits), logits.dtype());
}

Parameter tossed_units(std::int64_t rows, std::int64_t units, const Tensor& key) {
    Tensor tossed = random::uniform({Size(rows), Size(units)}, 0, 1, key) < 0.5;
    return Parameter(astype(tossed, DType::float32).eval(), "", false);
}

Parameter zero_bias(std::int64_t units) { return Parameter(Tensor(Array::zeros(DType::float32, {units}))); }

}  // namespace weft::nn
