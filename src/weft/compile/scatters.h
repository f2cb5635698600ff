// Scatters that compute their own updates (kernel/loop.h's scatter): what is made point by point for one of them alone, by element-wise
// operations, gathers, counting, random bits, or is a number, is computed in its loop and never written down. The others are a library's
// kernels, which read updates where they lie. Callers: compile/partition.cpp, step_kernels.cpp.
#pragma once

#include <memory>

#include "weft/compile/device.h"
#include "weft/compile/plan.h"

namespace weft {

/// One an entry: memory that may be written over in place by other steps, which must not wait for a scatter's loop to read it. These are
/// the arrays that scatters change, and leaves as large as an output that several entries read. The plan says what is a view of what.
std::vector<bool> written_in_place(const Graph& graph, const Plan& plan);

/// Whether the loop of a scatter that computes these members, the updates last, would need more memory than it saves: arrays of as many
/// elements that would have passed from kernel to kernel in cache lie in memory for it. One of the updates' type is as good as they are.
bool costs_memory(const Graph& graph, const Plan& plan, const std::vector<std::int32_t>& members);

/// The kernel of such a step. Operands: the loop's loads, the first of them the array `x` that is changed, then the output. Unless they are
/// one, x is copied, after all indices were checked.
std::unique_ptr<Kernel> scatter_kernel(const KernelCompiler& compiler, const Loop& loop, const Layout& x,
                                       const Layout& output);

}  // namespace weft
