// Views of views, views that show everything, and views moved towards the leaves where less is computed for it: a slice of an
// elementwise result computes only the slice.
#include "weft/ops/view.h"

#include <algorithm>

#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

// reshape: of a reshape, to the same shape.
Tensor plain_reshape(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (from.shape == site.node.shape) return site.input();
    if (!is(from, reshape_operation)) return {};
    return reshape(in(from), site.node.shape);
}

Tensor plain_permutation(const Site& site) {
    const Axes& axes = site.node.attributes_as<PermuteAttributes>().axes;
    const Node& from = *site.node.inputs[0];
    if (axes == all_axes(axes.size())) return site.input();
    if (is(from, permute_dims_operation)) {
        const Axes& first = from.attributes_as<PermuteAttributes>().axes;
        Axes both;
        for (std::int64_t axis : axes) both.push_back(first[at(axis)]);
        return permute_dims(in(from), both);
    }
    // Only axes of size one change places: the numbers lie in the same order.
    Axes proper;
    for (std::int64_t axis : axes)
        if (!(from.shape[at(axis)] == Size(1))) proper.push_back(axis);
    return std::is_sorted(proper.begin(), proper.end()) ? reshape(site.input(), site.node.shape) : Tensor();
}

Tensor plain_broadcast(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (from.shape == site.node.shape) return site.input();
    return is(from, broadcast_to_operation) ? broadcast_to(in(from), site.node.shape) : Tensor();
}

Tensor plain_flip(const Site& site) {
    const Axes& axes = site.node.attributes_as<PermuteAttributes>().axes;
    const Node& from = *site.node.inputs[0];
    Axes left;  // axes that turn something
    for (std::int64_t axis : axes)
        if (!(from.shape[at(axis)] == Size(1))) left.push_back(axis);
    if (left.empty()) return site.input();
    if (is(from, flip_operation)) {
        for (std::int64_t axis : from.attributes_as<PermuteAttributes>().axes) {
            auto found = std::find(left.begin(), left.end(), axis);
            if (found == left.end())
                left.push_back(axis);
            else
                left.erase(static_cast<std::size_t>(found - left.begin()));
        }
        std::sort(left.begin(), left.end());
        return left.empty() ? in(from) : flip(in(from), left);
    }
    return left.size() < axes.size() ? flip(site.input(), left) : Tensor();
}

Tensor plain_slice(const Site& site) {
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    const Node& from = *site.node.inputs[0];
    if (a.length == from.shape) return site.input();  // all of it; whatever the steps, there is no other way
    if (!is(from, slice_operation)) return {};
    const SliceAttributes& first = from.attributes_as<SliceAttributes>();
    Shape start;
    Dims step;
    for (std::size_t i = 0; i < a.step.size(); ++i) {
        start.push_back(first.start[i].value + a.start[i].value * first.step[i]);
        step.push_back(first.step[i] * a.step[i]);
    }
    return slice(in(from), start, a.length, step);
}

// The part of an operand, broadcast against the result, that a slice of the result asks for.
Tensor part_of(const Tensor& operand, const SliceAttributes& a, const Shape& whole) {
    std::size_t shift = whole.size() - operand.ndim();
    Shape start, length;
    Dims step;
    for (std::size_t i = 0; i < operand.ndim(); ++i) {
        bool repeats = operand.shape()[i] == Size(1) && !(whole[i + shift] == Size(1));
        start.push_back(repeats ? Size(0) : a.start[i + shift].value);
        length.push_back(repeats ? Size(1) : a.length[i + shift]);
        step.push_back(repeats ? 1 : a.step[i + shift]);
    }
    return length == operand.shape() ? operand : slice(operand, start, length, step);
}

bool hollow(const Shape& shape) { return std::find(shape.begin(), shape.end(), Size(0)) != shape.end(); }

