// How pending Tensors get their numbers: gather, look up or make the plan, run, hand the numbers to the nodes.
#include "weft/autodiff/region.h"
#include "weft/autodiff/vmap.h"
#include "weft/compile/plan_cache.h"
#include "weft/graph/evaluator.h"
#include "weft/graph/graph.h"
#include "weft/runtime/again.h"
#include "weft/runtime/debug.h"
#include "weft/runtime/executor.h"

namespace weft {
namespace {

void refuse_unbound(const Graph& graph) {
    for (std::int32_t leaf : graph.leaves) {
        const Node& node = graph.node(leaf);
        if (node.computed) continue;
        const auto& a = node.attributes_as<InputAttributes>();
        if (a.name == mapped_name) {
            throw ValueError(text("vmap: a number is asked for that depends on an example, ", node.dtype, " ",
                                  node.shape,
                                  ", which stands for all examples at once. In place of `if` choose with "
                                  "where(condition, a, b); ask for numbers outside of the mapped function"));
        }
        if (const FrozenFunction* frozen = frozen_function(a.name)) {
            throw ValueError(text(frozen->function, ": a number is asked for that depends on ", frozen->part, ", ",
                                  node.dtype, " ", node.shape, ", ", frozen->written, " (or it left ", frozen->within,
                                  " by another way than its results). In place of `if` choose with "
                                  "where(condition, a, b); return what is asked for, and ask for it outside",
                                  place(node.where)));
        }
        throw ValueError(text("the value of the input '", a.name, "' ", node.dtype, " ", node.shape,
                              " is not known here: a function is being traced, or the input was declared and not "
                              "given. Numbers can be asked for "
                              "when the function is called, not while it is written",
                              place(node.where)));
    }
}

/// Bindings are found again by structure, and know the lines of the first graph like it: an error is told by one made for this graph.
std::vector<Array> run_graph(const std::shared_ptr<const Binding>& binding, const Graph& graph) {
    try {
        return run_once(binding, graph);
    } catch (const Error&) {
        return run_once(make_binding(graph), graph);
    }
}

bool ran_before(Node& node) {
    try {
        return run_again(node);
    } catch (const Error&) {
        return false;  // it fails again, and the error is told
    }
}

}  // namespace

void evaluate(std::span<Node* const> nodes) {
    bool single = nodes.size() == 1 && !debug_modes().any();
    if (single && ran_before(*nodes[0])) return;
    Graph graph = gather(nodes);
    refuse_unbound(graph);
    std::shared_ptr<const Binding> binding = binding_for(graph);
    if (single) remember(*nodes[0], graph, binding);
    std::vector<Array> values = run_graph(binding, graph);
    if (debug_modes().any()) {
        std::vector<Tensor> tensors;
        for (Node* node : nodes) tensors.push_back(handle(node));
        debug_run(tensors, values);
    }
    Leaves below = leaves_below(graph);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i]->materialize(std::move(values[i]), below);
}

}  // namespace weft
