// Softmax, its logarithm, logsumexp and cross-entropy, written the naive way, in value and gradient.
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/rewrite/exponentials.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/picked.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

// Whether `m` is the largest of y along `axes`, kept as ones; infinite maxima may have been left out of it.
bool is_maximum_of(const Node& y, const Node& m, const Axes& axes) {
    const Node* at = &held(m);
    if (is(*at, where_operation) && is(*at->inputs[0], isfinite_operation) && at->inputs[0]->inputs[0] == at->inputs[1])
        at = &held(*at->inputs[1]);
    return is_largest_of(y, *at) && reduction_of(*at).axes == axes;
}

// Whether x is y - max(y) already.
bool shifted(const Node& x, const Axes& axes) {
    return is(x, subtract_operation) && is_maximum_of(*x.inputs[0], *x.inputs[1], axes);
}

bool hollow(const Shape& shape, const Axes& axes) {
    for (std::int64_t axis : axes)
        if (shape[static_cast<std::size_t>(axis)] == Size(0)) return true;
    return axes.empty();
}

// The sum of exp(x) along axes, as node: x, or null.
const Node* summed_exponent(const Node& sum) {
    if (!is(sum, sum_operation) || !is_exponential(*sum.inputs[0])) return nullptr;
    const Node* x = sum.inputs[0]->inputs[0];
    return is_floating(sum.dtype) && x->dtype == sum.dtype ? x : nullptr;
}

Tensor log_of_sum(const Site& site) {
    const Node& sum = *site.node.inputs[0];
    const Node* x = summed_exponent(sum);
    if (!x || hollow(x->shape, reduction_of(sum).axes) || shifted(*x, reduction_of(sum).axes)) return {};
    return logsumexp(handle(const_cast<Node*>(x)), reduction_of(sum).axes, reduction_of(sum).keepdims);
}

// exp(x) / sum(exp(x)), where x may be large.
Tensor shifted_softmax(const Site& site) {
    const Node &above = *site.node.inputs[0], &below = *site.node.inputs[1];
    const Node* x = summed_exponent(below);
    if (!x || below.inputs[0] != &above || !reduction_of(below).keepdims) return {};
    const Axes& axes = reduction_of(below).axes;
    if (hollow(x->shape, axes) || shifted(*x, axes)) return {};
    Tensor tensor = handle(const_cast<Node*>(x));
    Tensor raised = exp(tensor - max(tensor, axes, true));
    return raised / sum(raised, axes, true);
}

// Whether x is y - where(m == -inf, 0, m) for a maximum m: of rows of which something may be left out, or all of it.
bool shifted_where_finite(const Node& x, const Axes& axes) {
    if (!is(x, subtract_operation)) return false;
    const Node& most = without_infinity(*x.inputs[1]);
    return &most != x.inputs[1] && is_maximum_of(*x.inputs[0], most, axes);
}

// s of where(s == 0, 1, s), or the node itself.
const Node& within_choice(const Node& node) {
    if (!is(node, where_operation) || !is_number(*node.inputs[1], 1)) return node;
    const Node &test = *node.inputs[0], &sum = *node.inputs[2];
    return is(test, equal_operation) && test.inputs[0] == &sum && is_number(*test.inputs[1], 0) ? sum : node;
}

