#include "weft/runtime/declared.h"

#include <map>
#include <unordered_map>

#include "weft/autodiff/between.h"
#include "weft/graph/graph.h"
#include "weft/graph/node.h"
#include "weft/graph/origin.h"

namespace weft {
namespace {

const InputAttributes& as_input(const Tensor& x) { return x.node()->attributes_as<InputAttributes>(); }
bool is_input(const Node& node) { return node.operation == &input_operation; }

// What the named sizes are, from the shapes of what is given for the declared inputs.
class Sizes {
  public:
    void bind(const Tensor& declared, const Tensor& given) {
        const InputAttributes& a = as_input(declared);
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
    Graph graph = gather(nodes, {}, Aliases::shown);
    std::unordered_map<const Node*, Tensor> replaced;
    for (std::size_t i = 0; i < from.size(); ++i) replaced[from[i].node()] = to[i];
    std::vector<Tensor> values(graph.entries.size());
    for (std::size_t e = 0; e < graph.entries.size(); ++e) {
        const Node& node = *graph.entries[e].node;
        if (auto at = replaced.find(&node); at != replaced.end()) {
            values[e] = at->second;
        } else if (graph.entries[e].leaf) {
            Parameter parameter(node.cell());
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

namespace {

Graph gathered(std::span<const Tensor> expressions) {
    std::vector<Node*> nodes;
    for (const Tensor& tensor : expressions) nodes.push_back(tensor.node());
    return gather(nodes);
}

void refuse_unfit(const char* what, const Tensor& from, const Tensor& to) {
    std::string_view name =
        is_input(*from.node()) ? std::string_view(as_input(from).name) : from.node()->operation->name;
    if (auto cell = from.node()->cell()) name = cell->name;
    if (to.dtype() != from.dtype())
        throw DTypeError(text("function: ", what, " '", name, "' is ", from.dtype(), ", what takes its place is ",
                              to.dtype(), "; convert it with astype"));
    bool fits = from.ndim() == to.ndim();
    for (std::size_t i = 0; fits && i < from.ndim(); ++i) fits = may_equal(from.shape()[i], to.shape()[i]);
    if (!fits)
        throw ShapeError(text("function: ", what, " '", name, "' has shape ", from.shape(),
                              ", what takes its place has ", to.shape()));
}

/// Every leaf of the expressions that is the value of the Parameter whose value `x` is; else x.
std::vector<Tensor> all_of(const Tensor& x, const Graph& graph) {
    std::vector<Tensor> found;
    auto cell = x.node()->cell();
    for (const Graph::Entry& entry : graph.entries)
        if (cell && entry.leaf && entry.node->cell() == cell) found.push_back(handle(entry.node));
    if (found.empty()) found.push_back(x);
    return found;
}

}  // namespace

Declaration::Declaration(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                         std::vector<std::pair<Parameter, Tensor>> updates, const FunctionOptions& options)
    : inputs_(std::move(inputs)), expressions_(std::move(outputs)), count_(expressions_.size()) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (!inputs_[i] || !is_input(*inputs_[i].node()))
            throw ValueError(
                text("function: input ", i, " is not a declared one: make it with input(name, shape, dtype)"));
        for (std::size_t j = 0; j < i; ++j)
            if (inputs_[i].node() == inputs_[j].node())
                throw ValueError(text("function: the input '", as_input(inputs_[i]).name, "' is given twice"));
    }
    for (auto& [parameter, value] : updates) {
        updates_.push_back(parameter);
        expressions_.push_back(value);
    }
    check_updates();
    replace(options.givens);
    check_inputs(options.unused_inputs);
}

void Declaration::check_updates() const {
    for (std::size_t i = 0; i < updates_.size(); ++i) {
        refuse_unfit("the parameter", updates_[i].value(), expressions_[count_ + i]);
        for (std::size_t j = 0; j < i; ++j)
            if (updates_[i].cell() == updates_[j].cell())
                throw ValueError(text("function: the parameter '", updates_[i].name(), "' has two updates"));
    }
}

void Declaration::replace(std::span<const std::pair<Tensor, Tensor>> givens) {
    if (givens.empty()) return;
    std::vector<Tensor> from, to, declared, values;
    Sizes sizes;
    Graph graph = gathered(expressions_);
    for (const auto& [old, value] : givens) {
        refuse_unfit("the given", old, value);
        if (is_input(*old.node())) {
            declared.push_back(old);
            values.push_back(value);
            for (Size size : value.shape()) {
                if (size.known()) continue;
                if (!(value.shape() == old.shape()))
                    throw ShapeError(text("function: the given '", as_input(old).name, "' is declared ", old.shape(),
                                          ", what takes its place has ", value.shape(), "; name the same sizes alike"));
            }
            if (known(value.shape())) sizes.bind(old, value);
            continue;
        }
        for (Tensor& leaf : all_of(old, graph)) {
            from.push_back(std::move(leaf));
            to.push_back(value);
        }
    }
    expressions_ = substitute(replaced(expressions_, from, to), declared, values, sizes.lookup());
}

void Declaration::check_inputs(bool unused_inputs) const {
    Graph graph = gathered(expressions_);
    std::vector<Tensor> used;
    for (const Graph::Entry& entry : graph.entries) {
        const Node& node = *entry.node;
        if (is_input(node)) used.push_back(handle(entry.node));
        // A number that was asked for has let go of what it came from, and would never change again.
        if (!entry.leaf || node.operation->arity == 0 || is_input(node)) continue;
        for (const Parameter& parameter : updates_) {
            if (may_come_from(node, *parameter.value().node()))
                throw ValueError(text("function: ", node.operation->name, " of the parameter '", parameter.name(),
                                      "' was computed before, and computed values let go of what they came from; "
                                      "declare the function before asking for its value",
                                      place(node.where)));
        }
    }
    auto among = [](const std::vector<Tensor>& list, const Tensor& x) {
        return std::any_of(list.begin(), list.end(), [&](const Tensor& y) { return y.node() == x.node(); });
    };
    for (const Tensor& x : used) {
        if (among(inputs_, x)) continue;
        throw ValueError(text("function: the input '", as_input(x).name, "' is needed, but is not among the inputs",
                              place(x.node()->where)));
    }
    for (const Tensor& x : inputs_) {
        if (unused_inputs || among(used, x)) continue;
        throw ValueError(text("function: the input '", as_input(x).name,
                              "' is used by no output and no update; leave it out, or allow unused inputs",
                              place(x.node()->where)));
    }
}

std::vector<Tensor> Declaration::operator()(std::span<const Tensor> arguments) const {
    if (arguments.size() != inputs_.size()) {
        std::string names;
        for (const Tensor& x : inputs_) names += (names.empty() ? "" : ", ") + as_input(x).name;
        throw ValueError(
            text("function: takes ", inputs_.size(), " arguments (", names, "), ", arguments.size(), " were given"));
    }
    Sizes sizes;
    for (std::size_t i = 0; i < inputs_.size(); ++i) sizes.bind(inputs_[i], arguments[i]);
    std::vector<Tensor> results = substitute(expressions_, inputs_, arguments, sizes.lookup());
    for (std::size_t i = 0; i < updates_.size(); ++i) {
        Parameter parameter = updates_[i];
        parameter.set(results[count_ + i]);
    }
    results.resize(count_);
    return results;
}

CompiledFunction function(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                          std::vector<std::pair<Parameter, Tensor>> updates, const FunctionOptions& options) {
    return CompiledFunction(Declaration(std::move(inputs), std::move(outputs), std::move(updates), options),
                            options.compile);
}

}  // namespace weft
