// Products of matrices of types for which there are no fast ones as products of float32: of float32 itself in bfloat16, where the user asks
// for it, and of the half types, whose sums are float32 in any case.
#include "weft/ops/contraction.h"
#include "weft/rewrite/rewrite.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

// With few rows or columns a product waits for its other operand to come from memory, and rounding that costs more than it saves.
bool is_narrow(const Node& node) {
    auto narrow = [](Size size) { return size.known() && size.value() < 16; };
    const Shape &a = node.inputs[0]->shape, &b = node.inputs[1]->shape;
    return narrow(a[a.size() - 2]) || narrow(a[a.size() - 1]) || narrow(b[b.size() - 1]);
}

// A bfloat16 is not changed by being rounded to it once more; a float16 would be.
Tensor product_of_halves(const Site& site) {
    DType half = site.node.dtype;
    if (!is_half(half)) return {};
    Tensor a = site.input(0).astype(DType::float32), b = site.input(1).astype(DType::float32);
    return matmul(a, b, half == DType::bfloat16 ? MatmulPrecision::bfloat16 : MatmulPrecision::float32).astype(half);
}

}  // namespace

void add_precision_rules(RuleList& rules) {
    auto product = [](Tensor a, Tensor b) { return matmul(a, b); };
    std::vector<Example> examples{example(product, {{20, 17}, {17, 18}}, {DType::bfloat16, DType::float16})};
    rules.push_back(rule_at("product_of_halves", Phase::special, {&matmul_operation}, product_of_halves,
                            {.examples = std::move(examples)}));
}

Rule products_in(MatmulPrecision precision) {
    auto apply = [precision](const Site& site) -> Tensor {
        if (site.node.dtype != DType::float32 || site.node.attributes || is_narrow(site.node)) return {};
        return matmul(site.input(0), site.input(1), precision);
    };
    return rule_at(text(name_of(precision), "_products"), Phase::special, {&matmul_operation}, apply, {});
}

}  // namespace weft
