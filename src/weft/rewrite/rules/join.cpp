// Joined pieces: joins of joins, slices of joins, and joins of what lies in memory as the pieces of another join do.
#include "weft/ops/join.h"

#include <algorithm>

#include "weft/ops/creation.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"
#include "weft/rewrite/rules/terms.h"

namespace weft {
namespace {

using T = const Tensor&;

// A slice of joined pieces that lies in one of them, or covers several whole.
Tensor slice_of_pieces(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (!is(from, concatenate_operation)) return {};
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    std::size_t axis = at(from.attributes_as<ConcatenateAttributes>().axis);
    Size first = a.start[axis].value, length = a.length[axis];
    if (!known(from.shape) || !known(a.length) || !first.known() || length == Size(0)) return {};
    std::int64_t start = first.value(), last = start + (length.value() - 1) * a.step[axis], offset = 0;
    std::size_t i = 0;
    for (; i < from.inputs.size(); ++i) {
        std::int64_t size = from.inputs[i]->shape[axis].value();
        if (start < offset + size) break;
        offset += size;
    }
    // The pieces that the slice meets.
    std::vector<Tensor> met;
    std::int64_t end = offset;
    for (; i < from.inputs.size() && end <= last; ++i) {
        met.push_back(in(from, i));
        end += from.inputs[i]->shape[axis].value();
    }
    if (met.size() == from.inputs.size()) return {};
    Shape begin = starts_of(a);
    begin[axis] = start - offset;
    return slice(concatenate(met, static_cast<std::int64_t>(axis), from.where), begin, a.length, a.step);
}

// A slice across pieces that lie side by side: [x y][i] -> [x[i] y[i]], where nobody else reads the whole.
Tensor slice_across_pieces(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (!is(from, concatenate_operation) || !site.only_here(from)) return {};
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    std::int64_t axis = from.attributes_as<ConcatenateAttributes>().axis;
    if (!(a.length[at(axis)] == from.shape[at(axis)]) || a.step[at(axis)] != 1) return {};
    std::vector<Tensor> parts;
    for (Node* piece : from.inputs) {
        Shape length = a.length;
        length[at(axis)] = piece->shape[at(axis)];
        parts.push_back(slice(handle(piece), starts_of(a), length, a.step));
    }
    return concatenate(parts, axis, from.where);
}

bool joins_along(const Node& node, std::size_t axis) {
    return is(node, concatenate_operation) && at(node.attributes_as<ConcatenateAttributes>().axis) == axis;
}

/// The pieces of a join that have elements, and those of the joins among them.
struct OpenedJoin {
    std::vector<Tensor> pieces;
    bool changed = false;

