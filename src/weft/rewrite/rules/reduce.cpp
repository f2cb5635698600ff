// Reductions: over nothing, of reductions, of what repeats.
#include "weft/ops/reduce.h"

#include <algorithm>

#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

Tensor reduced(const Operation& operation, const Tensor& x, const Axes& axes, bool keepdims,
               std::source_location where) {
    Reduction reduction = operation.name == "sum"    ? Reduction::sum
                          : operation.name == "prod" ? Reduction::product
                          : operation.name == "max"  ? Reduction::maximum
                                                     : Reduction::minimum;
    return make_node(operation, {x}, attributes(ReduceAttributes{reduction, axes, keepdims}), where);
}

// Axes of size one join nothing; over none, the value is its own reduction.
Tensor over_ones(const Site& site) {
    const ReduceAttributes& a = reduction_of(site.node);
    const Shape& shape = site.node.inputs[0]->shape;
    Axes proper;
    for (std::int64_t axis : a.axes)
        if (!(shape[static_cast<std::size_t>(axis)] == Size(1))) proper.push_back(axis);
    if (proper.size() == a.axes.size() && !proper.empty()) return {};
    Tensor x = site.input();
    if (!proper.empty()) x = reduced(*site.node.operation, x, proper, a.keepdims, site.node.where);
    return reshape(astype(x, site.node.dtype), site.node.shape);
}

// sum(sum(x, 1), 0) -> sum(x)
Tensor of_reduction(const Site& site) {
    const Node &outer = site.node, &inner = *outer.inputs[0];
    if (opaque(inner) || inner.operation != outer.operation || !site.only_here(inner)) return {};
    const ReduceAttributes &a = reduction_of(outer), &b = reduction_of(inner);
    Axes axes = b.axes;
    for (std::size_t i = 0, k = 0; i < inner.inputs[0]->shape.size(); ++i) {
        bool gone = has(b.axes, i);
        if (gone && !b.keepdims) continue;
        if (has(a.axes, k++) && !gone) axes.push_back(static_cast<std::int64_t>(i));
    }
    std::sort(axes.begin(), axes.end());
    Tensor x = handle(inner.inputs[0]);
    return reshape(reduced(*outer.operation, x, axes, false, outer.where), outer.shape);
}

// Along axes on which a value only repeats: x times how often for a sum, x itself for an extreme.
Tensor of_repeated(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || from.operation != &broadcast_to_operation) return {};
    const ReduceAttributes& a = reduction_of(node);
    bool sums = node.operation == &sum_operation;
    if (sums && !full_width(node.dtype)) return {};
    Tensor x = handle(from.inputs[0]);
    std::size_t shift = from.shape.size() - x.ndim();
    Axes left;
    Size count = 1;
    for (std::int64_t axis : a.axes) {
        auto i = static_cast<std::size_t>(axis);
        bool repeats = i < shift || (x.shape()[i - shift] == Size(1) && !(from.shape[i] == Size(1)));
        if (repeats && from.shape[i] == Size(0)) return {};
        if (repeats)
            count = count * from.shape[i];
        else
            left.push_back(axis);
    }
    if (left.size() == a.axes.size()) return {};
    // The repeated axes as ones: the rest is reduced as before.
    Shape once = from.shape;
    for (std::int64_t axis : a.axes)
        if (!has(left, static_cast<std::size_t>(axis))) once[static_cast<std::size_t>(axis)] = 1;
    Shape full_ndim;
    for (std::size_t i = 0; i < from.shape.size(); ++i) full_ndim.push_back(i < shift ? Size(1) : x.shape()[i - shift]);
    Tensor value = broadcast_to(reshape(x, full_ndim), once);
    if (!left.empty()) value = reduced(*node.operation, value, left, true, node.where);
    value = reshape(value, node.shape);
    return sums ? value * size_as_tensor(count, node.dtype) : value;
}

// -max(-x) -> min(x), -min(-x) -> max(x)
Tensor turned_extreme(const Site& site) {
    const Node& extreme = *site.node.inputs[0];
    bool largest = !opaque(extreme) && extreme.operation == &max_operation;
    bool smallest = !opaque(extreme) && extreme.operation == &min_operation;
    if ((!largest && !smallest) || !is_floating(extreme.dtype)) return {};
    const Node& turned = *extreme.inputs[0];
    if (opaque(turned) || turned.operation != &negative_operation) return {};
    const ReduceAttributes& a = reduction_of(extreme);
    return reduced(largest ? min_operation : max_operation, handle(turned.inputs[0]), a.axes, a.keepdims,
                   extreme.where);
}

// sum(-x) -> -sum(x): one sign for all, and x itself may be there already.
Tensor sum_of_negative(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || from.operation != &negative_operation || from.dtype != node.dtype) return {};
    return -make_node(*node.operation, {handle(from.inputs[0])}, node.attributes, node.where);
}

// sum(concatenate({a, b})) -> sum(a) + sum(b) along the joined axis.
Tensor of_pieces(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || from.operation != &concatenate_operation || !site.only_here(from)) return {};
    auto axis = static_cast<std::size_t>(from.attributes_as<ConcatenateAttributes>().axis);
    if (!has(reduction_of(node).axes, axis) || from.inputs.size() > 8) return {};
    Tensor total;
    for (Node* piece : from.inputs) {
        Tensor sum = make_node(*node.operation, {handle(piece)}, node.attributes, node.where);
        total = total ? total + sum : sum;
    }
    return total;
}

