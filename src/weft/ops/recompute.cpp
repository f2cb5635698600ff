#include "weft/ops/recompute.h"

#include "weft/ops/batch.h"

namespace weft {
namespace {

Meta infer_recompute(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[0].shape(), inputs[0].dtype()};
}
Tensor transpose_recompute(const Tensor&, std::size_t i, const Tensor& cotangent) {
    return i == 0 ? cotangent : Tensor();
}
Tensor jvp_recompute(const Tensor&, std::span<const Tensor> tangents) { return tangents[0]; }
Tensor batch_recompute(const Tensor& result, const Batch& batch) {
    Tensor inputs[] = {batch.all(0), batch.inputs[1]};
    return batch.like(result, inputs);
}

}  // namespace

const Operation recompute_operation{
    .name = "recompute",
    .family = Family::view,
    .arity = 2,
    .doc = "The first operand, apart from itself: what is computed of it is computed after the second operand.",
    .infer = infer_recompute,
    .transpose = transpose_recompute,
    .jvp = jvp_recompute,
    .batch = batch_recompute,
    .samples = {{{{3, 4}, {5}}, [](auto x) { return recompute(x[0], x[1]); }, "x0"}}};
WEFT_REGISTER(recompute_operation);

Tensor recompute(const Tensor& x, const Tensor& after) {
    return make_node(recompute_operation, {x, after}, nullptr, x.node()->where);
}

}  // namespace weft
