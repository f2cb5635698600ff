#include "weft/autodiff/region.h"

#include <mutex>
#include <unordered_set>

#include "weft/autodiff/between.h"
#include "weft/autodiff/loop.h"
#include "weft/base/integers.h"
#include "weft/graph/graph.h"

namespace weft {

const FrozenFunction* frozen_function(std::string_view name) {
    static constexpr FrozenFunction known[] = {
        {step_value_name, "scan", "a step", "the step", "which is written once for all steps"},
        {turn_value_name, "while_loop", "a step", "the step", "which is written once for all steps"},
        {branch_value_name, "cond", "a branch", "the branch",
         "which is written before anybody knows whether it is taken"}};
    for (const FrozenFunction& one : known)
        if (one.name == name) return &one;
    return nullptr;
}

namespace {

using Nodes = std::unordered_set<const Node*>;

// The nodes below `outputs` that `own` names, down to placeholders, leaves and what was computed: these come from outside.
std::vector<Tensor> own_below(std::span<const Tensor> outputs, const Nodes& own) {
    std::vector<Tensor> found;
    Nodes seen;
    std::vector<Node*> stack;
    std::lock_guard guard(Node::lock());
    for (const Tensor& output : outputs) stack.push_back(output.node());
    while (!stack.empty()) {
        Node* node = stack.back();
        stack.pop_back();
        if (!own.contains(node) || !seen.insert(node).second) continue;
        found.push_back(handle(node));
        stack.insert(stack.end(), node->inputs.begin(), node->inputs.end());
    }
    return found;
}

// What is handed over for a value from outside: views of it are made inside, where who reads them sees how the memory lies.
Node* below_views(Node* node, const Nodes& own) {
    while (node->operation->family == Family::view && node->inputs.size() == 1 && !node->operation->alias &&
           !own.contains(node->inputs[0]))
        node = node->inputs[0];
    return node;
}

Tensor placeholder_like(const Tensor& x, const SizeLookup& lookup = {}) {
    Shape shape = x.shape();
    if (lookup)
        for (Size& size : shape) size = size.substitute(lookup);
    return input(step_value_name, shape, x.dtype(), x.node()->where);
}

// A derivative may ask for any value of a loop that stands inside: all of them are the region's too. What is not asked for is not computed.
void add_values_of_loops(Region& region) {
    for (std::size_t i = region.inputs, count = region.nodes.size(); i < count; ++i) {
        Tensor loop = region.nodes[i];
        if (loop.node()->operation != &loop_operation) continue;
        const LoopAttributes& a = loop.node()->attributes_as<LoopAttributes>();
        if (a.condition) continue;  // it has none of all steps
        for (std::size_t k = 0; k < a.carried; ++k) region.nodes.push_back(loop_trail(loop, k));
        const std::vector<std::int32_t>& outputs = a.step->outputs;
        auto carried_on = outputs.begin() + static_cast<std::ptrdiff_t>(a.carried);
        for (std::size_t k = a.step->inputs; k < a.step->nodes.size(); ++k) {
            auto value = static_cast<std::int32_t>(k);
            bool in_trail = std::find(outputs.begin(), carried_on, value) != carried_on;
            if (!in_trail && a.step->nodes[k].node()->operation != &loop_operation)
                region.nodes.push_back(loop_values(loop, value));
        }
    }
}

KeyParts key_of(const Region& region) {
    auto number = numbers_of(region);
    KeyParts parts;
    for (std::size_t i = 0; i < region.nodes.size(); ++i) {
        const Node& node = *region.nodes[i].node();
        Family family = node.operation->family;
        bool follows = family == Family::elementwise || family == Family::reduce || family == Family::view ||
                       family == Family::contraction;
        if (i < region.inputs) {
            parts.words.push_back(static_cast<std::uint64_t>(node.dtype)), parts.words.push_back(node.shape.size());
        } else {
            parts.words.push_back(reinterpret_cast<std::uintptr_t>(node.operation));
            for (const Node* input : node.inputs) parts.words.push_back(number.at(input));
            if (node.attributes) node.attributes->key(parts);
            // Of custom derivatives it cannot be seen whether their rules are the same.
            if (node.operation->alias) parts.words.push_back(reinterpret_cast<std::uintptr_t>(node.attributes.get()));
        }
        if (!follows) parts.sizes.insert(parts.sizes.end(), node.shape.begin(), node.shape.end());
    }
    for (std::int32_t output : region.outputs) parts.words.push_back(static_cast<std::uint64_t>(output));
    Hasher hasher;
    hasher.add(region.inputs);
    for (std::uint64_t word : parts.words) hasher.add(word);
    parts.words = {hasher.result().high, hasher.result().low};
    return parts;
}

}  // namespace

std::vector<Tensor> captured_by(std::span<const Tensor> placeholders, std::span<const Tensor> outputs,
                                std::span<const Tensor> own) {
    Nodes mine, known;
    for (const Tensor& x : own)
        if (x.node()->operation->family != Family::leaf && !x.computed()) mine.insert(x.node());
    for (const Tensor& placeholder : placeholders) known.insert(placeholder.node()), mine.erase(placeholder.node());
    std::vector<Tensor> inside = nodes_between(outputs, placeholders), captured;
    std::vector<Tensor> more = own_below(outputs, mine);
    inside.insert(inside.end(), more.begin(), more.end());
    for (const Tensor& node : inside) known.insert(node.node());
    auto note = [&](Node* node) {
        if (known.contains(node)) return;
        node = below_views(node, mine);
        bool stays = node->operation == &constant_operation && !node->computed;
        if (!stays && known.insert(node).second) captured.push_back(handle(node));
    };
    for (const Tensor& node : inside)
        for (Node* input : node.node()->inputs) note(input);
    for (const Tensor& output : outputs) note(output.node());
    return captured;
}

Frozen freeze(std::span<const Tensor> placeholders, std::span<const Tensor> outputs, std::span<const Tensor> own) {
    KeepPending keep;
    Frozen frozen;
    frozen.captured = captured_by(placeholders, outputs, own);
    std::vector<Tensor> from(placeholders.begin(), placeholders.end()), to;
    from.insert(from.end(), frozen.captured.begin(), frozen.captured.end());
    for (const Tensor& x : from) to.push_back(placeholder_like(x));

    std::vector<Node*> leaves, tops;
    for (const Tensor& x : to) leaves.push_back(x.node());
    std::vector<Tensor> made = replaced(outputs, from, to);
    for (const Tensor& x : made) tops.push_back(x.node());
    Graph graph = gather(tops, leaves, Aliases::shown);

    auto region = std::make_shared<Region>();
    region->inputs = to.size();
    for (std::size_t e = 0; e < graph.entries.size(); ++e) {
        const Node& node = *graph.entries[e].node;
        if (e < region->inputs) {
            region->nodes.push_back(to[e]);
            continue;
        }
        // All are made anew: nobody else holds them, so none is ever computed and lets go of what it is made of.
        promise(!graph.entries[e].leaf, "what a region reads from outside is one of its inputs");
        std::vector<Tensor> inputs;
        for (std::int32_t input : graph.inputs(static_cast<std::int32_t>(e)))
            inputs.push_back(region->nodes[at(input)]);
        region->nodes.push_back(make_node(*node.operation, inputs, node.attributes, node.where));
    }
    region->outputs = graph.outputs;
    add_values_of_loops(*region);
    region->key = key_of(*region);
    frozen.region = std::move(region);
    return frozen;
}

std::shared_ptr<const Region> substitute(const Region& region, const SizeLookup& lookup) {
    KeepPending keep;
    auto made = std::make_shared<Region>();
    made->inputs = region.inputs, made->outputs = region.outputs;
    std::unordered_map<const Node*, Tensor> now;
    for (std::size_t i = 0; i < region.nodes.size(); ++i) {
        const Node& node = *region.nodes[i].node();
        std::vector<Tensor> inputs;
        for (const Node* input : node.inputs) inputs.push_back(now.at(input));
        AttributesHandle attributes = node.attributes ? node.attributes->substitute(lookup) : nullptr;
        made->nodes.push_back(i < region.inputs ? placeholder_like(region.nodes[i], lookup)
                                                : make_node(*node.operation, inputs, attributes, node.where));
        now[&node] = made->nodes.back();
    }
    made->key = key_of(*made);
    return made;
}

std::unordered_map<const Node*, std::size_t> numbers_of(const Region& region) {
    std::unordered_map<const Node*, std::size_t> numbers;
    for (std::size_t i = 0; i < region.nodes.size(); ++i) numbers[region.nodes[i].node()] = i;
    return numbers;
}

void mark_below(const Region& region, std::vector<bool>& marked) {
    auto number = numbers_of(region);
    for (std::size_t i = region.nodes.size(); i-- > region.inputs;)
        if (marked[i])
            for (const Node* input : region.nodes[i].node()->inputs) marked[number.at(input)] = true;
}

void print(std::ostream& out, const Region& region) {
    auto number = numbers_of(region);
    out << '{';
    for (std::size_t i = region.inputs; i < region.nodes.size(); ++i) {
        const Node& node = *region.nodes[i].node();
        out << (i > region.inputs ? "; %" : "%") << i << " = " << node.operation->name << '(';
        const char* comma = "";
        for (const Node* input : node.inputs) out << comma << '%' << number.at(input), comma = ", ";
        if (node.attributes) {
            out << comma;
            node.attributes->print(out);
        }
        out << ')';
    }
    out << '}';
}

std::vector<bool> depends_on(const Region& region, std::vector<bool> from) {
    auto number = numbers_of(region);
    for (std::size_t i = 0; i < region.nodes.size(); ++i)
        for (const Node* input : region.nodes[i].node()->inputs) from[i] = from[i] || from[number.at(input)];
    return from;
}

}  // namespace weft
