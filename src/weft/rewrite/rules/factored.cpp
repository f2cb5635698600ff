// Sums of terms with factors that do not change along their axes: the factors are taken out, so that sums of the same values meet, and what
// adds up to nothing is left out. As it is written, a batch normalisation's gradient sums over its input four times: twice the same but for
// factors, once what the shift's gradient has, and once that with a multiple of what is centred.
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/statistics.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/product.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

bool multiplies(const Node& node) {
    return node.operation == &multiply_operation || node.operation == &gated_multiply_operation;
}

// Whether an operand is one and the same along all reduced axes; and then without them, as it stands beside the result.
std::optional<Tensor> constant_along(const Node& operand, const Node& sum) {
    const ReduceAttributes& a = reduction_of(sum);
    const Shape& whole = sum.inputs[0]->shape;
    std::size_t shift = whole.size() - operand.shape.size();
    Shape kept;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        Size size = i < shift ? Size(1) : operand.shape[i - shift];
        bool gone = has(a.axes, i);
        if (gone && (!(size == Size(1)) || whole[i] == Size(0))) return std::nullopt;  // over nothing the sum is 0
        if (!gone || a.keepdims) kept.push_back(size);
    }
    return reshape(handle(const_cast<Node*>(&operand)), kept);
}

/// What is summed without its factors that do not change along the axes, and these.
class Factored {
  public:
    explicit Factored(const Site& site) : site_(site), down_(goes_down(site.node)) {}

    /// Of what is summed; empty: there are no such factors.
    Tensor rest() { return below(*site_.node.inputs[0]); }
    Tensor times(Tensor sum) const {
        if (above_) sum = above_ * sum;
        return below_ ? sum / below_ : sum;
    }

  private:
    // A value that others read too is there anyway. Down columns what it was made of is read in its place, for another sum may read that.
    Tensor below(const Node& x) {
        bool there = down_ || site_.only_here(x);
        return there && looked_at_++ < static_cast<int>(most_nodes) ? rest_of(x) : Tensor();
    }

    Tensor rest_of(const Node& x) {
        if (opaque(x) || !(x.shape == site_.node.inputs[0]->shape)) return {};
        bool divides = x.operation == &divide_operation;
        for (std::size_t i : {1, 0}) {
            if (!multiplies(x) && (!divides || i == 0)) break;
            // What is summed must be as large as before: else nothing is saved. A number stays inside: there it costs nothing, outside a kernel.
            if (!(x.inputs[1 - i]->shape == x.shape) || number_of(*x.inputs[i])) continue;
            if (std::optional<Tensor> factor = constant_along(*x.inputs[i], site_.node)) {
                Tensor& all = divides ? below_ : above_;
                all = all ? all * *factor : *factor;
                Tensor rest = below(*x.inputs[1 - i]);
                return rest ? rest : in(x, 1 - i);
            }
        }
        if (!down_) return {};
        if (multiplies(x)) return with_rests(x, {0, 1});
        if (x.operation != &where_operation) return {};
        bool first = is_number(*x.inputs[2], 0), second = is_number(*x.inputs[1], 0);
        return first == second ? Tensor() : with_rests(x, {first ? 1u : 2u});
    }

    Tensor with_rests(const Node& x, std::initializer_list<std::size_t> places) {
        std::vector<Tensor> inputs;
        for (Node* input : x.inputs) inputs.push_back(handle(input));
        bool changed = false;
        for (std::size_t i : places)
            if (Tensor rest = below(*x.inputs[i])) inputs[i] = rest, changed = true;
        return changed ? make_node(*x.operation, inputs, x.attributes, x.where) : Tensor();
    }

    const Site& site_;
    bool down_;
    int looked_at_ = 0;
    Tensor above_, below_;
};

Tensor sum_like(const Node& sum, const Tensor& x) {
    const Shape& whole = sum.inputs[0]->shape;
    Tensor wide = x.shape() == whole ? x : broadcast_to(x, whole);
    return make_node(*sum.operation, {astype(wide, sum.dtype)}, sum.attributes, sum.where);
}

