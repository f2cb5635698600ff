#include "weft/runtime/declared.h"

#include <map>
#include <unordered_map>

#include "weft/graph/graph.h"
#include "weft/graph/node.h"

namespace weft {
namespace {

// What the named sizes are, from the shapes of what is given for the declared inputs.
class Sizes {
  public:
    void bind(const Tensor& declared, const Tensor& given) {
        const auto& a = declared.node()->attributes_as<InputAttributes>();
        if (given.dtype() != declared.dtype()) {
            throw DTypeError(text("function: the input '", a.name, "' is declared ", declared.dtype(),
                                  ", what is given is ", given.dtype()));
        }
        bool fits = given.ndim() == declared.ndim();
        for (std::size_t i = 0; fits && i < given.ndim(); ++i) {
            std::string name = declared.shape()[i].str();
            Size here = given.shape()[i];
            if (declared.shape()[i].known())
                fits = declared.shape()[i] == here;
            else if (auto [at, fresh] = known_.try_emplace(name, here.value()); !fresh && at->second != here.value()) {
                throw ShapeError(text("function: the size '", name, "' is ", at->second, " and, by the input '", a.name,
                                      "' of shape ", given.shape(), ", ", here));
            }
        }
        if (!fits)
            throw ShapeError(text("function: the input '", a.name, "' is declared ", declared.shape(),
                                  ", what is given has shape ", given.shape()));
    }
    SizeLookup lookup() const {
        return [this](std::string_view name) -> std::optional<std::int64_t> {
            auto at = known_.find(std::string(name));
            return at == known_.end() ? std::nullopt : std::optional(at->second);
        };
    }

  private:
    std::map<std::string, std::int64_t> known_;
};

}  // namespace

std::vector<Tensor> substitute(std::span<const Tensor> expressions, std::span<const Tensor> from,
                               std::span<const Tensor> to, const SizeLookup& lookup) {
    KeepPending keep;
    std::vector<Node*> nodes;
    for (const Tensor& tensor : expressions) nodes.push_back(tensor.node());
    Graph graph = gather(nodes);
    std::unordered_map<const Node*, Tensor> replaced;
    for (std::size_t i = 0; i < from.size(); ++i) replaced[from[i].node()] = to[i];
    std::vector<Tensor> values(graph.entries.size());
    for (std::size_t e = 0; e < graph.entries.size(); ++e) {
        const Node& node = *graph.entries[e].node;
        if (auto at = replaced.find(&node); at != replaced.end()) {
            values[e] = at->second;
        } else if (graph.entries[e].leaf) {
            Parameter parameter(node.cell.lock());
            values[e] = parameter.cell() ? parameter.value() : handle(graph.entries[e].node);
        } else {
            std::vector<Tensor> inputs;
            for (std::int32_t input : graph.inputs(static_cast<std::int32_t>(e)))
                inputs.push_back(values[static_cast<std::size_t>(input)]);
            values[e] = make_node(*node.operation, inputs,
                                  node.attributes ? node.attributes->substitute(lookup) : nullptr, node.where);
        }
    }
    std::vector<Tensor> results;
    for (std::int32_t output : graph.outputs) results.push_back(values[static_cast<std::size_t>(output)]);
    return results;
}

CompiledFunction function(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                          std::vector<std::pair<Parameter, Tensor>> updates) {
    for (const Tensor& input : inputs) {
        if (!input || input.node()->operation != &input_operation)
            throw ValueError("function: its inputs must be made with input(...)");
    }
    return CompiledFunction([inputs = std::move(inputs), outputs = std::move(outputs),
                             updates = std::move(updates)](std::span<const Tensor> given) {
        if (given.size() != inputs.size())
            throw ValueError(text("function: takes ", inputs.size(), " arguments, ", given.size(), " were given"));
        Sizes sizes;
        for (std::size_t i = 0; i < inputs.size(); ++i) sizes.bind(inputs[i], given[i]);
        std::vector<Tensor> expressions = outputs;
        for (auto& [_, value] : updates) expressions.push_back(value);
        std::vector<Tensor> results = substitute(expressions, inputs, given, sizes.lookup());
        for (std::size_t i = 0; i < updates.size(); ++i) {
            Parameter parameter = updates[i].first;
            parameter.set(results[outputs.size() + i]);
        }
        results.resize(outputs.size());
        return results;
    });
}

}  // namespace weft