// exp(x - max) / sum(exp(x - max)) -> exp(x - max) * (1 / sum): a division for a row, not for an element of it, and two roundings for one.
// The sum is at least 1, so neither step overflows; of attention's rows that see nothing it is 0, and 1 stands for it.
Tensor softmax_by_inverse(const Site& site) {
    const Node &above = *site.node.inputs[0], &below = within_choice(*site.node.inputs[1]);
    const Node* x = summed_exponent(below);
    if (!x || below.inputs[0] != &above || !reduction_of(below).keepdims || !full_width(below.dtype)) return {};
    const Axes& axes = reduction_of(below).axes;
    bool chosen = &below != site.node.inputs[1];
    if (chosen ? !shifted_where_finite(*x, axes) : !shifted(*x, axes)) return {};
    bool read_elsewhere = site.times_read(above) != 2 || site.times_read(below) != (chosen ? 2 : 1) ||
                          !site.only_here(*site.node.inputs[1]);
    if (read_elsewhere || site.fact(*x).high > 0) return site.input(0) * (1 / site.input(1));
    // Nobody sees the exponentials themselves: they may be larger, all by the same.
    Tensor raised = exp_raised(handle(const_cast<Node*>(x))), total = sum(raised, axes, true);
    return raised * (1 / (chosen ? where(total == 0, 1, total) : total));
}

// exp(x) where x is never above 0: with fewer steps, to the same bits.
Tensor exponential_of_negative(const Site& site) {
    const Node& x = *site.node.inputs[0];
    if (!is_floating(site.node.dtype) || x.dtype != site.node.dtype || site.fact(x).high > 0) return {};
    return exp_of_negative(site.input(0));
}

// The same view or gather of something else.
Tensor shown(const Node& view, const Tensor& of) {
    std::vector<Tensor> inputs{of};
    for (std::size_t i = 1; i < view.inputs.size(); ++i) inputs.push_back(handle(view.inputs[i]));
    return make_node(*view.operation, inputs, view.attributes, view.where);
}

bool is_softmax(const Node& node) { return is(node, divide_operation) && is_exponential(*node.inputs[0]); }

// log(p[i]) -> log(p)[i] for a softmax p: its logarithm is known.
Tensor log_of_picked(const Site& site) {
    const Node& picked = *site.node.inputs[0];
    bool gather = is(picked, take_operation) || is(picked, take_along_axis_operation);
    if (!gather || !is_softmax(*picked.inputs[0]) || picked.dtype != site.node.dtype) return {};
    return shown(picked, log(handle(picked.inputs[0])));
}

// log of a part or another form of sum(exp(x)) -> that of its logarithm.
Tensor log_of_view_of_sum(const Site& site) {
    const Node& view = *site.node.inputs[0];
    auto shows = [](const Node& node) {
        return !opaque(node) && (node.operation->family == Family::view || node.operation->family == Family::gather);
    };
    if (!shows(view)) return {};
    const Node* sum = &view;
    while (shows(*sum)) sum = sum->inputs[0];
    const Node* x = summed_exponent(*sum);
    bool large = x && !hollow(x->shape, reduction_of(*sum).axes) && !shifted(*x, reduction_of(*sum).axes);
    if (!large || view.dtype != site.node.dtype) return {};
    return shown(view, log(handle(view.inputs[0])));
}

// exp(x)[i] -> exp(x[i]), even where others read exp(x) whole: so that logarithms find it.
Tensor slice_of_exponent(const Site& site) {
    const Node& raised = *site.node.inputs[0];
    if (!is(raised, exp_operation) || raised.inputs[0]->dtype != raised.dtype) return {};
    return exp(shown(site.node, handle(raised.inputs[0])));
}

// log(sum(where(here, p, 0))) -> sum(where(here, log(p), 0))
Tensor log_of_chosen(const Site& site) {
    const Node& sum = *site.node.inputs[0];
    if (!is(sum, sum_operation)) return {};
    Picked picked = picked_by_condition(sum);
    if (!picked.from || !is_softmax(*picked.from)) return {};
    Tensor logs = log(handle(const_cast<Node*>(picked.from)));
    Tensor chosen = where(handle(const_cast<Node*>(picked.condition)), logs, 0);
    return make_node(*sum.operation, {chosen}, sum.attributes, sum.where);
}

