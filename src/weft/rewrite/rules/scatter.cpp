// Gathers and scatters: the gradient of a gather is added where it belongs instead of being spread over a large array of zeros; what is
// picked of a product is the product of what is picked.
#include "weft/ops/scatter.h"

#include <algorithm>

#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/exponentials.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/product.h"
#include "weft/rewrite/rules/rules.h"
#include "weft/rewrite/rules/spread.h"

namespace weft {
namespace {

using T = const Tensor&;

// What a gather at the scatter's places finds in x (of the scatter's shape).
Tensor found(const Node& scatter, const Tensor& x) {
    const ScatterAttributes& a = scatter.attributes_as<ScatterAttributes>();
    const Operation& gather = a.along ? take_along_axis_operation : take_operation;
    std::vector<Tensor> inputs{x};
    for (Tensor& place : places(scatter, 2)) inputs.push_back(place);
    return make_node(gather, inputs, attributes(GatherAttributes{a.axis, a.along}), scatter.where);
}

// The same of a product: the product of what its factors are there, so that what cancels there meets.
Tensor found_factors(const Site& site, const Node& scatter, const Node& value) {
    Product product(site, value, true), there(product);
    there.factors.clear();
    for (const Factor& factor : product.factors) {
        Tensor x = handle(factor.node);
        if (x.ndim() > 0) x = found(scatter, x.shape() == scatter.shape ? x : broadcast_to(x, scatter.shape));
        there.multiply(x, factor.power);
    }
    return there.build();
}

// x + scatter(0, i, u) -> scatter(x, i, u); x - scatter(0, i, u) -> scatter(x, i, -u)
Tensor add_into(const Site& site) {
    const Node& node = site.node;
    bool adds = node.operation == &add_operation;
    for (std::size_t i : {1, 0}) {
        const Node &spread = *node.inputs[i], &x = *node.inputs[1 - i];
        if (i == 0 && !adds) break;
        bool alike =
            spread.shape == node.shape && x.shape == node.shape && x.dtype == node.dtype && spread.dtype == node.dtype;
        if (alike && !number_of(x) && spreads_in_turn(site, spread))
            return added_in_turn(site.input(1 - i), spread, !adds);
    }
    return {};
}

// Whether what is added up is a product, moved or not, and is more than what it adds up to: then a sum of the product's own rows comes first
// (rules/gathered.cpp).
bool adds_up_product(const Node& spread) {
    const Node* updates = spread.inputs[1];
    while (is(*updates, permute_dims_operation) || is(*updates, reshape_operation)) updates = updates->inputs[0];
    return is(*updates, matmul_operation) && piles_up(spread);
}

// scatter(0, i, u) * v -> scatter(0, i, u * v[i]), and so for quotients and negatives. Not by a number where others read it too: it would be
// added up once for each, as for both averages of an optimizer that read an embedding's gradient.
Tensor scale_updates(const Site& site) {
    const Node& node = site.node;
    bool quotient = node.operation == &divide_operation;
    if (node.operation == &negative_operation) {
        const Node& spread = *node.inputs[0];
        bool fits = spreads(spread) && site.only_here(spread) && !adds_up_product(spread);
        return fits ? scattered(spread, handle(spread.inputs[0]), -handle(spread.inputs[1])) : Tensor();
    }
    for (std::size_t i : {0, 1}) {
        const Node& spread = *node.inputs[i];
        if (i == 1 && quotient) break;
        Tensor v = site.input(1 - i);
        bool fits =
            spreads(spread) && spread.shape == node.shape && v.dtype() == node.dtype && spread.dtype == node.dtype;
        if (!fits || spreads(*v.node())) continue;
        if (v.ndim() == 0 && (!site.only_here(spread) || adds_up_product(spread))) continue;
        v = found_factors(site, spread, *v.node());
        Tensor updates = handle(spread.inputs[1]);
        return scattered(spread, handle(spread.inputs[0]), quotient ? updates / v : updates * v);
    }
    return {};
}

// (scatter(0, i, u) + b) * v -> scatter(0, i, u * v[i]) + b * v; and if v is a number, so for zeros around something.
Tensor scale_sum(const Site& site) {
    const Node& node = site.node;
    bool quotient = node.operation == &divide_operation;
    for (std::size_t i : {0, 1}) {
        const Node& sum = *node.inputs[i];
        if (i == 1 && quotient) break;
        bool sums = (is(sum, add_operation) || is(sum, subtract_operation)) && site.only_here(sum) &&
                    sum.shape == node.shape && sum.dtype == node.dtype && node.inputs[1 - i]->dtype == node.dtype;
        bool number = node.inputs[1 - i]->shape.empty();
        auto sparse = [&](const Node& part) { return spreads(part) || (number && pads_zeros(part)); };
        if (!sums || (!sparse(*sum.inputs[0]) && !sparse(*sum.inputs[1]))) continue;
        Tensor v = site.input(1 - i), left = handle(sum.inputs[0]), right = handle(sum.inputs[1]);
        left = quotient ? left / v : left * v, right = quotient ? right / v : right * v;
        return sum.operation == &add_operation ? left + right : left - right;
    }
    return {};
}

// (x / y)[i] -> x[i] / y[i] where x is an exponential: of a softmax.
Tensor gather_of_quotient(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (!is(from, divide_operation) || !full_width(node.dtype) || !is_exponential(*from.inputs[0])) return {};
    auto picked = [&](Node* x) {
        Tensor whole = x->shape == from.shape ? handle(x) : broadcast_to(handle(x), from.shape);
        std::vector<Tensor> inputs{whole};
        for (Tensor& place : places(node, 1)) inputs.push_back(place);
        return make_node(*node.operation, inputs, node.attributes, node.where);
    };
    return picked(from.inputs[0]) / picked(from.inputs[1]);
}

// The transposition of scatter(0, i, u) -> scatter(0, i, the transposition of u), along other axes, if those of i stay neighbours. Not
// where most places get several updates: what they add up to is the lesser thing to transpose.
Tensor permutation_of_spread(const Site& site) {
    const Node &node = site.node, &spread = *node.inputs[0];
    if (!spreads(spread) || !site.only_here(spread) || piles_up(spread)) return {};
    ScatterAttributes s = spread.attributes_as<ScatterAttributes>();
    if (s.along) return {};
    auto count = static_cast<std::int64_t>(spread.inputs.size()) - 2,
         wide = static_cast<std::int64_t>(spread.inputs[2]->shape.size()), first = s.axis;
    const Axes& axes = node.attributes_as<PermuteAttributes>().axes;
    Axes of_updates;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        if (axes[k] < first || axes[k] >= first + count) {
            of_updates.push_back(axes[k] < first ? axes[k] : axes[k] - count + wide);
        } else if (axes[k] == first) {
            s.axis = static_cast<std::int64_t>(k);
            for (std::int64_t i = 0; i < wide; ++i) of_updates.push_back(first + i);
        } else if (k == 0 || axes[k - 1] != axes[k] - 1) {
            return {};
        }
    }
    Tensor updates = permute_dims(handle(spread.inputs[1]), of_updates);
    return scatter(zeros(node.shape, node.dtype), places(spread, 2), updates, s.axis, ScatterMode::add);
}

// A gather of what it was just written to: scatter(x, i, y)[i] -> y, if no place is named twice.
Tensor read_of_write(const Site& site) {
    const Node &node = site.node, &write = *node.inputs[0];
    if (!is(write, scatter_operation) || !is(node, take_operation)) return {};
    const ScatterAttributes& a = write.attributes_as<ScatterAttributes>();
    const GatherAttributes& g = node.attributes_as<GatherAttributes>();
    bool same = a.mode == ScatterMode::set && a.axis == g.axis && write.inputs.size() == 3 && node.inputs.size() == 2 &&
                write.inputs[2] == node.inputs[1] && site.fact(*node.inputs[1]).unique &&
                site.fact(*node.inputs[1]).nonnegative();
    return same ? handle(write.inputs[1]) : Tensor();
}

// scatter(scatter(0, i, u) where nothing was, by all positions in order) is u: scatter(0, iota, u) -> u
Tensor everywhere_in_order(const Site& site) {
    const Node& node = site.node;
    bool fits = spreads(node) && node.inputs.size() == 3 && is(*node.inputs[2], iota_operation) &&
                node.inputs[1]->shape == node.shape;
    return fits ? site.input(1) : Tensor();
}

}  // namespace

