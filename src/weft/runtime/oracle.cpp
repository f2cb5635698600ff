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
    Runner runner(weft::bind(plan, graph, interpreter));
    std::vector<void*> leaves, addresses;
    for (std::int32_t leaf : graph.leaves) {
        const Node& node = graph.node(leaf);
        if (!node.computed)
            throw ValueError(
                text("the oracle needs numbers, and a declared input has none: ", node.shape, place(node.where)));
        leaves.push_back(const_cast<void*>(node.value.address()));
    }
    std::vector<BufferHandle> outputs;
    for (const BoundOutput& output : runner.binding().outputs) {
        outputs.push_back(Buffer::allocate(output.bytes));
        addresses.push_back(outputs.back()->data());
    }
    runner.run(leaves, addresses);
    std::vector<Array> results;
    for (const View& view : runner.binding().results) {
        auto index = static_cast<std::size_t>(view.base.index);
        if (view.base.kind == Base::output) {
            results.push_back(result_array(view, outputs[index], 0));
        } else {
            const Array& leaf = graph.node(graph.leaves[index]).value;
            results.push_back(
                result_array(view, leaf.buffer, leaf.offset * static_cast<std::int64_t>(size_of(leaf.dtype))));
        }
    }
    return results;
}

Array interpret(const Tensor& tensor) { return interpret(std::span<const Tensor>(&tensor, 1))[0]; }

}  // namespace weft
