// Plans by structure, bindings by structure and sizes: so a graph that was seen before is neither planned nor bound again, and a new
// batch size only bound. Both are kept while they are among the most recently used. Callers: runtime/.
#pragma once

#include <memory>

#include "weft/compile/binding.h"

namespace weft {

struct Stages;

struct CacheCount {
    std::size_t plans_made = 0, bindings_made = 0, hits = 0;
};

/// The plan of this structure, from the cache or made now.
std::shared_ptr<const Plan> plan_for(const Graph& graph, const PartitionOptions& options = {});
/// Rewritten, planned, bound for the CPU; not kept. `stages`: gets all of it as text.
std::shared_ptr<const Binding> make_binding(const Graph& graph, BindOptions options = {}, Stages* stages = nullptr);
/// What is done to a step of a loop before it is bound: it is rewritten; it has been; neither that, nor is it fused (the oracle).
enum class StepForm : std::uint8_t { rewritten_now, rewritten_before, as_written };
/// The binding of a step of a loop: planned so that each output has dense memory of its own, bound for `compiler`.
std::shared_ptr<const Binding> make_step_binding(const Graph& graph, BindOptions options,
                                                 const KernelCompiler& compiler, StepForm form);
/// The graph, rewritten as programs are (products of matrices stay such), or as a step of a loop is.
Graph rewritten_for(const Graph& graph, const BindOptions& options, bool step = false);
/// The binding of this graph, rewritten, for the CPU: from the cache or made now. Its leaves and outputs are numbered as the graph's.
std::shared_ptr<const Binding> binding_for(const Graph& graph);
CacheCount cache_count();
void clear_caches();

}  // namespace weft
