#include "weft/runtime/oracle.h"

#include "weft/compile/binding.h"
#include "weft/graph/graph.h"
#include "weft/runtime/executor.h"
#include "weft/runtime/interpreter.h"

namespace weft {

std::vector<Array> interpret(std::span<const Tensor> tensors) {
    static const InterpreterCompiler interpreter;
    std::vector<Node*> nodes;
    for (const Tensor& tensor : tensors) nodes.push_back(tensor.node());
    Graph graph = gather(nodes);
    auto plan = std::make_shared<const Plan>(make_plan(graph, {.fuse = false}));
    for (std::int32_t leaf : graph.leaves) {
        const Node& node = graph.node(leaf);
        if (!node.computed)
            throw ValueError(
                text("the oracle needs numbers, and a declared input has none: ", node.shape, place(node.where)));
    }
    return run_once(weft::bind(plan, graph, interpreter), graph);
}

Array interpret(const Tensor& tensor) { return interpret(std::span<const Tensor>(&tensor, 1))[0]; }

}  // namespace weft
