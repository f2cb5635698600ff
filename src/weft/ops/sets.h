// The distinct elements of a tensor. How many there are depends on the numbers: the tensor is computed at once, as for nonzero.
// Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Of x flattened in row-major order.
struct Unique {
    Tensor
        values;  ///< the distinct elements, ascending (complex ones by real, then imaginary part); each NaN is one of its own, last
    Tensor indices;  ///< int64: where each stands first
    Tensor inverse;  ///< int64, of x's shape: which of `values` each element is
    Tensor counts;   ///< int64: how often each comes
};
/// ValueError where x is only declared (a traced function).
Unique unique(const Operand& x);

}  // namespace weft
