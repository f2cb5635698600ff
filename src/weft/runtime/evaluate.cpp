// How pending Tensors get their numbers: gather, look up or make the plan, run, hand the numbers to the nodes.
#include "weft/compile/plan_cache.h"
#include "weft/graph/evaluator.h"
#include "weft/graph/graph.h"
#include "weft/runtime/executor.h"

namespace weft {
namespace {

void refuse_unbound(const Graph& graph) {
    for (std::int32_t leaf : graph.leaves) {
        const Node& node = graph.node(leaf);
        if (node.computed) continue;
        const auto& a = node.attributes_as<InputAttributes>();
        throw ValueError(text("the value of the input '", a.name, "' ", node.dtype, " ", node.shape,
                              " is not known here: a function is being traced, or the input was declared and not "
                              "given. Numbers can be asked for "
                              "when the function is called, not while it is written",
                              place(node.where)));
    }
}

// A node whose value is a leaf's, or a view of one, shares the leaf's memory.
Array array_of(const Graph& graph, const View& view, std::span<const BufferHandle> outputs) {
    if (view.base.kind == Base::output)
        return result_array(view, outputs[static_cast<std::size_t>(view.base.index)], 0);
    const Array& leaf = graph.node(graph.leaves[static_cast<std::size_t>(view.base.index)]).value;
    return result_array(view, leaf.buffer, leaf.offset * static_cast<std::int64_t>(size_of(leaf.dtype)));
}

}  // namespace

void evaluate(std::span<Node* const> nodes) {
    Graph graph = gather(nodes);
    refuse_unbound(graph);
    Runner runner(binding_for(graph));
    const Binding& binding = runner.binding();
    std::vector<void*> leaves, addresses;
    std::vector<BufferHandle> outputs;
    for (std::int32_t leaf : graph.leaves) leaves.push_back(const_cast<void*>(graph.node(leaf).value.address()));
    for (const BoundOutput& output : binding.outputs) {
        outputs.push_back(Buffer::allocate(output.bytes));
        addresses.push_back(outputs.back()->data());
    }
    runner.run(leaves, addresses);
    std::vector<std::weak_ptr<const char>> below = leaves_below(graph);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i]->materialize(array_of(graph, binding.results[i], outputs), below);
}

}  // namespace weft
