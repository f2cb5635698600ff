#include "weft/autodiff/custom.h"

#include <unordered_set>

#include "weft/autodiff/between.h"
#include "weft/autodiff/vmap.h"
#include "weft/ops/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/recompute.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// One of several values that share a node: it lies flat in a row with the others, in a type that holds all of theirs.
struct Part {
    Shape shape;
    DType dtype;
};

struct CustomAttributes {
    std::string name;
    std::shared_ptr<const CustomRule> rule;
    std::vector<Part> parts;  // of values that are packed; one value is not
    std::size_t inputs = 0;   // the call's, and its residuals; the further ones are what it reads from outside
    template <class V>
    void members(V& visit) {
        visit("name", name);
    }
};

const CustomAttributes& of(const Tensor& result) { return result.node()->attributes_as<CustomAttributes>(); }

Meta infer_value(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[0].shape(), inputs[0].dtype()};
}

Tensor packed(std::span<const Tensor> values) {
    DType dtype = values[0].dtype();
    for (const Tensor& value : values) dtype = promote(dtype, value.dtype());
    std::vector<Tensor> rows;
    for (const Tensor& value : values) rows.push_back(ravel(astype(value, dtype)));
    return concatenate(rows);
}

// The parts of a row, which may have further axes in front (of examples).
std::vector<Tensor> unpacked(const Tensor& row, const std::vector<Part>& parts) {
    std::vector<Tensor> values;
    Shape start(row.ndim(), 0), length = row.shape();
    std::size_t last = row.ndim() - 1;
    for (const Part& part : parts) {
        Shape shape(row.shape().begin(), row.shape().end() - 1);
        for (Size size : part.shape) shape.push_back(size);
        length[last] = element_count(part.shape);
        Tensor piece = reshape(slice(row, start, length), shape);
        bool complex_row = is_complex(row.dtype()) && !is_complex(part.dtype);
        values.push_back(astype(complex_row ? real(piece) : piece, part.dtype));
        start[last] = start[last] + length[last];
    }
    return values;
}

std::vector<Tensor> cotangents_of(const Tensor& result, const Tensor& cotangent) {
    const std::vector<Part>& parts = of(result).parts;
    return parts.empty() ? std::vector<Tensor>{cotangent} : unpacked(cotangent, parts);
}

// The rule for all examples at once: the rule of one, mapped; what examples share collects from all.
std::shared_ptr<const CustomRule> batched_rule(const std::shared_ptr<const CustomRule>& rule,
                                               std::vector<bool> batched) {
    auto wide = std::make_shared<CustomRule>(*rule);
    wide->pull = [rule, batched](std::span<const Tensor> inputs, std::span<const Tensor> cotangents) {
        KeepPending keep;
        std::vector<Tensor> given(inputs.begin(), inputs.end());
        given.insert(given.end(), cotangents.begin(), cotangents.end());
        std::vector<ExampleAxis> axes(given.size(), 0);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (!batched[i]) axes[i] = {};
        Vmap map(given, axes);
        std::span<const Tensor> examples(map.examples());
        std::vector<Tensor> found = rule->pull(examples.first(inputs.size()), examples.subspan(inputs.size()));
        std::vector<Tensor> all(found.size());
        ExampleAxis front = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (!found[i]) continue;
            Tensor each = map.results({&found[i], 1}, {&front, 1})[0];
            all[i] = batched[i] ? each : sum(each, 0);
        }
        return all;
    };
    return wide;
}

Tensor batch_custom(const Tensor& result, const Batch& batch) {
    CustomAttributes a = of(result);
    std::vector<Tensor> inputs(batch.inputs.begin(), batch.inputs.end());
    inputs[0] = batch.all(0);
    a.rule = batched_rule(a.rule, {batch.batched.begin() + 1, batch.batched.end()});
    return batch.like(result, inputs, attributes(std::move(a)));
}

// A value that is known, whose derivative goes through another expression of the same numbers.
Tensor transpose_linked(const Tensor&, std::size_t i, const Tensor& cotangent) { return i == 1 ? cotangent : Tensor(); }
Tensor jvp_linked(const Tensor&, std::span<const Tensor> tangents) { return tangents[0]; }
Tensor batch_linked(const Tensor& result, const Batch& batch) { return batch.like(result, batch.all()); }

const Operation linked_operation{.name = "linked",
                                 .family = Family::view,
                                 .arity = 2,
                                 .doc = "The first operand; derivatives go to the second.",
                                 .infer = infer_value,
                                 .transpose = transpose_linked,
                                 .jvp = jvp_linked,
                                 .batch = batch_linked,
                                 .alias = true};

// What stands below the values and does not come from the inputs, where the ways from these meet it.
std::vector<Tensor> read_outside(std::span<const Tensor> values, std::span<const Tensor> inputs) {
    std::unordered_set<const Node*> known;
    for (const Tensor& input : inputs) known.insert(input.node());
    std::vector<Tensor> nodes = nodes_between(values, inputs), outside;
    for (const Tensor& node : nodes) known.insert(node.node());
    auto note = [&](Node* node) {
        if (node->operation->family != Family::constant && is_inexact(node->dtype) && known.insert(node).second)
            outside.push_back(handle(node));
    };
    for (const Tensor& node : nodes)
        for (Node* input : node.node()->inputs) note(input);
    for (const Tensor& value : values) note(value.node());
    return outside;
}