// sum(c * x) -> c * sum(x), sum(x / c) -> sum(x) / c, sum(where(here, c * x, 0)) -> c * sum(where(here, x, 0)) for an array c.
Tensor factor_out(const Site& site) {
    const Node& node = site.node;
    if (!full_width(node.dtype) || reduction_of(node).axes.empty()) return {};
    Factored factored(site);
    Tensor rest = factored.rest();
    return rest ? factored.times(sum_like(node, rest)) : Tensor();
}

// Whether a node is the number of values that a sum adds up.
bool is_count(const Node& node, const Node& sum) {
    Size count = 1;
    for (std::int64_t axis : reduction_of(sum).axes) count = count * sum.inputs[0]->shape[at(axis)];
    if (node.operation == &size_operation) return node.attributes_as<SizeAttributes>().size == count;
    return count.known() && is_number(node, Literal(static_cast<double>(count.value())));
}

// Whether it is x less its mean along the axes of the sum, times what does not change along them: nothing is left of its sum but rounding.
bool is_centred(const Node& x, const Node& sum, int factors = 0) {
    if (factors > static_cast<int>(most_nodes) || opaque(x) || !(x.shape == sum.inputs[0]->shape)) return false;
    if (multiplies(x))
        for (std::size_t i : {0, 1})
            if (constant_along(*x.inputs[i], sum) && is_centred(*x.inputs[1 - i], sum, factors + 1)) return true;
    // What is taken from x must be one along the axes: of a square x the mean of its rows may have been taken from its columns.
    if (x.operation != &subtract_operation || !constant_along(*x.inputs[1], sum)) return false;
    auto below_reshape = [](const Node* node) { return is(*node, reshape_operation) ? node->inputs[0] : node; };
    const Node* mean = below_reshape(x.inputs[1]);
    if (!is(*mean, divide_operation)) return false;
    const Node* total = below_reshape(mean->inputs[0]);
    return is(*total, sum_operation) && total->inputs[0] == x.inputs[0] &&
           reduction_of(*total).axes == reduction_of(sum).axes && is_count(*mean->inputs[1], *total);
}

// sum(y + c * (x - mean(x))) -> sum(y)
Tensor without_centred(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || !full_width(node.dtype) || !goes_down(node)) return {};
    bool subtracts = from.operation == &subtract_operation;
    if (!subtracts && from.operation != &add_operation) return {};
    if (is_centred(*from.inputs[1], node)) return sum_like(node, in(from, 0));
    if (!is_centred(*from.inputs[0], node)) return {};
    Tensor rest = sum_like(node, in(from, 1));
    return subtracts ? -rest : rest;
}

}  // namespace

void add_factored_rules(RuleList& rules) {
    auto add = [&](std::string name, auto apply, AtOptions options) {
        rules.push_back(rule_at(std::move(name), Phase::canonical, {&sum_operation}, apply, std::move(options)));
    };
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    // clang-format off
    add("factor_out_of_sum", factor_out, {.assumes = Assumes::finite, .examples = {
        with([](T x, T c) { return sum(x * c); }, {{3, 4}, {}}), with([](T x, T y) { return sum(x / (y * y + 1), 1); }, {{3, 4}, {3, 1}}), with([](T x, T y) { return sum(y * x, 0, true); }, {{3, 4}, {4}}),
        with([](T x, T y, T c) { return sum(x * (y * c), 0); }, {{3, 4}, {3, 4}, {4}}), with([](T x, T c) { return sum(where(x > 0, x * c, 0), {0, 2}); }, {{3, 4, 2}, {4, 1}}), with([](T x, T c, T d) { return sum(where(x > 0, 0, x / (c * c + 1) * d), 0, true); }, {{3, 4}, {4}, {1, 4}})}});
    add("sum_without_centred", without_centred, {.assumes = Assumes::finite, .examples = {
        with([](T x, T y) { return sum(y + (x - mean(x, 0)), 0); }, {{3, 4}, {3, 4}}), with([](T x, T y, T c) { return sum((x - mean(x, {0, 2}, true)) * c - y, {0, 2}); }, {{3, 4, 2}, {3, 4, 2}, {4, 1}})}});
    // clang-format on
}

}  // namespace weft