// f(x, y)[i] -> f(x[i], y[i]), where nobody else reads the whole.
Tensor slice_of_elementwise(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (opaque(from) || from.operation->family != Family::elementwise || !site.only_here(from)) return {};
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    if (hollow(a.length)) return {};
    std::vector<Tensor> inputs;
    for (Node* input : from.inputs) inputs.push_back(part_of(handle(input), a, from.shape));
    return make_node(*from.operation, inputs, from.attributes, from.where);
}

// x.T[i] -> x[i].T; flip(x)[i] -> flip(x[n - 1 - i]); (x broadcast)[i] -> x[i] broadcast; sum(x, 1)[i] -> sum(x[i], 1).
Tensor slice_of_view(const Site& site) {
    const Node& from = *site.node.inputs[0];
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    if (opaque(from) || hollow(a.length)) return {};
    if (from.operation == &permute_dims_operation) {
        const Axes& axes = from.attributes_as<PermuteAttributes>().axes;
        Shape start(axes.size(), 0), length(axes.size(), 0);
        Dims step(axes.size(), 1);
        for (std::size_t i = 0; i < axes.size(); ++i) {
            start[at(axes[i])] = a.start[i].value;
            length[at(axes[i])] = a.length[i];
            step[at(axes[i])] = a.step[i];
        }
        return permute_dims(slice(in(from), start, length, step), axes);
    }
    if (from.operation == &broadcast_to_operation) return broadcast_to(part_of(in(from), a, from.shape), a.length);
    if (from.operation == &flip_operation) {
        Shape start = starts_of(a);
        Axes axes = from.attributes_as<PermuteAttributes>().axes;
        for (std::int64_t axis : axes)
            start[at(axis)] = from.shape[at(axis)] - 1 - start[at(axis)] - (a.length[at(axis)] - 1) * a.step[at(axis)];
        return flip(slice(in(from), start, a.length, a.step), axes);
    }
    if (from.operation->family != Family::reduce || !site.only_here(from)) return {};
    const ReduceAttributes& r = from.attributes_as<ReduceAttributes>();
    const Shape& whole = from.inputs[0]->shape;
    Shape start, length;
    Dims step;
    for (std::size_t i = 0, k = 0; i < whole.size(); ++i) {
        bool gone = std::find(r.axes.begin(), r.axes.end(), static_cast<std::int64_t>(i)) != r.axes.end();
        start.push_back(gone ? Size(0) : a.start[k].value);
        length.push_back(gone ? whole[i] : a.length[k]);
        step.push_back(gone ? 1 : a.step[k]);
        k += !gone || r.keepdims;
    }
    return make_node(*from.operation, {slice(in(from), start, length, step)}, from.attributes, from.where);
}

// reshape(x)[i] -> reshape(x[i]), along axes that x has, too: as long, and as many elements before them.
Tensor slice_of_reshape(const Site& site) {
    const Node& from = *site.node.inputs[0];
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    if (!is(from, reshape_operation) || !known(from.shape) || !known(from.inputs[0]->shape) || hollow(a.length))
        return {};
    Dims to = dims_of(from.shape), whole = dims_of(from.inputs[0]->shape);
    Shape start(whole.size(), 0), length = from.inputs[0]->shape;
    Dims step(whole.size(), 1);
    std::int64_t before = 1, passed = 1;
    for (std::size_t axis = 0, i = 0; axis < to.size(); before *= to[axis++]) {
        if (a.length[axis] == from.shape[axis]) continue;
        while (i < whole.size() && (passed < before || whole[i] == 1)) passed *= whole[i++];
        if (passed != before || i == whole.size() || whole[i] != to[axis]) return {};
        start[i] = a.start[axis].value, length[i] = a.length[axis], step[i] = a.step[axis];
    }
    return reshape(slice(in(from), start, length, step), a.length);
}