// argmax(f(x)) -> argmax(x) for f that never falls, and quotients and differences by what does not change along the axis.
Tensor argmax_below(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || from.inputs.empty() || !is_floating(from.inputs[0]->dtype)) return {};
    const Operation* op = from.operation;
    bool rises = op == &exp_operation || op == &softplus_operation || op == &sigmoid_operation ||
                 op == &tanh_operation || op == &log_sigmoid_operation;
    if (op == &divide_operation || op == &subtract_operation) {
        const Node& by = *from.inputs[1];
        std::size_t shift = from.shape.size() - by.shape.size();
        rises = from.inputs[0]->shape == from.shape && from.inputs[0]->dtype == from.dtype;
        for (std::int64_t axis : reduction_of(node).axes) {
            auto i = static_cast<std::size_t>(axis);
            rises &= i < shift || by.shape[i - shift] == Size(1);
        }
        if (op == &divide_operation) rises &= site.fact(by).nonnegative();
    }
    if (!rises) return {};
    return make_node(*node.operation, {handle(from.inputs[0])}, node.attributes, node.where);
}

}  // namespace

void add_softmax_rules(RuleList& rules) {
    auto add = [&](std::string name, const Operation& root, auto apply, std::vector<Example> examples,
                   Assumes assumes = Assumes::exact, Phase phase = Phase::stable) {
        rules.push_back(
            rule_at(std::move(name), phase, {&root}, apply, {.assumes = assumes, .examples = std::move(examples)}));
    };
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    static const Tensor labels = Tensor::of<std::int64_t>({2, 0, 3});
    auto masked_softmax = [](T x) {
        constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
        Tensor most = stop_gradient(max(x, 1, true)), raised = exp(x - where(most == minus_infinity, 0, most));
        Tensor total = sum(raised, 1, true);
        return raised / where(total == 0, 1, total);
    };
    // clang-format off
    add("logsumexp", log_operation, log_of_sum, {with([](T x) { return log(sum(exp(x))); }, {{3, 4}}), with([](T x) { return log(sum(exp(x), 1, true)); }, {{3, 4}})});
    add("softmax", divide_operation, shifted_softmax, {with([](T x) { return exp(x) / sum(exp(x), 1, true); }, {{3, 4}})});
    add("softmax_by_inverse", divide_operation, softmax_by_inverse, {with([](T x) { return softmax(x); }, {{3, 4}}), with([](T x) { return softmax(x, 0); }, {{3, 4}}), with(masked_softmax, {{3, 4}})}, Assumes::exact, Phase::special);
    add("exp_of_negative", exp_operation, exponential_of_negative, {with([](T x) { return softmax(x); }, {{3, 4}}), with(masked_softmax, {{3, 4}}), with([](T x) { return exp(-square(x)); }, {{3, 4}})}, Assumes::nothing, Phase::special);
    add("log_of_view_of_sum", log_operation, log_of_view_of_sum, {with([](T x) { return log(slice(sum(exp(x), 1), {1}, {1})) * sum(exp(x)); }, {{3, 4}})});
    add("gather_of_exponent", take_operation, slice_of_exponent, {with([](T x) { return take(exp(x), labels, 1) + sum(exp(x)); }, {{3, 4}})}, Assumes::nothing);
    add("slice_of_exponent", slice_operation, slice_of_exponent, {with([](T x) { return slice(exp(x), {1, 0}, {1, 4}) + sum(exp(x)); }, {{3, 4}})}, Assumes::nothing);
    add("log_of_picked_softmax", log_operation, log_of_picked, {with([](T x) { return log(take(softmax(x), labels, 1)); }, {{3, 4}})});
    add("log_of_chosen_softmax", log_operation, log_of_chosen, {with([](T x) { return log(sum(where(iota(4) == expand_dims(labels, 1), softmax(x), 0), 1)); }, {{3, 4}})}, Assumes::finite);
    add("argmax_of_rising", argmax_operation, argmax_below, {with([](T x) { return argmax(exp(x), 1); }, {{3, 4}}), with([](T x) { return argmax(softmax(x), 1); }, {{3, 4}})});
    // clang-format on
}

}  // namespace weft
