// Gathers and scatters: the gradient of a gather is added where it belongs instead of being spread over a large array of zeros; what is
// picked of a product is the product of what is picked.
#include "weft/ops/scatter.h"

#include <algorithm>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/product.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

// A scatter that adds to zeros: what a gather's gradient is.
bool spreads(const Node& node) {
    bool scatter = is(node, scatter_operation) || is(node, put_along_axis_operation);
    return scatter && node.attributes_as<ScatterAttributes>().mode == ScatterMode::add && full_width(node.dtype) &&
           is_number(*node.inputs[0], 0);
}

std::vector<Tensor> places(const Node& node, std::size_t first) {
    std::vector<Tensor> result;
    for (std::size_t i = first; i < node.inputs.size(); ++i) result.push_back(handle(node.inputs[i]));
    return result;
}

// The scatter of other updates, into x.
Tensor scattered(const Node& like, const Tensor& x, const Tensor& updates) {
    std::vector<Tensor> inputs{x, updates};
    for (Tensor& place : places(like, 2)) inputs.push_back(place);
    return make_node(*like.operation, inputs, like.attributes, like.where);
}

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

// Zeros to which scatters add, one after the other.
bool spreads_in_turn(const Site& site, const Node& node) {
    const Node* at = &node;
    while (!opaque(*at) && at->operation->family == Family::scatter &&
           at->inputs[0]->operation->family == Family::scatter) {
        bool adds = at->attributes_as<ScatterAttributes>().mode == ScatterMode::add;
        if (!adds || !site.only_here(*at)) return false;
        at = at->inputs[0];
    }
    return spreads(*at) && site.only_here(*at);
}

// The same scatters, into x, of updates with this sign.
Tensor added_in_turn(const Tensor& x, const Node& node, bool minus) {
    std::vector<const Node*> turns;
    for (const Node* at = &node; !opaque(*at) && at->operation->family == Family::scatter; at = at->inputs[0])
        turns.push_back(at);
    Tensor result = x;
    for (; !turns.empty(); turns.pop_back()) {
        Tensor updates = handle(turns.back()->inputs[1]);
        result = scattered(*turns.back(), result, minus ? -updates : updates);
    }
    return result;
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

bool pads_zeros(const Node& node) {
    return is(node, pad_operation) && node.attributes_as<PadAttributes>().value.as<double>() == 0;
}

// Zeros around scatter(0, i, u), along other axes than those of i -> scatter(0, i, zeros around u)
Tensor pad_of_spread(const Site& site) {
    const Node &node = site.node, &spread = *node.inputs[0];
    if (!pads_zeros(node) || !spreads(spread) || !site.only_here(spread)) return {};
    const ScatterAttributes& s = spread.attributes_as<ScatterAttributes>();
    const PadAttributes& a = node.attributes_as<PadAttributes>();
    std::size_t axis = static_cast<std::size_t>(s.axis), end = axis + spread.inputs.size() - 2;
    std::size_t wide = spread.inputs[2]->shape.size();
    if (s.along) return {};
    Shape before, after;
    Dims between;
    auto keep = [&](Size low, Size high, std::int64_t gaps) {
        before.push_back(low), after.push_back(high), between.push_back(gaps);
    };
    for (std::size_t k = 0; k < node.shape.size(); ++k) {
        Size inside = spread.shape[k], low = a.before[k].value;
        bool picked = k >= axis && k < end;
        if (picked && !(inside == node.shape[k])) return {};
        if (k == axis)
            for (std::size_t i = 0; i < wide; ++i) keep(0, 0, 0);
        if (picked) continue;
        Size covered = inside == Size(0) ? Size(0) : (inside - 1) * (a.between[k] + 1) + 1;
        keep(low, node.shape[k] - low - covered, a.between[k]);
    }
    Tensor updates = pad_interior(handle(spread.inputs[1]), before, after, between);
    return scattered(spread, zeros(node.shape, node.dtype), updates);
}

// c * (zeros around x) -> zeros around c * x
Tensor scale_padded(const Site& site) {
    const Node& node = site.node;
    std::size_t i = is(*node.inputs[0], pad_operation) ? 0 : node.inputs.size() - 1;
    const Node& padded = *node.inputs[i];
    bool fits = pads_zeros(padded) && (i == 0 || node.operation != &divide_operation) && full_width(node.dtype) &&
                padded.dtype == node.dtype;
    if (!fits || !site.only_here(padded)) return {};
    std::vector<Tensor> inputs;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (k != i && (!node.inputs[k]->shape.empty() || node.inputs[k]->dtype != node.dtype)) return {};
        inputs.push_back(handle(k == i ? padded.inputs[0] : node.inputs[k]));
    }
    return make_node(*padded.operation, {make_node(*node.operation, inputs, node.attributes, node.where)},
                     padded.attributes, padded.where);
}

