// The leaves of a graph: arrays in memory, declared inputs, constants.
#include <atomic>

#include "weft/graph/node.h"

namespace weft {
namespace {

Meta no_rule(const Operation& operation, std::span<const Tensor>, const Attributes*) {
    throw InternalError(text(operation.name, " is a leaf and is not made from inputs"));
}
Meta infer_input(const Operation&, std::span<const Tensor>, const Attributes* attributes) {
    auto& a = static_cast<const AttributesOf<InputAttributes>&>(*attributes).value;
    return {a.shape, a.dtype};
}
Meta infer_constant(const Operation&, std::span<const Tensor>, const Attributes* attributes) {
    return {{}, static_cast<const AttributesOf<ConstantAttributes>&>(*attributes).value.dtype};
}

}  // namespace

const Operation array_operation{
    .name = "array", .family = Family::leaf, .arity = 0, .doc = "Numbers in memory.", .infer = no_rule};
const Operation input_operation{.name = "input",
                                .family = Family::leaf,
                                .arity = 0,
                                .doc = "A declared input of a function.",
                                .infer = infer_input};
const Operation constant_operation{
    .name = "constant", .family = Family::constant, .arity = 0, .doc = "One number.", .infer = infer_constant};

Tensor input(std::string_view name, const Shape& shape, DType dtype, std::source_location where) {
    static std::atomic<std::int64_t> next{0};
    Tensor result =
        make_node(input_operation, {}, attributes(InputAttributes{std::string(name), next++, shape, dtype}), where);
    result.node()->symbolic = true;
    return result;
}

Tensor constant(const Literal& literal, DType dtype) {
    return make_node(constant_operation, {}, attributes(ConstantAttributes{literal, dtype}), std::source_location());
}

}  // namespace weft
