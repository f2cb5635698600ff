#include "weft/rewrite/rules/picked.h"

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {}  // namespace

bool one_hot_along(const Node& condition, std::size_t axis, std::size_t ndim) {
    if (!is(condition, equal_operation)) return false;
    for (std::size_t i : {0, 1}) {
        const Node *positions = condition.inputs[i], *label = condition.inputs[1 - i];
        std::size_t shift = ndim - label->shape.size(), along = ndim - positions->shape.size();
        bool fixed = axis < shift || label->shape[axis - shift] == Size(1);
        if (!fixed || axis < along) continue;
        const Node* inner = positions;
        while (is(*inner, reshape_operation)) inner = inner->inputs[0];
        bool only_axis = true;
        for (std::size_t k = 0; k < positions->shape.size(); ++k)
            only_axis &= k + along == axis || positions->shape[k] == Size(1);
        if (only_axis && is(*inner, iota_operation)) return true;
    }
    return false;
}

Picked picked_by_condition(const Node& node) {
    const Node* at = &node;
    while (is(*at, reshape_operation) && !is(*at->inputs[0], iota_operation)) at = at->inputs[0];
    if (!is(*at, sum_operation) || reduction_of(*at).axes.size() != 1) return {};
    const Node &sum = *at, &choice = *sum.inputs[0];
    if (!is(choice, where_operation) || !is_number(*choice.inputs[2], 0)) return {};
    auto axis = static_cast<std::size_t>(reduction_of(sum).axes[0]);
    if (!one_hot_along(*choice.inputs[0], axis, choice.shape.size())) return {};
    return {choice.inputs[0], choice.inputs[1]};
}

}  // namespace weft