// A scatter into x of what a pad put numbers around, to where it stands. Nothing if that is more than half of x: then changing all of
// it is faster.
Tensor scattered_within(const Tensor& x, const Node& padded, const Tensor& updates, ScatterMode mode) {
    const PadAttributes& a = padded.attributes_as<PadAttributes>();
    const Shape& inside = padded.inputs[0]->shape;
    std::size_t first = 0, end = inside.size();
    while (first < end && inside[first] == padded.shape[first]) ++first;
    while (end > first && inside[end - 1] == padded.shape[end - 1]) --end;
    bool large = known(inside) && known(padded.shape) &&
                 2.0 * static_cast<double>(element_count(dims_of(inside))) >
                     static_cast<double>(element_count(dims_of(padded.shape)));
    if (first == end || large) return {};
    std::vector<Tensor> places;
    for (std::size_t k = first; k < end; ++k) {
        Tensor at = iota(inside[k]);
        if (a.between[k] != 0) at = at * (a.between[k] + 1);
        Shape along(end - first, 1);
        along[k - first] = inside[k];
        places.push_back(reshape(at + size_as_tensor(a.before[k].value, DType::int64), along));
    }
    return scatter(x, places, updates, static_cast<std::int64_t>(first), mode);
}

Tensor added_within(const Tensor& x, const Node& padded, bool minus) {
    Tensor updates = handle(padded.inputs[0]);
    return scattered_within(x, padded, minus ? -updates : updates, ScatterMode::add);
}

// where(a box, y in the box, x) -> y set there: x.at(slice).set(y), which touches the box alone where it may write over x.
Tensor set_within(const Site& site) {
    const Node &node = site.node, &box = *node.inputs[0], &laid = *node.inputs[1], &x = *node.inputs[2];
    bool fits = pads_zeros(box) && is(laid, pad_operation) && x.shape == node.shape && x.dtype == node.dtype &&
                laid.dtype == node.dtype && laid.shape == node.shape && box.shape == node.shape &&
                is_number(*box.inputs[0], 1) && box.inputs[0]->shape == laid.inputs[0]->shape;
    if (!fits) return {};
    const PadAttributes &a = box.attributes_as<PadAttributes>(), &b = laid.attributes_as<PadAttributes>();
    bool same = a.between == b.between;
    for (std::size_t k = 0; k < node.shape.size(); ++k) same = same && a.before[k].value == b.before[k].value;
    return same ? scattered_within(site.input(2), laid, handle(laid.inputs[0]), ScatterMode::set) : Tensor();
}

// x with the parts of a sum added one by one, each where it belongs; nothing if one of them has numbers everywhere.
Tensor added_parts(const Site& site, Tensor x, const Node& sum, bool minus) {
    constexpr std::size_t most = 64;
    std::vector<std::pair<const Node*, bool>> parts{{&sum, minus}};
    for (std::size_t taken = 0; !parts.empty() && x; ++taken) {
        auto [part, less] = parts.back();
        parts.pop_back();
        bool fits = taken < most && site.only_here(*part) && part->shape == sum.shape && part->dtype == sum.dtype;
        if (!fits) return {};
        bool subtracts = is(*part, subtract_operation);
        if (subtracts || is(*part, add_operation)) {
            parts.emplace_back(part->inputs[1], less != subtracts);
            parts.emplace_back(part->inputs[0], less);
        } else if (is(*part, negative_operation)) {
            parts.emplace_back(part->inputs[0], !less);
        } else if (pads_zeros(*part)) {
            x = added_within(x, *part, less);
        } else if (spreads_in_turn(site, *part)) {
            x = added_in_turn(x, *part, less);
        } else {
            return {};
        }
    }
    return x;
}

// x + (zeros around y) where x is a leaf or scatters: y is added where it belongs; and so for sums of these and of scatters.
Tensor add_padded_into(const Site& site) {
    const Node& node = site.node;
    bool adds = node.operation == &add_operation;
    for (std::size_t i : {1, 0}) {
        const Node &padded = *node.inputs[i], &x = *node.inputs[1 - i];
        if (i == 0 && !adds) break;
        bool fits = padded.shape == node.shape && x.shape == node.shape && x.dtype == node.dtype &&
                    padded.dtype == node.dtype && full_width(node.dtype) &&
                    (opaque(x) || x.operation->family == Family::scatter) && !spreads_in_turn(site, padded);
        if (!fits) continue;
        if (Tensor sum = added_parts(site, site.input(1 - i), padded, !adds)) return sum;
    }
    return {};
}

