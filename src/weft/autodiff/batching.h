// One node for a whole batch of examples: the record's rule, its family's, or example by example. Callers: autodiff/vmap.cpp.
#pragma once

#include "weft/ops/batch.h"

namespace weft {

/// What `result`, a node of one example, is for all of them: one more axis in front.
Tensor batched_node(const Tensor& result, const Batch& batch);

/// The same by its meaning: the operation applied to each example, stacked. What every rule must equal.
Tensor example_by_example(const Tensor& result, const Batch& batch);

}  // namespace weft
