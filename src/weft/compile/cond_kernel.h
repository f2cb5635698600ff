// The kernel of a conditional (autodiff/cond.h): each branch is what a loop of one step runs, of which nothing is carried; one of them is run.
// Callers: compile/step_kernels.cpp.
#pragma once

#include <memory>
#include <span>

#include "weft/autodiff/cond.h"
#include "weft/compile/binding.h"

namespace weft {

/// `inputs`: how those of the conditional's node lie. Operands of run(): these, then a place for each of `results`, dense, and one for the
/// conditional's own number. `as_written`: as make_step_binding().
std::unique_ptr<Kernel> cond_kernel(const Node& cond, std::span<const Layout> inputs,
                                    std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
                                    const BindOptions& options, bool as_written);

}  // namespace weft