// reshape(sum(x, 1), (n, 1)) -> sum(x, 1, keepdims). Not of sums down columns, which stay one for all who read them (rules/factored.cpp).
Tensor kept_by_reshape(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || from.operation->family != Family::reduce || !site.only_here(from)) return {};
    const ReduceAttributes& a = reduction_of(from);
    if (from.operation == &sum_operation && !a.keepdims && goes_down(from)) return {};
    const Shape& whole = from.inputs[0]->shape;
    Shape other;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (!has(a.axes, i))
            other.push_back(whole[i]);
        else if (!a.keepdims)
            other.push_back(1);
    }
    if (!(other == node.shape) || a.axes.empty()) return {};
    return make_node(*from.operation, {handle(from.inputs[0])},
                     attributes(ReduceAttributes{a.reduction, a.axes, !a.keepdims}), from.where);
}

// A reshape that only adds or drops axes of size one goes below elementwise operations, so that what is above and below meet.
Tensor reshape_below(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || from.operation->family != Family::elementwise || !site.only_here(from)) return {};
    auto proper = [](const Shape& shape) {
        Shape kept;
        for (Size size : shape)
            if (!(size == Size(1))) kept.push_back(size);
        return kept;
    };
    if (!(proper(node.shape) == proper(from.shape))) return {};
    std::vector<std::ptrdiff_t> axis_of;  // of each axis of the result: which of `from` it is; -1: a new one
    for (std::size_t k = 0, i = 0; k < node.shape.size(); ++k) {
        bool one = node.shape[k] == Size(1);
        while (!one && from.shape[i] == Size(1)) ++i;
        axis_of.push_back(one ? -1 : static_cast<std::ptrdiff_t>(i++));
    }
    std::vector<Tensor> inputs;
    for (Node* input : from.inputs) {
        Shape shape;
        auto shift = static_cast<std::ptrdiff_t>(from.shape.size() - input->shape.size());
        for (std::ptrdiff_t i : axis_of)
            shape.push_back(i < shift ? Size(1) : input->shape[static_cast<std::size_t>(i - shift)]);
        inputs.push_back(input->shape.empty() ? handle(input) : reshape(handle(input), shape));
    }
    return make_node(*from.operation, inputs, from.attributes, from.where);
}

// The place of the greatest of one number is 0.
Tensor place_among_one(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    const Axes& axes = reduction_of(node).axes;
    bool alone = std::all_of(axes.begin(), axes.end(),
                             [&](std::int64_t axis) { return from.shape[static_cast<std::size_t>(axis)] == Size(1); });
    return alone ? filled(0, node.dtype, node.shape) : Tensor();
}

}  // namespace

void add_reduce_rules(RuleList& rules) {
    auto add = [&](std::string name, Phase phase, std::vector<const Operation*> roots, auto apply, AtOptions options) {
        rules.push_back(rule_at(std::move(name), phase, std::move(roots), apply, std::move(options)));
    };
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    std::vector<const Operation*> joins{&sum_operation, &prod_operation, &max_operation, &min_operation};
    std::vector<const Operation*> extremes{&sum_operation, &max_operation, &min_operation};
    // clang-format off
    add("reduction_over_ones", Phase::canonical, joins, over_ones, {.examples = {
        example([](T x) { return sum(x, {0, 1}); }, {{1, 4}}), example([](T x) { return sum(x, Axes{}); }, {{3}}), example([](T x) { return max(x, {1}, true); }, {{3, 1}})}});
    add("place_among_one", Phase::canonical, {&argmax_operation, &argmin_operation}, place_among_one, {.examples = {
        with([](T x) { return argmax(x, 1); }, {{3, 1}}), with([](T x) { return argmin(x, 0, true); }, {{1, 4}})}});
    add("reduction_of_reduction", Phase::canonical, joins, of_reduction, {.examples = {
        example([](T x) { return sum(sum(x, 1), 0); }, {{3, 4}}), example([](T x) { return max(max(x, 1, true), {0, 2}); }, {{3, 4, 2}}), example([](T x) { return sum(sum(x, {0, 2}), 0, true); }, {{2, 3, 4}})}});
    add("reduction_of_repeated", Phase::canonical, extremes, of_repeated, {.examples = {
        with([](T x) { return sum(broadcast_to(x, {3, 4}), 0); }, {{4}}), with([](T x) { return sum(broadcast_to(x, {2, 3, 4}), {0, 2}); }, {{3, 1}}), with([](T x) { return max(broadcast_to(x, {3, 4}), 0, true); }, {{1, 4}})}});
    add("turned_extreme", Phase::canonical, {&negative_operation}, turned_extreme, {.examples = {
        with([](T x) { return -max(-x, 1); }, {{3, 4}}), with([](T x) { return -min(-x, 0, true); }, {{3, 4}})}});
    add("sum_of_negative", Phase::canonical, {&sum_operation}, sum_of_negative, {.examples = {
        example([](T x) { return sum(-x, 1); }, {{3, 4}}), example([](T x) { return sum(-x, {0, 1}, true); }, {{3, 4}})}});
    add("sum_of_pieces", Phase::special, {&sum_operation}, of_pieces, {.examples = {with([](T a, T b) { return sum(concatenate({a, b}), 0); }, {{2, 3}, {4, 3}})}});
    add("reshape_of_reduction", Phase::canonical, {&reshape_operation}, kept_by_reshape, {.examples = {
        with([](T x) { return reshape(sum(x, 1), {3, 1}); }, {{3, 4}}), with([](T x) { return reshape(max(x, 0, true), {4}); }, {{3, 4}})}});
    add("reshape_below_elementwise", Phase::canonical, {&reshape_operation}, reshape_below, {.examples = {
        with([](T x) { return reshape(exp(x) + 1, {3, 1, 4}); }, {{3, 4}}), with([](T x, T y) { return reshape(x * y, {3, 4}); }, {{3, 1, 4}, {1, 4}})}});
    // clang-format on
}

}  // namespace weft