// (A @ B)[i, j] -> A[i] @ B[:, j].
Tensor slice_of_product(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (!is(from, matmul_operation) || !site.only_here(from)) return {};
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    if (hollow(a.length)) return {};
    std::size_t row = a.step.size() - 2, column = row + 1;
    auto operand = [&](std::size_t i, std::size_t whole_axis) {
        Tensor x = in(from, i);
        Shape start = starts_of(a), length = a.length;
        Dims step = a.step;
        start[whole_axis] = 0, length[whole_axis] = x.shape()[whole_axis], step[whole_axis] = 1;
        return length == x.shape() ? x : slice(x, start, length, step);
    };
    return product_like(from, operand(0, column), operand(1, row));
}

// (x + y.T).T -> x.T + y: a transposition that meets another one below an elementwise operation.
Tensor permutation_of_elementwise(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (opaque(from) || from.operation->family != Family::elementwise || !site.only_here(from)) return {};
    const Axes& axes = site.node.attributes_as<PermuteAttributes>().axes;
    bool meets = false;
    for (const Node* input : from.inputs) {
        bool full = input->shape.size() == axes.size();
        if (!full && !input->shape.empty()) return {};
        if (!full || !is(*input, permute_dims_operation)) continue;
        const Axes& inner = input->attributes_as<PermuteAttributes>().axes;
        bool undone = true;
        for (std::size_t i = 0; i < axes.size(); ++i) undone &= inner[at(axes[i])] == static_cast<std::int64_t>(i);
        meets |= undone;
    }
    if (!meets) return {};
    std::vector<Tensor> inputs;
    for (Node* input : from.inputs)
        inputs.push_back(input->shape.empty() ? handle(input) : permute_dims(handle(input), axes));
    return make_node(*from.operation, inputs, from.attributes, from.where);
}

// (A @ B).T -> B.T @ A.T; also where batches change places, so that the innermost axis of the result is that of a product.
Tensor permutation_of_product(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (!is(from, matmul_operation) || !site.only_here(from)) return {};
    Axes axes = site.node.attributes_as<PermuteAttributes>().axes;
    auto column = static_cast<std::int64_t>(axes.size()) - 1, row = column - 1;
    if (axes.back() != row) return {};
    Tensor turned = product_like(from, matrix_transpose(in(from, 1)), matrix_transpose(in(from, 0)));
    for (std::int64_t& axis : axes) axis = axis == row ? column : axis == column ? row : axis;
    return axes == all_axes(axes.size()) ? turned : permute_dims(turned, axes);
}

// reshape(reshape(x, (b * t, k)) @ B, (b, t, n)) -> x @ B: rows stay under the names that x and the result's readers have for them.
Tensor reshape_of_product(const Site& site) {
    const Node& from = *site.node.inputs[0];
    if (!is(from, matmul_operation) || from.shape.size() != 2 || !site.only_here(from)) return {};
    const Node& rows = *from.inputs[0];
    if (!is(rows, reshape_operation)) return {};
    Shape whole = site.node.shape;
    if (whole.size() < 2 || !(whole.back() == from.shape.back())) return {};
    whole[whole.size() - 1] = rows.shape.back();
    return rows.inputs[0]->shape == whole ? product_like(from, in(rows), in(from, 1)) : Tensor();
}

}  // namespace