/// The values under one node each that share what `make` makes of them packed.
template <class Make>
std::vector<Tensor> shared_node(std::span<const Tensor> values, Make make) {
    std::vector<Tensor> results(values.begin(), values.end()), moving;
    std::vector<Part> parts;
    for (const Tensor& value : values) {
        if (!is_inexact(value.dtype())) continue;
        moving.push_back(value);
        parts.push_back({value.shape(), value.dtype()});
    }
    if (moving.empty()) return results;
    bool one = moving.size() == 1;
    Tensor node = make(one ? moving[0] : packed(moving), one ? std::vector<Part>{} : parts);
    std::vector<Tensor> pieces = one ? std::vector<Tensor>{node} : unpacked(node, parts);
    for (std::size_t i = 0, k = 0; i < results.size(); ++i) {
        if (!is_inexact(results[i].dtype())) continue;
        results[i] =
            one ? node : make_node(linked_operation, {results[i], pieces[k]}, nullptr, results[i].node()->where);
        ++k;
    }
    return results;
}

}  // namespace

const Operation custom_operation{.name = "custom_vjp",
                                 .family = Family::view,
                                 .arity = -1,
                                 .doc = "A call that says itself how it is differentiated.",
                                 .infer = infer_value,
                                 .batch = batch_custom,
                                 .alias = true};

std::vector<Tensor> with_rule(std::span<const Tensor> values, std::span<const Tensor> inputs,
                              std::shared_ptr<const CustomRule> rule, std::span<const Tensor> residuals) {
    return shared_node(values, [&](const Tensor& value, std::vector<Part> parts) {
        std::vector<Tensor> all{value};
        all.insert(all.end(), inputs.begin(), inputs.end());
        all.insert(all.end(), residuals.begin(), residuals.end());
        for (const Tensor& outside : read_outside(values, inputs)) all.push_back(outside);
        return make_node(
            custom_operation, all,
            attributes(CustomAttributes{rule->name, rule, std::move(parts), inputs.size() + residuals.size()}),
            value.node()->where);
    });
}

std::vector<Tensor> recomputed(std::span<const Tensor> values, std::span<const Tensor> inputs) {
    std::vector<Tensor> results, moving, all(inputs.begin(), inputs.end());
    for (const Tensor& value : values)
        if (is_inexact(value.dtype())) moving.push_back(value);
    for (const Tensor& outside : read_outside(moving, inputs)) all.push_back(outside);
    auto rule = std::make_shared<CustomRule>();
    rule->name = "checkpoint";
    rule->forward = true;
    rule->pull = [moving, leaves = all, count = inputs.size()](std::span<const Tensor> now,
                                                               std::span<const Tensor> cotangents) {
        // Behind the cotangent, and told apart from what the forward pass computed; what is read from outside is there anyway.
        std::vector<Tensor> again(now.begin(), now.end());
        for (std::size_t i = 0; i < count; ++i) again[i] = recompute(now[i], cotangents[0]);
        std::vector<Tensor> wrt;
        for (const Tensor& x : again)
            if (is_inexact(x.dtype())) wrt.push_back(x);
        std::vector<Tensor> found = pullback(replaced(moving, leaves, again), cotangents, wrt), pulled(again.size());
        for (std::size_t i = 0, k = 0; i < again.size(); ++i)
            if (is_inexact(again[i].dtype())) pulled[i] = found[k++];
        return pulled;
    };
    return with_rule(values, all, rule);
}

Tensor push_custom(const Tensor& result, std::span<const Tensor> tangents) {
    const CustomRule& rule = *of(result).rule;
    if (rule.forward) return tangents[0];
    throw NotDifferentiable(
        text(rule.name, ": its derivative is known in reverse mode alone (custom_vjp); take grad or vjp, not jvp",
             place(result.node()->where)));
}

std::vector<Tensor> pull_custom(const Tensor& result, const Tensor& cotangent, const std::vector<bool>& wanted) {
    const CustomAttributes& a = of(result);
    for (std::size_t i = 1 + a.inputs; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        Tensor outside = input_of(result, i);
        throw NotDifferentiable(text(a.rule->name, ": its rule knows its arguments alone, but the function also reads ",
                                     outside.dtype(), " ", outside.shape(),
                                     " from outside, with respect to which a derivative is asked for; make it an "
                                     "argument",
                                     place(result.node()->where)));
    }
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < a.inputs; ++i) inputs.push_back(input_of(result, i + 1));
    std::vector<Tensor> found = a.rule->pull(inputs, cotangents_of(result, cotangent)), all(wanted.size());
    if (found.size() != inputs.size())
        throw ValueError(text(a.rule->name, ": the rule gave ", found.size(), " cotangents for ", inputs.size(),
                              " inputs", place(result.node()->where)));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!found[i] || !wanted[i + 1]) continue;
        if (!(found[i].shape() == inputs[i].shape()) || found[i].dtype() != inputs[i].dtype())
            throw ShapeError(text(a.rule->name, ": the rule gave a cotangent ", found[i].dtype(), " ", found[i].shape(),
                                  " for input ", i, ", which is ", inputs[i].dtype(), " ", inputs[i].shape(),
                                  place(result.node()->where)));
        all[i + 1] = found[i];
    }
    return all;
}

}  // namespace weft
