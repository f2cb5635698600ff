#include "weft/autodiff/between.h"

#include <mutex>
#include <unordered_map>

namespace weft {
namespace {

class Dependents {
  public:
    explicit Dependents(std::span<const Tensor> leaves) {
        for (const Tensor& leaf : leaves) depends_[leaf.node()] = State::depends;
    }
    void visit(Node* top) {
        std::vector<Node*> stack{top};
        while (!stack.empty()) {
            Node* node = stack.back();
            auto [at, fresh] = depends_.try_emplace(node, State::open);
            if (fresh) {
                for (std::size_t i = node->inputs.size(); i-- > 0;) stack.push_back(node->inputs[i]);
                continue;
            }
            stack.pop_back();
            if (at->second != State::open) continue;
            bool any = std::any_of(node->inputs.begin(), node->inputs.end(),
                                   [&](Node* input) { return depends_.at(input) == State::depends; });
            at->second = any ? State::depends : State::does_not;
            if (any) order_.push_back(handle(node));
        }
    }
    std::vector<Tensor> take() { return std::move(order_); }

  private:
    enum class State : char { open, depends, does_not };
    std::unordered_map<const Node*, State> depends_;
    std::vector<Tensor> order_;
};

}  // namespace

std::vector<Tensor> nodes_between(std::span<const Tensor> outputs, std::span<const Tensor> leaves) {
    Dependents dependents(leaves);
    std::lock_guard guard(Node::lock());
    for (const Tensor& output : outputs) dependents.visit(output.node());
    return dependents.take();
}

std::vector<Tensor> replaced(std::span<const Tensor> outputs, std::span<const Tensor> leaves,
                             std::span<const Tensor> values) {
    KeepPending keep;
    std::unordered_map<const Node*, Tensor> made;
    for (std::size_t i = 0; i < leaves.size(); ++i) made[leaves[i].node()] = values[i];
    auto now = [&](Node* node) {
        auto at = made.find(node);
        return at == made.end() ? handle(node) : at->second;
    };
    for (const Tensor& tensor : nodes_between(outputs, leaves)) {
        const Node& node = *tensor.node();
        std::vector<Tensor> inputs;
        for (Node* input : node.inputs) inputs.push_back(now(input));
        LineScope line(node.where);
        made[&node] = make_node(*node.operation, inputs, node.attributes, node.where);
    }
    std::vector<Tensor> results;
    for (const Tensor& output : outputs) results.push_back(now(output.node()));
    return results;
}

}  // namespace weft