void add_view_rules(RuleList& rules) {
    auto add = [&](std::string name, const Operation& root, auto apply, std::vector<Example> examples) {
        rules.push_back(rule_at(std::move(name), Phase::canonical, {&root}, apply, {.examples = std::move(examples)}));
    };
    auto with = [](auto f, std::vector<Shape> shapes) { return example(f, std::move(shapes)); };
    // clang-format off
    add("reshape", reshape_operation, plain_reshape, {
        with([](T x) { return reshape(reshape(x, {4, 3}), {2, 6}); }, {{3, 4}}), with([](T x) { return reshape(reshape(x, {2, 6}), {3, 4}); }, {{3, 4}})});
    add("permutation", permute_dims_operation, plain_permutation, {
        with([](T x) { return permute_dims(positive(permute_dims(x, {1, 2, 0})), {2, 1, 0}); }, {{2, 3, 4}}), with([](T x) { return permute_dims(x, {1, 0, 2}); }, {{1, 3, 4}})});
    add("broadcast", broadcast_to_operation, plain_broadcast, {with([](T x) { return broadcast_to(broadcast_to(x, {3, 1, 4}), {3, 2, 4}); }, {{3, 1, 1}})});
    add("flip", flip_operation, plain_flip, {
        with([](T x) { return flip(flip(x, {0}), {0, 1}); }, {{3, 4}}), with([](T x) { return flip(flip(x, {1}), {1}); }, {{3, 4}}), with([](T x) { return flip(x, {0, 1}); }, {{1, 4}})});
    add("slice", slice_operation, plain_slice, {
        with([](T x) { return slice(slice(x, {1, 2}, {4, 3}, {1, 2}), {1, 0}, {2, 2}, {2, 2}); }, {{6, 9}})});
    add("slice_of_elementwise", slice_operation, slice_of_elementwise, {
        with([](T x, T y) { return slice(exp(x) + y, {1, 0}, {1, 4}); }, {{3, 4}, {4}}), with([](T x, T y) { return slice(x * y, {0, 1}, {3, 2}, {1, 2}); }, {{3, 1}, {3, 4}})});
    add("slice_of_view", slice_operation, slice_of_view, {
        with([](T x) { return slice(x.T(), {1, 0}, {2, 3}); }, {{3, 4}}), with([](T x) { return slice(broadcast_to(x, {5, 4}), {1, 1}, {3, 2}); }, {{4}}),
        with([](T x) { return slice(flip(x, {0, 1}), {1, 0}, {3, 2}, {1, 2}); }, {{5, 4}}), with([](T x) { return slice(flip(x, {0}), {0}, {1}); }, {{5}}),
        with([](T x) { return slice(sum(x, 1), {1}, {1}); }, {{3, 4}}), with([](T x) { return slice(max(x, {0, 2}, true), {0, 1, 0}, {1, 2, 1}); }, {{2, 3, 4}})});
    add("slice_of_reshape", slice_operation, slice_of_reshape, {
        with([](T x) { return slice(reshape(x, {6, 1, 4, 5}), {0, 0, 1, 1}, {6, 1, 2, 2}, {1, 1, 1, 2}); }, {{2, 3, 4, 5}}), with([](T x) { return slice(reshape(x, {2, 3, 20}), {1, 0, 0}, {1, 2, 20}, {1, 2, 1}); }, {{2, 3, 4, 5}}),
        with([](T x) { return slice(reshape(x, {4, 3, 1}), {1, 0, 0}, {2, 3, 1}); }, {{4, 3}})});
    add("slice_of_product", slice_operation, slice_of_product, {
        with([](T a, T b) { return slice(matmul(a, b), {1, 2}, {1, 1}); }, {{3, 4}, {4, 5}}), with([](T a, T b) { return slice(matmul(a, b), {1, 0, 0}, {1, 3, 2}, {1, 1, 2}); }, {{2, 3, 4}, {2, 4, 5}})});
    add("permutation_of_elementwise", permute_dims_operation, permutation_of_elementwise, {with([](T x, T y) { return (x + y.T()).T(); }, {{3, 4}, {4, 3}})});
    add("permutation_of_product", permute_dims_operation, permutation_of_product, {
        with([](T a, T b) { return matmul(a, b).T(); }, {{3, 4}, {4, 5}}), with([](T a, T b) { return permute_dims(matmul(a, b), {3, 0, 1, 2}); }, {{2, 3, 4, 5}, {2, 3, 5, 6}}),
        with([](T a, T b) { return permute_dims(matmul(a, b), {0, 3, 1, 2}); }, {{2, 3, 4, 5}, {2, 3, 5, 6}})});
    add("reshape_of_product", reshape_operation, reshape_of_product, {
        with([](T x, T w) { return reshape(matmul(reshape(x, {6, 4}), w), {2, 3, 5}); }, {{2, 3, 4}, {4, 5}})});
    // clang-format on
}

}  // namespace weft