void add_scatter_rules(RuleList& rules) {
    auto add = adder(rules);
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    const Tensor& index = example_index();
    std::vector<const Operation*> products{&multiply_operation, &gated_multiply_operation, &divide_operation};
    std::vector<const Operation*> scaled = products;
    scaled.push_back(&negative_operation);
    // clang-format off
    add("add_into", Phase::special, {&add_operation, &subtract_operation}, add_into, {
        with([=](T x, T u) { return x - example_spread(u, {5, 3}); }, {{5, 3}, {4, 3}}), with([=](T x, T u) { return example_spread(u, {5, 3}) + x; }, {{5, 3}, {4, 3}})}, Assumes::nothing, spreading());
    rules.back().examples.push_back(
        with([=](T x, T u) { return x - (example_spread(u, {5, 3}) + scatter(zeros({5, 3}, u.dtype()), flip(index), u, 0, ScatterMode::add)); }, {{5, 3}, {4, 3}}));
    add("scale_updates", Phase::canonical, scaled, scale_updates, {
        with([=](T x, T u) { return x * example_spread(u, {5, 3}); }, {{5, 3}, {4, 3}}), with([=](T u) { return 0.1 * -example_spread(u, {5, 3}); }, {{4, 3}}),
        with([=](T x, T u) { return example_spread(u, {5, 3}) / x; }, {{3}, {4, 3}})}, Assumes::finite, spreading());
    add("scale_sum_with_updates", Phase::canonical, products, scale_sum, {
        with([=](T x, T u) { return (x - example_spread(u, {5, 3})) / 3; }, {{5, 3}, {4, 3}}),
        with([=](T x, T y, T u) { return (example_spread(u, {5, 3}) + x) * y; }, {{5, 3}, {5, 3}, {4, 3}})}, Assumes::finite, spreading_or_padding());
    add("gather_of_softmax", Phase::stable, {&take_operation, &take_along_axis_operation}, gather_of_quotient, {
        with([=](T x, T y) { return take(exp(x) / y, index, 0); }, {{5, 3}, {5, 1}})});
    add("read_of_write", Phase::canonical, {&take_operation}, read_of_write, {
        with([](T x, T y) { Tensor at = flip(iota(5)); return take(scatter(x, at, y), at); }, {{5, 2}, {5, 2}})});
    add("permutation_of_scatter", Phase::canonical, {&permute_dims_operation}, permutation_of_spread, {
        with([=](T u) { return permute_dims(scatter(zeros({2, 5, 3}, u.dtype()), index, u, 1, ScatterMode::add), {1, 2, 0}); }, {{2, 4, 3}}), with([=](T u) { return example_spread(u, {5, 3}).T(); }, {{4, 3}})});
    add("everywhere_in_order", Phase::canonical, {&scatter_operation}, everywhere_in_order, {
        with([](T u) { return scatter(zeros(u.shape(), u.dtype()), iota(4), u, 0, ScatterMode::add); }, {{4, 3}})});
    // clang-format on
}

}  // namespace weft