// scatter(0, i, u) * v -> scatter(0, i, u * v[i]), and so for quotients and negatives.
Tensor scale_updates(const Site& site) {
    const Node& node = site.node;
    bool quotient = node.operation == &divide_operation;
    if (node.operation == &negative_operation) {
        const Node& spread = *node.inputs[0];
        bool fits = spreads(spread) && site.only_here(spread);
        return fits ? scattered(spread, handle(spread.inputs[0]), -handle(spread.inputs[1])) : Tensor();
    }
    for (std::size_t i : {0, 1}) {
        const Node& spread = *node.inputs[i];
        if (i == 1 && quotient) break;
        Tensor v = site.input(1 - i);
        bool fits =
            spreads(spread) && spread.shape == node.shape && v.dtype() == node.dtype && spread.dtype == node.dtype;
        if (!fits || spreads(*v.node())) continue;
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
    if (!is(from, divide_operation) || !full_width(node.dtype) || !is(*from.inputs[0], exp_operation)) return {};
    auto picked = [&](Node* x) {
        Tensor whole = x->shape == from.shape ? handle(x) : broadcast_to(handle(x), from.shape);
        std::vector<Tensor> inputs{whole};
        for (Tensor& place : places(node, 1)) inputs.push_back(place);
        return make_node(*node.operation, inputs, node.attributes, node.where);
    };
    return picked(from.inputs[0]) / picked(from.inputs[1]);
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
    auto add = [&](std::string name, Phase phase, std::vector<const Operation*> roots, auto apply,
                   std::vector<Example> examples, Assumes assumes = Assumes::nothing) {
        rules.push_back(rule_at(std::move(name), phase, std::move(roots), apply,
                                {.assumes = assumes, .examples = std::move(examples)}));
    };
    auto with = [](auto f, std::vector<Shape> shapes) {
        return example(f, std::move(shapes), {DType::float32, DType::float64});
    };
    static const Tensor index = Tensor::of<std::int64_t>({2, 0, 2, -1});
    auto spread = [](T u, const Shape& shape) {
        return scatter(zeros(shape, u.dtype()), index, u, 0, ScatterMode::add);
    };
    std::vector<const Operation*> products{&multiply_operation, &gated_multiply_operation, &divide_operation};
    std::vector<const Operation*> scaled = products;
    scaled.push_back(&negative_operation);
    // clang-format off
    add("add_padded_into", Phase::special, {&add_operation, &subtract_operation}, add_padded_into, {
        with([=](T x, T y) { return x - pad(y, {2, 0}, {1, 0}); }, {{5, 3}, {2, 3}}), with([=](T x, T y) { return x + pad(y, {1, 2}, {3, 1}); }, {{5, 5}, {1, 2}}),
        with([=](T x, T y) { return x - (pad(y, {0, 1}, {4, 0}) - pad_interior(y, {1, 1}, {3, 0}, {0, 0})); }, {{5, 3}, {1, 2}})});
    add("set_within", Phase::special, {&where_operation}, set_within, {
        with([](T x, T y) { return x.at({slice(1, 2)}).set(y); }, {{5, 3}, {1, 3}}), with([](T x, T y) { return x.at({slice(0, 5, 2), 1}).set(y); }, {{5, 4}, {3}})});
    add("pad_of_scatter", Phase::canonical, {&pad_operation}, pad_of_spread, {
        with([=](T u) { return pad(spread(u, {5, 3}), {0, 1}, {0, 2}); }, {{4, 3}}), with([=](T u) { return 2 * pad_interior(spread(u, {5, 3}), {0, 1}, {0, 2}, {0, 2}); }, {{4, 3}})});
    add("scale_padded", Phase::canonical, scaled, scale_padded, {
        with([](T x) { return 3 * pad(x, {1, 0}, {0, 2}); }, {{2, 3}}), with([](T x) { return -pad(x, {1}, {1}) / 4; }, {{3}})}, Assumes::finite);
    add("add_into", Phase::special, {&add_operation, &subtract_operation}, add_into, {
        with([=](T x, T u) { return x - spread(u, {5, 3}); }, {{5, 3}, {4, 3}}), with([=](T x, T u) { return spread(u, {5, 3}) + x; }, {{5, 3}, {4, 3}})});
    rules.back().examples.push_back(
        with([=](T x, T u) { return x - (spread(u, {5, 3}) + scatter(zeros({5, 3}, u.dtype()), flip(index), u, 0, ScatterMode::add)); }, {{5, 3}, {4, 3}}));
    add("scale_updates", Phase::canonical, scaled, scale_updates, {
        with([=](T x, T u) { return x * spread(u, {5, 3}); }, {{5, 3}, {4, 3}}), with([=](T u) { return 0.1 * -spread(u, {5, 3}); }, {{4, 3}}),
        with([=](T x, T u) { return spread(u, {5, 3}) / x; }, {{3}, {4, 3}})}, Assumes::finite);
    add("scale_sum_with_updates", Phase::canonical, products, scale_sum, {
        with([=](T x, T u) { return (x - spread(u, {5, 3})) / 3; }, {{5, 3}, {4, 3}}),
        with([=](T x, T y, T u) { return (spread(u, {5, 3}) + x) * y; }, {{5, 3}, {5, 3}, {4, 3}})}, Assumes::finite);
    add("gather_of_softmax", Phase::stable, {&take_operation, &take_along_axis_operation}, gather_of_quotient, {
        with([=](T x, T y) { return take(exp(x) / y, index, 0); }, {{5, 3}, {5, 1}})});
    add("read_of_write", Phase::canonical, {&take_operation}, read_of_write, {
        with([](T x, T y) { Tensor at = flip(iota(5)); return take(scatter(x, at, y), at); }, {{5, 2}, {5, 2}})});
    add("everywhere_in_order", Phase::canonical, {&scatter_operation}, everywhere_in_order, {
        with([](T u) { return scatter(zeros(u.shape(), u.dtype()), iota(4), u, 0, ScatterMode::add); }, {{4, 3}})});
    // clang-format on
}

}  // namespace weft
