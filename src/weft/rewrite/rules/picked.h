// What a condition that is true once along an axis picks: sum(where(here, p, 0), axis). Callers: rewrite/rules/.
#pragma once

#include "weft/graph/node.h"

namespace weft {

/// Whether the condition is true at one place at most along `axis` of `ndim`: positions along it equal what does not change along it.
bool one_hot_along(const Node& condition, std::size_t axis, std::size_t ndim);

struct Picked {
    const Node *condition = nullptr, *from = nullptr;  // null: the node is not such a sum
};
/// Of a sum, also one that is reshaped by axes of size one.
Picked picked_by_condition(const Node& sum);

}  // namespace weft
