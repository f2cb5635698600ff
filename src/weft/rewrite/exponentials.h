// What softmaxes are written with: exponentials, and the largest number that is taken from their arguments. Callers: rewrite/.
#pragma once

#include "weft/ops/reduce.h"
#include "weft/rewrite/number.h"

namespace weft {

/// Whether the node is e to the power of its input.
inline bool is_exponential(const Node& node) { return is(node, exp_operation) || is(node, exp_of_negative_operation); }

/// What a node is but for derivatives.
inline const Node& held(const Node& node) {
    const Node* at = &node;
    while (is(*at, stop_gradient_operation)) at = at->inputs[0];
    return *at;
}

/// Whether m is the largest of x along some axes, kept as ones.
inline bool is_largest_of(const Node& x, const Node& m) {
    const Node& at = held(m);
    return is(at, max_operation) && at.inputs[0] == &x && at.attributes_as<ReduceAttributes>().keepdims;
}

/// m of where(m == -inf, 0, m), or the node itself.
inline const Node& without_infinity(const Node& node) {
    if (!is(node, where_operation) || !is_number(*node.inputs[1], 0)) return node;
    const Node &test = *node.inputs[0], &most = *node.inputs[2];
    constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
    bool chosen = is(test, equal_operation) && test.inputs[0] == &most && is_number(*test.inputs[1], minus_infinity);
    return chosen ? most : node;
}

}  // namespace weft
