// Running joins along one axis. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"
#include "weft/kernel/reduction.h"

namespace weft {

struct ScanAttributes {
    Reduction reduction = Reduction::sum;
    std::int64_t axis = 0;
    bool reverse = false;    // from the last element to the first
    bool exclusive = false;  // element i joins those before it, not itself
    template <class V>
    void members(V& visit) {
        visit("reduction", reduction), visit("axis", axis), visit("reverse", reverse), visit("exclusive", exclusive);
    }
};
struct ScanOptions {
    bool reverse = false, exclusive = false;
    bool include_initial = false;  // the identity (0, or 1) in front: one element more along the axis
};

/// Element i is the sum (product) of elements 0..i along the axis; dtypes as those of sum and prod.
Tensor cumulative_sum(const Operand& x, std::int64_t axis = 0, ScanOptions options = {});
Tensor cumulative_prod(const Operand& x, std::int64_t axis = 0, ScanOptions options = {});
extern const Operation cumulative_sum_operation, cumulative_prod_operation;

}  // namespace weft
