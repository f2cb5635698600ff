#include "weft/ops/batch.h"

#include "weft/ops/view.h"

namespace weft {

Tensor Batch::all(std::size_t i) const {
    const Tensor& input = inputs[i];
    return batched[i] ? input : broadcast_to(input, shape(input.shape()));
}

std::vector<Tensor> Batch::all() const {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < inputs.size(); ++i) result.push_back(all(i));
    return result;
}

Tensor Batch::like(const Tensor& result, std::span<const Tensor> given, AttributesHandle attributes) const {
    return make_node(*result.node()->operation, given, std::move(attributes), result.node()->where);
}
Tensor Batch::like(const Tensor& result, std::span<const Tensor> given) const {
    return like(result, given, result.node()->attributes);
}

Shape Batch::shape(const Shape& of_one) const {
    Shape whole = of_one;
    whole.insert(0, size);
    return whole;
}

Axes behind_batch(Axes axes) {
    for (std::int64_t& axis : axes) ++axis;
    return axes;
}

}  // namespace weft