    OpenedJoin(const Site& site, std::size_t axis) {
        std::vector<Node*> open;
        auto put = [&](const Node& join) {
            open.insert(open.end(), std::make_reverse_iterator(join.inputs.end()),
                        std::make_reverse_iterator(join.inputs.begin()));
        };
        put(site.node);
        while (!open.empty()) {
            Node* piece = open.back();
            open.pop_back();
            if (piece->shape[axis] == Size(0)) {
                changed = true;
            } else if (joins_along(*piece, axis) && site.only_here(*piece)) {
                put(*piece);
                changed = true;
            } else {
                pieces.push_back(handle(piece));
            }
        }
    }
};

const SliceAttributes* unit_slice(const Tensor& x) {
    if (!is(*x.node(), slice_operation)) return nullptr;
    const SliceAttributes& a = x.node()->attributes_as<SliceAttributes>();
    return std::all_of(a.step.begin(), a.step.end(), [](std::int64_t s) { return s == 1; }) ? &a : nullptr;
}

// Whether `next` shows what follows along the axis on `length` elements from where `first` starts.
bool follows(const Tensor& first, const Size& length, const Tensor& next, std::size_t axis) {
    const SliceAttributes *a = unit_slice(first), *b = unit_slice(next);
    if (!a || !b || first.node()->inputs[0] != next.node()->inputs[0]) return false;
    for (std::size_t k = 0; k < a->step.size(); ++k) {
        Size start = k == axis ? a->start[k].value + length : a->start[k].value;
        if (!(start == b->start[k].value) || (k != axis && !(a->length[k] == b->length[k]))) return false;
    }
    return true;
}

// concatenate: pieces without elements dropped, joins of joins made one, neighbouring slices of one value made one.
Tensor plain_concatenate(const Site& site) {
    const Node& node = site.node;
    std::size_t axis = at(node.attributes_as<ConcatenateAttributes>().axis);
    if (waits_for_reader(site, node, [&](const Node& reader) { return joins_along(reader, axis); })) return {};
    auto [pieces, changed] = OpenedJoin(site, axis);
    std::vector<Tensor> joined;
    for (std::size_t i = 0, end; i < pieces.size(); i = end) {
        Size length = pieces[i].shape()[axis];
        for (end = i + 1; end < pieces.size() && follows(pieces[i], length, pieces[end], axis); ++end)
            length = length + pieces[end].shape()[axis];
        if (end == i + 1) {
            joined.push_back(pieces[i]);
            continue;
        }
        const SliceAttributes& a = *unit_slice(pieces[i]);
        Shape lengths = a.length;
        lengths[axis] = length;
        joined.push_back(slice(in(*pieces[i].node()), starts_of(a), lengths, a.step));
        changed = true;
    }
    if (!changed) return {};
    if (joined.empty()) return full(node.shape, 0, node.dtype);
    return concatenate(joined, static_cast<std::int64_t>(axis), node.where);
}

// Pieces along the first axis lie one behind the other in memory, whatever their shapes: concatenate(reshape(x), reshape(y)) ->
// reshape(concatenate(x, y)). So a stack of rows and a join of the same rows are one.
Tensor concatenate_of_reshapes(const Site& site) {
    const Node& node = site.node;
    if (node.attributes_as<ConcatenateAttributes>().axis != 0) return {};
    Shape rest;
    std::vector<Tensor> pieces;
    for (const Node* input : node.inputs) {
        if (!is(*input, reshape_operation) || input->inputs[0]->shape.empty()) return {};
        const Shape& shape = input->inputs[0]->shape;
        Shape behind(shape.begin() + 1, shape.end());
        if (!pieces.empty() && !(behind == rest)) return {};
        rest = behind;
        pieces.push_back(in(*input));
    }
    return reshape(concatenate(pieces, 0, node.where), node.shape);
}

}  // namespace

void add_join_rules(RuleList& rules) {
    auto add = [&](std::string name, Phase phase, const Operation& root, auto apply, std::vector<Example> examples) {
        rules.push_back(rule_at(std::move(name), phase, {&root}, apply, {.examples = std::move(examples)}));
    };
    auto with = [](auto f, std::vector<Shape> shapes) { return example(f, std::move(shapes)); };
    // clang-format off
    add("slice_of_pieces", Phase::canonical, slice_operation, slice_of_pieces, {
        with([](T a, T b, T c) { return slice(concatenate({a, b, c}), {3}, {2}); }, {{2}, {4}, {3}}), with([](T a, T b, T c) { return slice(stack({a, b, c}), {1, 0}, {1, 2}); }, {{2}, {2}, {2}}),
        with([](T a, T b, T c) { return slice(concatenate({a, b, c}), {1}, {4}); }, {{2}, {4}, {3}})});
    add("slice_across_pieces", Phase::canonical, slice_operation, slice_across_pieces, {
        with([](T a, T b) { return slice(concatenate({a, b}, 1), {1, 0}, {2, 5}, {2, 1}); }, {{4, 2}, {4, 3}}), with([](T a, T b) { return slice(stack({a, b}, 1), {0, 0, 1}, {2, 2, 3}); }, {{2, 4}, {2, 4}})});
    add("concatenate", Phase::canonical, concatenate_operation, plain_concatenate, {
        with([](T a, T b) { return concatenate({concatenate({a, b}), a}); }, {{2}, {3}}), with([](T a, T b) { return concatenate({a, b}); }, {{0, 2}, {3, 2}}),
        with([](T x) { return concatenate({slice(x, {0, 0}, {1, 4}), slice(x, {1, 0}, {2, 4})}); }, {{3, 4}})});
    add("concatenate_of_reshapes", Phase::special, concatenate_operation, concatenate_of_reshapes, {
        with([](T a, T b) { return stack({a, b}); }, {{3, 4}, {3, 4}}), with([](T a, T b) { return concatenate({reshape(a, {2, 2, 3}), reshape(b, {1, 2, 3})}); }, {{4, 3}, {2, 3}})});
    // clang-format on
}

}  // namespace weft
