// What a loop's step need not do step by step: products with what is the same in each step, of matrices or vectors that no carried value waits
// for. Of slices they are made before the loop, of what only a collected value reads behind it: for all steps one product of matrices, which
// reads its weights once and not in every step. Callers: autodiff/loop.cpp.
#pragma once

#include <span>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

/// Expressions of a step over placeholders.
struct StepExpressions {
    std::vector<Tensor> carry, x;  // placeholders: what is carried, slices
    std::vector<Tensor> xs;        // the arrays of which x are slices
    std::vector<Tensor> next, y;   // what is carried after a step; what is collected
    Size length = 0;
};

/// The same step, in which slices of new arrays stand for the products of slices that `next` reads, and elementwise operations on these alone.
void hoist_products(StepExpressions& step);

/// Those of `y` that read products which `next` does not, made of values of all steps behind the loop.
class SunkProducts {
  public:
    explicit SunkProducts(const StepExpressions& step);
    /// Whether y[i] is made behind the loop.
    bool holds(std::size_t i) const { return sunk_[i]; }
    /// What it is made of: values of a step, to be collected.
    const std::vector<Tensor>& reads() const { return reads_; }
    /// Those of y that it holds, of all steps, from its reads of all steps.
    std::vector<Tensor> results(std::span<const Tensor> reads) const;

  private:
    std::vector<bool> sunk_;
    std::vector<Tensor> y_, reads_;
    Size length_;
};

}  // namespace weft
