#include "weft/runtime/explain.h"

#include <iomanip>
#include <sstream>

#include "weft/compile/plan_cache.h"
#include "weft/compile/work.h"
#include "weft/graph/graph.h"
#include "weft/runtime/executor.h"

namespace weft {
namespace {

constexpr int timed_runs = 5;

std::string line_of(const std::source_location& where) {
    return where.line() ? text(where.file_name(), ":", where.line()) : std::string();
}

std::string duration(double seconds) {
    std::ostringstream out;
    out << std::setprecision(3);
    if (seconds < 1e-6)
        out << seconds * 1e9 << " ns";
    else if (seconds < 1e-3)
        out << seconds * 1e6 << " us";
    else
        out << seconds * 1e3 << " ms";
    return out.str();
}

std::string percent(double share) { return text(static_cast<int>(share * 100 + 0.5), " %"); }

void add_times(Explanation& explanation, std::shared_ptr<const Binding> binding, std::span<void* const> leaves) {
    Runner runner(binding);
    std::vector<BufferHandle> outputs;
    std::vector<void*> addresses;
    for (const BoundOutput& output : binding->outputs) {
        outputs.push_back(Buffer::allocate(output.bytes));
        addresses.push_back(outputs.back()->data());
    }
    std::vector<double> seconds = runner.time(leaves, addresses, timed_runs);
    for (std::size_t s = 0; s < binding->steps.size(); ++s) {
        const BoundStep& step = binding->steps[s];
        explanation.steps.push_back({std::string(step.operation ? step.operation->name : "copy"),
                                     std::string(step.kernel->by()), line_of(step.where), seconds[s], work_of(step)});
    }
}

}  // namespace

std::string Explanation::timings() const {
    double total = 0;
    for (const StepTime& step : steps) total += step.seconds;
    std::ostringstream out;
    out << steps.size() << " steps, " << duration(total) << "; this machine: " << std::fixed << std::setprecision(0)
        << limits.operations / 1e9 << " GFLOP/s, " << limits.bytes / 1e9 << " GB/s beyond the caches\n";
    for (std::size_t s = 0; s < steps.size(); ++s) {
        const StepTime& step = steps[s];
        double bytes = step.work.bytes / step.seconds, operations = step.work.operations / step.seconds;
        out << std::setw(4) << s << "  " << std::setw(9) << duration(step.seconds) << "  " << std::setw(5)
            << percent(total > 0 ? step.seconds / total : 0) << "  ";
        if (step.work.operations > 0)
            out << std::setprecision(1) << operations / 1e9 << " GFLOP/s ("
                << percent(limits.operations > 0 ? operations / limits.operations : 0) << ")";
        else
            out << std::setprecision(1) << bytes / 1e9 << " GB/s ("
                << percent(limits.bytes > 0 ? bytes / limits.bytes : 0) << ")";
        out << "  " << step.what << " by " << step.by << (step.where.empty() ? "" : "  at ") << step.where << '\n';
    }
    return out.str();
}

std::string Explanation::str() const {
    return text("-- graph\n", graph, "-- rewrites\n", rewrites, "-- plan\n", plan, "-- kernels\n", kernels,
                "-- memory\n", memory, "-- timings\n", timings());
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) { return out << explanation.str(); }

Explanation explain_graph(const Graph& graph, std::span<void* const> leaves) {
    return explain_graph(graph, leaves, BindOptions{});
}

Explanation explain_graph(const Graph& graph, std::span<void* const> leaves, BindOptions options) {
    options.keep_loops = true;
    Explanation explanation;
    auto binding = make_binding(graph, options, &explanation);
    explanation.placements = binding->placements;
    explanation.arena_bytes = binding->arena_bytes;
    explanation.output_bytes = output_bytes(*binding);
    explanation.limits = cpu_compiler().limits();
    add_times(explanation, binding, leaves);
    return explanation;
}

Explanation explain(std::span<const Tensor> tensors) {
    std::vector<Node*> nodes;
    for (const Tensor& tensor : tensors) nodes.push_back(tensor.node());
    Graph graph = gather(nodes);
    std::vector<void*> leaves;
    for (std::int32_t leaf : graph.leaves) {
        const Node& node = graph.node(leaf);
        if (!node.computed)
            throw ValueError(text("explain: the input ", node.dtype, " ", node.shape,
                                  " has no numbers to run with; explain a compiled function with arguments",
                                  place(node.where)));
        leaves.push_back(const_cast<void*>(node.value().address()));
    }
    return explain_graph(graph, leaves);
}

Explanation explain(const Tensor& tensor) { return explain(std::span<const Tensor>(&tensor, 1)); }

}  // namespace weft
