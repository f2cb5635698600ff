#include "weft/compile/scatters.h"

#include <algorithm>
#include <set>

#include "weft/base/integers.h"
#include "weft/kernel/builder.h"

namespace weft {
namespace {

// Leaves as large as an output, which may take over their memory.
std::vector<bool> as_large_as_an_output(const Graph& graph) {
    std::vector<bool> large(graph.entries.size(), false);
    for (std::int32_t leaf : graph.leaves)
        for (std::int32_t output : graph.outputs)
            if (graph.node(leaf).dtype == graph.node(output).dtype &&
                graph.node(leaf).shape == graph.node(output).shape)
                large[at(leaf)] = true;
    return large;
}

// Bits as they are.
Loop copy_loop(const Layout& x, const Layout& output) {
    DType dtype = is_half(output.dtype) ? DType::uint16 : output.dtype;
    ProgramBuilder builder;
    builder.output(builder.input(dtype));
    Loop loop;
    loop.program = builder.take();
    loop.dims = output.dims;
    loop.loads.push_back({dtype, x.strides});
    loop.stores.push_back({dtype, output.strides});
    return loop;
}

class ScatterKernel final : public Kernel {
  public:
    ScatterKernel(std::unique_ptr<Kernel> copy, std::unique_ptr<Kernel> loop, std::size_t output, bool alike)
        : copy_(std::move(copy)), loop_(std::move(loop)), output_(output), alike_(alike) {}
    std::size_t scratch_bytes() const override { return std::max(copy_->scratch_bytes(), loop_->scratch_bytes()); }
    std::string_view by() const override { return loop_->by(); }
    void check(void* const* operands) const override { loop_->check(operands); }
    void run(void* const* operands, std::byte* scratch) const override {
        if (!alike_ || operands[0] != operands[output_]) {
            loop_->check(operands);
            void* both[] = {operands[0], operands[output_]};
            copy_->run(both, scratch);
        }
        loop_->run(operands, scratch);
    }

  private:
    std::unique_ptr<Kernel> copy_, loop_;
    std::size_t output_;
    bool alike_;  // x lies as the output does
};

}  // namespace

std::vector<bool> written_in_place(const Graph& graph, const Plan& plan) {
    std::size_t count = graph.entries.size();
    std::vector<bool> written(count, false);
    bool any = std::any_of(graph.entries.begin(), graph.entries.end(), [](const Graph::Entry& entry) {
        return !entry.leaf && entry.node->operation->family == Family::scatter;
    });
    if (!any) return written;  // nobody asks
    std::vector<std::int32_t> readers(count, 0);
    for (std::size_t e = 0; e < count; ++e) {
        auto entry = static_cast<std::int32_t>(e);
        if (graph.entries[e].leaf || plan.places[e].kind == Place::view) continue;
        std::set<std::int32_t> read;
        for (std::int32_t input : graph.inputs(entry)) read.insert(memory_below(plan, input));
        for (std::int32_t base : read) ++readers[at(base)];
        if (graph.node(entry).operation->family == Family::scatter)
            written[at(memory_below(plan, graph.inputs(entry)[0]))] = true;
    }
    std::vector<bool> large = as_large_as_an_output(graph);
    for (std::int32_t leaf : graph.leaves)
        if (large[at(leaf)] && readers[at(leaf)] > 1) written[at(leaf)] = true;
    return written;
}

bool costs_memory(const Graph& graph, const Plan& plan, const std::vector<std::int32_t>& members) {
    std::set<std::int32_t> inside(members.begin(), members.end()), computed;
    for (std::int32_t member : members) {
        if (graph.node(member).operation->family == Family::gather) continue;  // reads memory, wherever it is computed
        for (std::int32_t input : graph.inputs(member)) {
            std::int32_t base = memory_below(plan, input);
            if (inside.contains(input) || graph.entries[at(base)].leaf) continue;
            if (graph.node(input).shape != graph.node(member).shape) continue;
            Family family = graph.node(base).operation->family;
            bool passes = family == Family::elementwise || family == Family::reduce || family == Family::contraction ||
                          family == Family::window;
            bool shown = std::find(graph.outputs.begin(), graph.outputs.end(), base) != graph.outputs.end();
            if (passes && !shown) computed.insert(base);
        }
    }
    std::size_t bytes = 0;  // a point
    for (std::int32_t base : computed) bytes += size_of(graph.node(base).dtype);
    return bytes > size_of(graph.node(members.back()).dtype);  // the updates
}

std::unique_ptr<Kernel> scatter_kernel(const KernelCompiler& compiler, const Loop& loop, const Layout& x,
                                       const Layout& output) {
    return std::make_unique<ScatterKernel>(compiler.loop(copy_loop(x, output)), compiler.loop(loop), loop.loads.size(),
                                           x.strides == output.strides);
}

}  // namespace weft
