#include "weft/rewrite/rules/spread.h"

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/rewrite/number.h"

namespace weft {

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

Tensor scattered(const Node& like, const Tensor& x, const Tensor& updates) {
    std::vector<Tensor> inputs{x, updates};
    for (Tensor& place : places(like, 2)) inputs.push_back(place);
    return make_node(*like.operation, inputs, like.attributes, like.where);
}

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

bool more_picked(const Size& places, const Shape& indices) {
    if (!places.known() || !known(indices)) return false;
    double count = 1;
    for (const Size& size : indices) count *= static_cast<double>(size.value());
    return count >= 2 * static_cast<double>(places.value());
}

bool piles_up(const Node& scatter) {
    const ScatterAttributes& a = scatter.attributes_as<ScatterAttributes>();
    const Shape& indices = scatter.inputs[2]->shape;
    if (a.along) return more_picked(scatter.shape[at(a.axis)], {indices[at(a.axis)]});
    Size indexed = 1;
    for (std::size_t axis = at(a.axis); axis < at(a.axis) + scatter.inputs.size() - 2; ++axis)
        indexed = indexed * scatter.shape[axis];
    return more_picked(indexed, indices);
}

std::vector<const Operation*> spreading() { return {&scatter_operation, &put_along_axis_operation}; }
std::vector<const Operation*> spreading_or_padding() {
    std::vector<const Operation*> all = spreading();
    all.push_back(&pad_operation);
    return all;
}

const Tensor& example_index() {
    static const Tensor index = Tensor::of<std::int64_t>({2, 0, 2, -1});
    return index;
}

Tensor example_spread(const Tensor& u, const Shape& shape) {
    return scatter(zeros(shape, u.dtype()), example_index(), u, 0, ScatterMode::add);
}

bool pads_zeros(const Node& node) {
    return is(node, pad_operation) && node.attributes_as<PadAttributes>().value.as<double>() == 0;
}

std::optional<std::size_t> padded_axis(const Node& padded) {
    const PadAttributes& a = padded.attributes_as<PadAttributes>();
    const Shape& inside = padded.inputs[0]->shape;
    std::optional<std::size_t> found;
    for (std::size_t k = 0; k < inside.size(); ++k) {
        if (a.between[k] != 0) return {};
        if (inside[k] == padded.shape[k]) continue;
        if (found || !inside[k].known() || !padded.shape[k].known() || !a.before[k].value.known()) return {};
        found = k;
    }
    return found;
}

}  // namespace weft
