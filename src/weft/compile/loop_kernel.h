// The kernel of a loop (autodiff/loop.h): a binding of its own for what one step computes, run step after step on the same arena; between
// steps only addresses change. What is carried is written where the next step reads it, what is collected where it stays: nothing is copied
// that one place serves. Callers: compile/step_kernels.cpp.
#pragma once

#include <memory>
#include <span>

#include "weft/autodiff/loop.h"
#include "weft/compile/binding.h"

namespace weft {

/// `inputs`: how those of the loop's node lie. Operands of run(): these, then a place for each of `results`, dense, and one for
/// the loop's own number. `as_written`: as make_step_binding().
std::unique_ptr<Kernel> loop_kernel(const Node& loop, std::span<const Layout> inputs,
                                    std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
                                    const BindOptions& options, bool as_written);

/// Additions and multiplications of the products of matrices in all steps of a loop; 0 where nobody knows which will run (of a loop that ends
/// by a condition, of a conditional).
double region_product_operations(const Node& loop);

/// Whether a step of the loop, or a branch of the conditional, may find an index outside its axis, which stops it where it is.
bool region_may_fail(const Node& node);

}  // namespace weft
