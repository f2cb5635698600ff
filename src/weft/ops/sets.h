// The distinct elements of a tensor. How many there are depends on the numbers: the tensor is computed at once, as for nonzero.
// Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Of x flattened in row-major order.
struct Unique {
    Tensor
        values;  ///< the distinct elements, ascending (complex ones by real, then imaginary part); NaN last, each one of its own
    Tensor indices;  ///< int64: where each stands first
    Tensor inverse;  ///< int64, of x's shape: which of `values` each element is
    Tensor counts;   ///< int64: how often each comes
};
/// ValueError where x is only declared (a traced function).
Unique unique(const Operand& x);
struct UniqueOptions {
    bool equal_nan = false;  ///< all NaN are one
};
Unique unique(const Operand& x, UniqueOptions options);
/// Its values alone, which takes a sort and no order of positions.
Tensor unique_values(const Operand& x, UniqueOptions options = {});
/// Of the parts along an axis: values has fewer of them, in ascending order of their elements; indices, inverse and counts have one axis.
Unique unique(const Operand& x, std::int64_t axis);

/// Whether each element of x is among the elements of `among`; a NaN is not.
Tensor isin(const Operand& x, const Operand& among);
// Sets: the distinct elements of x and y flattened, ascending. They compute x and y.
Tensor union1d(const Operand& x, const Operand& y);      ///< in either
Tensor intersect1d(const Operand& x, const Operand& y);  ///< in both
Tensor setdiff1d(const Operand& x, const Operand& y);    ///< in x alone
Tensor setxor1d(const Operand& x, const Operand& y);     ///< in one alone
/// The order in which columns of keys (the last key first) ascend: argsort by several keys. keys: (K, ...).
Tensor lexsort(const Operand& keys, std::int64_t axis = -1);

}  // namespace weft
