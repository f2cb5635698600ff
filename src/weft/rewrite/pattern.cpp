#include "weft/rewrite/pattern.h"

#include <algorithm>

#include "weft/ops/elementwise.h"
#include "weft/rewrite/number.h"

namespace weft {
namespace {

// The pattern's expression on placeholders of the first type for which all its operations are defined.
Tensor called_on_placeholders(const Expression& expression, std::vector<Tensor>& placeholders) {
    KeepPending keep;
    for (DType dtype : {DType::float32, DType::int64, DType::bool_}) {
        placeholders.clear();
        for (std::size_t i = 0; i < expression.arity; ++i)
            placeholders.push_back(input(std::string(1, static_cast<char>('a' + i)), {}, dtype));
        try {
            return expression.call(placeholders);
        } catch (const DTypeError&) {
            if (dtype == DType::bool_) throw;
        }
    }
    throw InternalError("a pattern is called on three types");
}

bool same_attributes(const AttributesHandle& a, const AttributesHandle& b) {
    if (!a || !b) return !a && !b;
    KeyParts x, y;
    a->key(x), b->key(y);
    auto same_offset = [](const Offset& l, const Offset& r) { return l == r; };
    return x.words == y.words && std::equal(x.sizes.begin(), x.sizes.end(), y.sizes.begin(), y.sizes.end()) &&
           std::equal(x.offsets.begin(), x.offsets.end(), y.offsets.begin(), y.offsets.end(), same_offset);
}

void write(const Node& node, int depth, std::string& out) {
    if (std::optional<Literal> number = number_of(node)) {
        out += text(*number);
        return;
    }
    if (opaque(node)) {
        bool declared = node.operation == &input_operation;
        out += declared ? node.attributes_as<InputAttributes>().name : "array";
        return;
    }
    if (depth == 0) {
        out += "...";
        return;
    }
    out += node.operation->name;
    out += '(';
    const char* comma = "";
    for (const Node* input : node.inputs) {
        out += comma;
        write(*input, depth - 1, out);
        comma = ", ";
    }
    if (node.attributes) {
        std::ostringstream attributes;
        node.attributes->print(attributes);
        if (!attributes.str().empty()) out += comma + attributes.str();
    }
    out += ')';
}

}  // namespace

std::string written(const Node& node, int depth) {
    std::string out;
    write(node, depth, out);
    return out;
}

Pattern::Pattern(const Expression& expression, bool gated) : variables_(expression.arity), gated_(gated) {
    std::vector<Tensor> placeholders;
    Tensor root = called_on_placeholders(expression, placeholders);
    text_ = written(*root.node(), 1000);
    std::vector<const Node*> stack{root.node()}, numbered;
    auto number_in = [&](const Node* node) {
        auto at = std::find(numbered.begin(), numbered.end(), node);
        return at == numbered.end() ? -1 : static_cast<std::int32_t>(at - numbered.begin());
    };
    while (!stack.empty()) {
        const Node* node = stack.back();
        if (number_in(node) >= 0) {
            stack.pop_back();
            continue;
        }
        Part part;
        auto variable = std::find_if(placeholders.begin(), placeholders.end(),
                                     [&](const Tensor& placeholder) { return placeholder.node() == node; });
        if (variable != placeholders.end()) {
            part.variable = static_cast<std::int32_t>(variable - placeholders.begin());
        } else if (std::optional<Literal> number = number_of(*node)) {
            part.number = *number;
        } else {
            std::size_t before = stack.size();
            for (const Node* input : node->inputs)
                if (number_in(input) < 0) stack.push_back(input);
            if (stack.size() > before) continue;
            part.operation = node->operation;
            part.attributes = node->attributes;
            part.swaps = node->inputs.size() == 2 && commutative(*node->operation);
            for (const Node* input : node->inputs) part.inputs.push_back(number_in(input));
        }
        stack.pop_back();
        numbered.push_back(node);
        parts_.push_back(part);
    }
    if (!parts_.back().operation)
        throw ValueError(text("a pattern must be an operation, not the variable or number ", text_));
}

Needs Pattern::needs() const {
    Needs needs;
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
        const Part& part = parts_[i];
        if (part.variable >= 0) continue;
        if (part.operation) {
            needs.operations.push_back({part.operation});
            bool gates = gated_ && part.operation == &multiply_operation;
            if (gates) needs.operations.back().push_back(&gated_multiply_operation);
        } else if (part.number.kind != Kind::complex) {
            needs.numbers.push_back(part.number.as<double>());
        }
    }
    return needs;
}

// Most rules are refused by what the node's inputs are: asked first, for it takes a tenth of the time of a match.
bool Pattern::may_match(const Node& node) const {
    for (std::int32_t input : parts_.back().inputs) {
        const Part& part = parts_[static_cast<std::size_t>(input)];
        if (part.variable >= 0) continue;
        bool any = false;
        for (const Node* below : node.inputs) any |= part.operation ? fits(part, *below) : may_be_number(*below);
        if (!any) return false;
    }
    return true;
}

bool Pattern::fits(const Part& part, const Node& node) const {
    bool gated = gated_ && part.operation == &multiply_operation && node.operation == &gated_multiply_operation;
    return node.operation == part.operation || gated;
}

std::optional<Pattern::Binding> Pattern::match(const Node& node) const {
    if (!may_match(node)) return std::nullopt;
    Binding binding;
    bool matches = match(static_cast<std::int32_t>(parts_.size()) - 1, const_cast<Node&>(node), node.dtype, binding);
    return matches ? std::optional(binding) : std::nullopt;
}

// The depth of a pattern bounds the recursion, not that of a graph.
bool Pattern::match(std::int32_t index, Node& node, DType read_as, Binding& binding) const {
    const Part& part = parts_[static_cast<std::size_t>(index)];
    if (part.variable >= 0) {
        auto v = static_cast<std::size_t>(part.variable);
        if (!binding.nodes[v]) {
            binding.nodes[v] = &node, binding.dtypes[v] = read_as;
            return true;
        }
        return binding.nodes[v] == &node && binding.dtypes[v] == read_as;
    }
    if (!part.operation) return is_number(node, part.number);
    if (opaque(node)) return false;
    if (!fits(part, node)) return false;
    if (node.inputs.size() != part.inputs.size() || !same_attributes(part.attributes, node.attributes)) return false;
    if (!part.swaps) return match_inputs(part, node, false, binding);
    Binding before = binding;
    if (match_inputs(part, node, false, binding)) return true;
    binding = before;
    return match_inputs(part, node, true, binding);
}

bool Pattern::match_inputs(const Part& part, const Node& node, bool swapped, Binding& binding) const {
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
        std::size_t from = swapped ? 1 - i : i;
        if (!match(part.inputs[i], *node.inputs[from], operand_dtype(node, from), binding)) return false;
        std::int32_t variable = parts_[static_cast<std::size_t>(part.inputs[i])].variable;
        if (variable >= 0 && part.operation->condition && i == 0)
            binding.conditions[static_cast<std::size_t>(variable)] = true;
    }
    return true;
}

}  // namespace weft
