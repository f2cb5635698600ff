// How a step of a plan becomes a kernel, once every entry has its place: loops from programs, library kernels from layouts, row blocks
// from the parts of a group. Callers: compile/binding.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "weft/compile/access_facts.h"
#include "weft/compile/binding.h"

namespace weft {

/// The memory that a slot stands for: dense, its axes in the slot's order.
Layout slot_layout(const Plan& plan, const Graph& graph, std::int32_t slot);
/// How a slot lies in a binding: as that says, or within the result of a join (pieces.h).
Layout slot_layout(const Plan& plan, const Graph& graph, const Views& views, std::int32_t slot);
/// Where the slot's entry lies; nothing for a copy of an entry that lies elsewhere too.
const View* slot_view(const Plan& plan, const Views& views, std::int32_t slot);

class StepKernels {
  public:
    /// `views`: where each entry lies, one an entry. `facts`: of the same. `steady`: leaves of which copies are kept. `options`: as
    /// bind() has them. `own`: whether nothing that the step reads lies in the memory of a slot that it stores.
    StepKernels(const Plan& plan, const Graph& graph, const KernelCompiler& compiler, const Views& views,
                const AccessFacts& facts, const std::vector<bool>& steady, const BindOptions& options,
                std::function<bool(std::int32_t slot)> own)
        : plan_(plan),
          graph_(graph),
          compiler_(compiler),
          views_(views),
          facts_(facts),
          steady_(steady),
          options_(options),
          own_(std::move(own)) {}

    std::unique_ptr<Kernel> kernel(const Step& step) const;
    /// What the step runs that is a loop.
    std::vector<Loop> loops(const Step& step) const;
    /// Additions and multiplications of the products of matrices in it.
    double product_operations(const Step& step) const;
    /// Of what the kernel of a step keeps something from run to run (Kernel::share).
    std::vector<BoundStep::KeptOf> kept_of(const Step& step) const;

  private:
    std::unique_ptr<Kernel> library(const Step& step) const;
    std::vector<bool> placed_pieces(const Step& step) const;
    std::unique_ptr<Kernel> region(const Step& step) const;
    // What would be put off until a step runs again (KernelCompiler::loop) is made at once.
    bool often() const { return options_.keep_loops || options_.step_of_loop; }
    const View* kept_view(const Step& step) const;
    std::unique_ptr<Kernel> rows(const Step& step) const;
    std::optional<Step> with_fewer_parts(const Step& rows) const;
    std::map<std::int32_t, std::int32_t> homes_of(const Step& step) const;
    class Rows;  // in row_kernels.cpp, as the three above
    Loop loop(const Step& step) const;
    Loop made(const Step& step) const;
    std::vector<Layout> inputs(const Step& step) const;

    const Plan& plan_;
    const Graph& graph_;
    const KernelCompiler& compiler_;
    const Views& views_;
    const AccessFacts& facts_;
    const std::vector<bool>& steady_;
    const BindOptions& options_;
    std::function<bool(std::int32_t slot)> own_;
};

}  // namespace weft
