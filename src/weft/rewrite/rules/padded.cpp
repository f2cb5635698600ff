// Zeros around something: the gradients of slices are added where they belong, and writes to slices touch nothing else.
#include <algorithm>
#include <map>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"
#include "weft/rewrite/rules/spread.h"
#include "weft/rewrite/rules/terms.h"

namespace weft {
namespace {

using T = const Tensor&;

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

/// What stands along one axis of an array that is 0 elsewhere.
struct Piece {
    std::int64_t length = 0;
    Tensor value;
};
struct Pieces {
    std::size_t axis = 0;
    std::map<std::int64_t, Piece> all;  // by where they start; none meets another
    std::int64_t covered = 0;           // by all of them
    bool padded = false;                // with zeros in front or behind

    std::int64_t begin() const { return all.begin()->first; }
    std::int64_t end() const { return all.rbegin()->first + all.rbegin()->second.length; }
    void add(std::int64_t at, std::int64_t length, const Node& value) {
        if (length == 0) return;
        all.emplace(at, Piece{length, handle(const_cast<Node*>(&value))});
        covered += length;
    }
    bool meets(std::int64_t at, std::int64_t length) const {
        auto behind = all.lower_bound(at);
        if (behind != all.end() && behind->first < at + length) return true;
        return behind != all.begin() && std::prev(behind)->first + std::prev(behind)->second.length > at;
    }
};

/// The pieces of a pad, of a concatenation that holds zeros, or of both.
std::optional<Pieces> pieces_of(const Node& node) {
    const Node* joined = &node;
    std::int64_t at = 0;
    Pieces pieces;
    if (pads_zeros(node)) {
        std::optional<std::size_t> axis = padded_axis(node);
        if (!axis) return {};
        pieces.axis = *axis, at = node.attributes_as<PadAttributes>().before[*axis].value.value();
        pieces.padded = true;
        joined = node.inputs[0];
    }
    bool several = is(*joined, concatenate_operation);
    if (several) {
        auto axis = static_cast<std::size_t>(joined->attributes_as<ConcatenateAttributes>().axis);
        if (joined != &node && axis != pieces.axis) several = false;
        if (several) pieces.axis = axis;
    }
    if (!several) {
        if (joined == &node) return {};
        pieces.add(at, joined->shape[pieces.axis].value(), *joined);
        return pieces;
    }
    for (const Node* piece : joined->inputs) {
        if (!piece->shape[pieces.axis].known()) return {};
        std::int64_t length = piece->shape[pieces.axis].value();
        if (!is_number(*piece, 0)) pieces.add(at, length, *piece);
        at += length;
    }
    return pieces;
}

// Where they are in different places of an axis, and not if that would write more zeros than twice what there is.
bool join_pieces(Pieces& a, Pieces& b, const Shape& whole) {
    if (a.axis != b.axis || !(a.padded || b.padded) || a.all.empty() || b.all.empty()) return false;
    bool a_is_less = a.all.size() < b.all.size();
    Pieces &more = a_is_less ? b : a, &less = a_is_less ? a : b;
    for (const auto& [at, piece] : less.all)
        if (more.meets(at, piece.length)) return false;
    std::int64_t begin = std::min(a.begin(), b.begin()), end = std::max(a.end(), b.end());
    std::int64_t covered = a.covered + b.covered;
    if (end - begin - covered > 2 * covered) return false;
    more.all.merge(less.all);
    if (a_is_less) a.all.swap(b.all);
    a.covered = covered;
    a.padded = begin > 0 || !(whole[a.axis] == Size(end));
    return true;
}

/// One behind the other, with zeros between them and around.
Tensor laid_out(const Pieces& pieces, const Node& whole) {
    std::int64_t at = pieces.begin();
    std::vector<Tensor> joined;
    for (const auto& [first, piece] : pieces.all) {
        Shape gap = whole.shape;
        gap[pieces.axis] = first - at;
        if (first > at) joined.push_back(zeros(gap, whole.dtype));
        joined.push_back(piece.value);
        at = first + piece.length;
    }
    Shape before(whole.shape.size(), 0), after(whole.shape.size(), 0);
    before[pieces.axis] = pieces.begin(), after[pieces.axis] = whole.shape[pieces.axis] - at;
    return pad_interior(concatenate(joined, static_cast<std::int64_t>(pieces.axis)), before, after,
                        Dims(whole.shape.size(), 0));
}

// (zeros around x) + (zeros around y), in different places of an axis -> x and y one behind the other: what the gradients of an array's
// parts (gates, steps of a sequence) are added up to.
Tensor add_pieces(const Site& site) {
    const Node& node = site.node;
    auto may = [](const Node& x) { return pads_zeros(x) || is(x, concatenate_operation); };
    if (!may_join_terms(node, may)) return {};
    auto of_term = [&](const Node& x) -> std::optional<Pieces> {
        if (!(x.shape == node.shape) || x.dtype != node.dtype || !site.only_here(x)) return {};
        return pieces_of(x);
    };
    auto join = [&](Pieces& a, Pieces& b) { return join_pieces(a, b, node.shape); };
    auto build = [&](const Pieces& all) { return laid_out(all, node); };
    return TermsOfSum<decltype(of_term), decltype(join), decltype(build), true>(site, of_term, join, build).joined();
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

}  // namespace

void add_padded_rules(RuleList& rules) {
    auto add = adder(rules);
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    std::vector<const Operation*> scaled{&multiply_operation, &gated_multiply_operation, &divide_operation,
                                         &negative_operation};
    // clang-format off
    add("add_padded_into", Phase::special, {&add_operation, &subtract_operation}, add_padded_into, {
        with([=](T x, T y) { return x - pad(y, {2, 0}, {1, 0}); }, {{5, 3}, {2, 3}}), with([=](T x, T y) { return x + pad(y, {1, 2}, {3, 1}); }, {{5, 5}, {1, 2}}),
        with([=](T x, T y) { return x - (pad(y, {0, 1}, {4, 0}) - pad_interior(y, {1, 1}, {3, 0}, {0, 0})); }, {{5, 3}, {1, 2}})}, Assumes::nothing, spreading_or_padding());
    add("add_pieces", Phase::canonical, {&add_operation}, add_pieces, {
        with([](T x, T y) { return pad(x, {0, 0}, {0, 3}) + pad(y, {0, 4}, {0, 0}); }, {{3, 4}, {3, 3}}), with([](T x, T y) { return pad(x, {3}, {3}) + (pad(y, {1}, {6}) + pad(x, {5}, {1})); }, {{2}, {1}}),
        with([](T x, T y) { return pad(x, {6, 0}, {1, 0}) + pad(y, {2, 0}, {4, 0}); }, {{1, 2}, {2, 2}}),
        with([](T x, T y) { return pad(x, {0}, {2}) + (pad(y, {1}, {2}) + pad(y, {0}, {3})); }, {{2}, {1}}), with([](T x, T y) { return exp(x) + pad(y, {0}, {2}) + pad(exp(y), {1}, {1}) + pad(y, {2}, {0}); }, {{3}, {1}})}, Assumes::nothing, {&pad_operation});
    add("set_within", Phase::special, {&where_operation}, set_within, {
        with([](T x, T y) { return x.at({slice(1, 2)}).set(y); }, {{5, 3}, {1, 3}}), with([](T x, T y) { return x.at({slice(0, 5, 2), 1}).set(y); }, {{5, 4}, {3}})});
    add("pad_of_scatter", Phase::canonical, {&pad_operation}, pad_of_spread, {
        with([=](T u) { return pad(example_spread(u, {5, 3}), {0, 1}, {0, 2}); }, {{4, 3}}), with([=](T u) { return 2 * pad_interior(example_spread(u, {5, 3}), {0, 1}, {0, 2}, {0, 2}); }, {{4, 3}})});
    add("scale_padded", Phase::canonical, scaled, scale_padded, {
        with([](T x) { return 3 * pad(x, {1, 0}, {0, 2}); }, {{2, 3}}), with([](T x) { return -pad(x, {1}, {1}) / 4; }, {{3}})}, Assumes::finite, {&pad_operation});
    // clang-format on
}

}  // namespace weft
