// Zeros around a gradient move towards the results, as slices move towards the leaves: where a loss reads one row of many (a class token, the
// last word), what is made of its gradient is made of that row alone.
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"
#include "weft/rewrite/rules/spread.h"

namespace weft {
namespace {

using T = const Tensor&;

/// Rows along one axis with at least as many of zeros around.
struct Narrow {
    Tensor rows;
    std::size_t axis;
    std::int64_t before, count, whole;

    bool at_same_place(const Narrow& other) const { return before == other.before && whole == other.whole; }
    Tensor among_zeros(T x, std::size_t along, std::int64_t each = 1) const {
        Shape front(x.ndim(), 0), behind(x.ndim(), 0);
        front[along] = before * each, behind[along] = (whole - before - count) * each;
        return pad_interior(x, front, behind, Dims(x.ndim(), 0));
    }
    /// The same rows of another value.
    Tensor rows_of(T x, std::size_t along) const {
        Shape start(x.ndim(), 0), length = x.shape();
        start[along] = before, length[along] = count;
        return slice(x, start, length);
    }
    /// The same of an operand that is broadcast to `ndim` axes.
    Tensor rows_of_operand(T x, std::size_t along, std::size_t ndim) const {
        std::size_t lacks = ndim - x.ndim();
        bool repeats = along < lacks || x.shape()[along - lacks] == Size(1);
        return repeats ? x : rows_of(x, along - lacks);
    }
};

std::optional<Narrow> narrow(const Node& x) {
    if (!pads_zeros(x)) return {};
    std::optional<std::size_t> axis = padded_axis(x);
    if (!axis) return {};
    std::int64_t count = x.inputs[0]->shape[*axis].value(), whole = x.shape[*axis].value();
    if (count == 0 || 2 * count > whole) return {};
    return Narrow{in(x), *axis, x.attributes_as<PadAttributes>().before[*axis].value.value(), count, whole};
}

// Whether the result is 0 where operand i is.
bool is_zero_with(const Node& node, std::size_t i) {
    const Operation* f = node.operation;
    if (f == &where_operation) return i > 0 && is_number(*node.inputs[3 - i], 0);
    return f == &multiply_operation || f == &gated_multiply_operation || i == 0;
}

// (zeros around x) * y -> zeros around x * y's rows; and so for quotients, signs, conversions.
Tensor product_of_rows(const Site& site) {
    const Node& node = site.node;
    std::size_t ndim = node.shape.size();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        std::optional<Narrow> x = is_zero_with(node, i) ? narrow(*node.inputs[i]) : std::nullopt;
        if (!x) continue;
        std::size_t axis = x->axis + ndim - node.inputs[i]->shape.size();
        std::vector<Tensor> inputs;
        for (std::size_t k = 0; k < node.inputs.size(); ++k)
            inputs.push_back(k == i ? x->rows : x->rows_of_operand(in(node, k), axis, ndim));
        return x->among_zeros(make_node(*node.operation, inputs, node.attributes, node.where), axis);
    }
    return {};
}

// (zeros around x) + (zeros around y), in the same place -> zeros around x + y.
Tensor sum_of_rows(const Site& site) {
    const Node& node = site.node;
    std::optional<Narrow> x = narrow(*node.inputs[0]), y = x ? narrow(*node.inputs[1]) : std::nullopt;
    if (!y || !x->at_same_place(*y)) return {};
    std::size_t ndim = node.shape.size(), axis = x->axis + ndim - x->rows.ndim();
    if (axis != y->axis + ndim - y->rows.ndim() || x->count != y->count) return {};
    return x->among_zeros(make_node(*node.operation, {x->rows, y->rows}, node.attributes, node.where), axis);
}

Tensor permuted_rows(const Site& site) {
    std::optional<Narrow> x = narrow(*site.node.inputs[0]);
    if (!x) return {};
    const Axes& axes = site.node.attributes_as<PermuteAttributes>().axes;
    auto axis = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(x->axis)) - axes.begin();
    return x->among_zeros(permute_dims(x->rows, axes), static_cast<std::size_t>(axis));
}

Tensor broadcast_rows(const Site& site) {
    std::optional<Narrow> x = narrow(*site.node.inputs[0]);
    if (!x) return {};
    Shape shape = site.node.shape;
    std::size_t axis = x->axis + shape.size() - x->rows.ndim();
    shape[axis] = x->count;
    return x->among_zeros(broadcast_to(x->rows, shape), axis);
}

// Where the axis keeps its name, or is the first of those that become one.
Tensor reshaped_rows(const Site& site) {
    std::optional<Narrow> x = narrow(*site.node.inputs[0]);
    if (!x || !known(site.node.shape) || !known(x->rows.shape())) return {};
    Dims from = dims_of(site.node.inputs[0]->shape), to = dims_of(site.node.shape);
    std::int64_t before = 1, passed = 1, each = 1;
    for (std::size_t i = 0; i < x->axis; ++i) before *= from[i];
    std::size_t axis = 0;
    while (axis < to.size() && (passed < before || to[axis] == 1)) passed *= to[axis++];
    if (passed != before || axis == to.size()) return {};
    for (std::size_t i = x->axis + 1; i < from.size() && each * x->whole < to[axis]; ++i) each *= from[i];
    if (each * x->whole != to[axis]) return {};
    Shape shape = site.node.shape;
    shape[axis] = x->count * each;
    return x->among_zeros(reshape(x->rows, shape), axis, each);
}

Tensor summed_rows(const Site& site) {
    std::optional<Narrow> x = narrow(*site.node.inputs[0]);
    if (!x) return {};
    const ReduceAttributes& r = reduction_of(site.node);
    Tensor sum = make_node(*site.node.operation, {x->rows}, site.node.attributes, site.node.where);
    if (has(r.axes, x->axis)) return sum;
    std::size_t axis = x->axis;
    for (std::int64_t gone : r.axes) axis -= !r.keepdims && at(gone) < x->axis;
    return x->among_zeros(sum, axis);
}

// (zeros around A) @ B -> zeros around A @ B, or, along the inner axis, A @ B's rows.
Tensor product_with(const Node& node, const Narrow& x, std::size_t i) {
    Tensor other = in(node, 1 - i);
    std::size_t ndim = node.shape.size(), lacks = ndim - x.rows.ndim(), own = ndim - 2 + i, axis = x.axis + lacks;
    auto product = [&](T y) { return i == 0 ? product_like(node, x.rows, y) : product_like(node, y, x.rows); };
    if (axis == own) return x.among_zeros(product(other), own);
    if (axis + 2 >= ndim) return product(x.rows_of(other, other.ndim() - 2 + i));
    return x.among_zeros(product(x.rows_of_operand(other, axis, ndim)), axis);
}

// A matrix whose rows are those of several axes, of which one has zeros around: reshape(zeros around x).
struct ManyRows {
    Narrow x;
    Shape shape;  // of all axes
};
std::optional<ManyRows> many_rows(const Node& matrix) {
    if (!is(matrix, reshape_operation) || matrix.shape.size() != 2) return {};
    const Node& from = *matrix.inputs[0];
    std::optional<Narrow> x = narrow(from);
    bool fits = x && x->axis + 1 < from.shape.size() && from.shape.back() == matrix.shape.back();
    return fits ? std::optional(ManyRows{*x, from.shape}) : std::nullopt;
}

// Y.T @ reshape(zeros around x) -> (Y's rows).T @ x's: the gradient of weights.
Tensor gradient_of_weights(const Node& node) {
    if (node.shape.size() != 2) return {};
    auto turned = [](const Node& x) { return matrix_transpose(handle(const_cast<Node*>(&x))); };
    Tensor a = turned(*node.inputs[0]);
    if (is(*node.inputs[0], permute_dims_operation)) a = in(*node.inputs[0]);
    for (bool first : {false, true}) {
        Tensor padded = first ? a : in(node, 1), other = first ? in(node, 1) : a;
        std::optional<ManyRows> many = many_rows(*padded.node());
        if (!many) continue;
        auto rows = [](T x) { return reshape(x, {-1, x.shape().back()}); };
        Shape all = many->shape;
        all.back() = other.shape()[1];
        Tensor x = rows(many->x.rows), y = rows(many->x.rows_of(reshape(other, all), many->x.axis));
        return first ? product_like(node, matrix_transpose(x), y) : product_like(node, matrix_transpose(y), x);
    }
    return {};
}

Tensor product_of_matrices(const Site& site) {
    const Node& node = site.node;
    for (std::size_t i : {0, 1}) {
        if (node.inputs[i]->shape.size() < 2 || node.inputs[1 - i]->shape.size() < 2) return {};
        if (std::optional<Narrow> x = narrow(*node.inputs[i])) return product_with(node, *x, i);
    }
    return gradient_of_weights(node);
}

// Of examples: zeros around x, one row before it and as many behind as make four of one.
Tensor among(T x, std::int64_t axis) {
    Dims before(x.ndim(), 0), after(x.ndim(), 0);
    before[at(axis)] = 1, after[at(axis)] = 2;
    return pad(x, before, after);
}

// A slice that shows nothing of the zeros.
Tensor slice_of_rows(const Site& site) {
    const Node& from = *site.node.inputs[0];
    std::optional<std::size_t> axis = pads_zeros(from) ? padded_axis(from) : std::nullopt;
    if (!axis) return {};
    const SliceAttributes& a = site.node.attributes_as<SliceAttributes>();
    Size start = a.start[*axis].value, length = a.length[*axis];
    if (!start.known() || !length.known() || length == Size(0)) return {};
    std::int64_t before = from.attributes_as<PadAttributes>().before[*axis].value.value();
    std::int64_t last = start.value() + (length.value() - 1) * a.step[*axis];
    if (start.value() < before || last >= before + from.inputs[0]->shape[*axis].value()) return {};
    Shape begin = starts_of(a);
    begin[*axis] = start - before;
    return slice(in(from), begin, a.length, a.step);
}

}  // namespace

void add_raised_rules(RuleList& rules) {
    auto raise = [&](std::string name, std::vector<const Operation*> roots, auto apply, std::vector<Example> examples) {
        adder(rules)(std::move(name), Phase::special, std::move(roots), apply, std::move(examples), Assumes::finite,
                     {&pad_operation});
        rules.back().frees = true;  // slices of what the whole gradient read
    };
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    // clang-format off
    raise("rows_times", {&multiply_operation, &gated_multiply_operation, &divide_operation, &negative_operation, &astype_operation, &where_operation}, product_of_rows, {
        with([](T x, T y) { return among(x, 0) * y; }, {{1, 3}, {4, 3}}), with([](T x, T y) { return among(x, 0) / exp(y); }, {{2}, {5}}), with([](T x, T y) { return where(y > 0, among(x, 0), 0); }, {{1}, {2, 4}})});
    raise("sum_of_rows", {&add_operation, &subtract_operation}, sum_of_rows, {with([](T x, T y) { return among(x, 1) - among(y, 0); }, {{3, 1}, {1}})});
    raise("permuted_rows", {&permute_dims_operation}, permuted_rows, {with([](T x) { return permute_dims(among(x, 1), {2, 0, 1}); }, {{2, 1, 3}})});
    raise("broadcast_rows", {&broadcast_to_operation}, broadcast_rows, {with([](T x) { return broadcast_to(among(x, 0), {2, 5, 3}); }, {{2, 1}})});
    raise("reshaped_rows", {&reshape_operation}, reshaped_rows, {
        with([](T x) { return reshape(among(x, 0), {4, -1}); }, {{1, 2, 3}}), with([](T x) { return reshape(among(x, 0), {8, 3}); }, {{1, 2, 3}}), with([](T x) { return reshape(among(x, 2), {6, 1, 4}); }, {{2, 3, 1}})});
    raise("summed_rows", {&sum_operation}, summed_rows, {
        with([](T x) { return sum(among(x, 0), {0, 2}); }, {{1, 2, 3}}), with([](T x) { return sum(among(x, 1), {0}); }, {{2, 1, 3}})});
    raise("product_of_rows", {&matmul_operation}, product_of_matrices, {
        with([](T a, T b) { return matmul(among(a, 0), b); }, {{1, 4}, {4, 5}}), with([](T a, T b) { return matmul(among(a, 1), b); }, {{3, 1}, {4, 5}}),
        with([](T a, T b) { return matmul(a, among(b, 1)); }, {{2, 3, 4}, {2, 1, 5}}), with([](T a, T b) { return matmul(a, among(b, 1)); }, {{2, 3, 4}, {4, 2}}),
        with([](T a, T b) { return matmul(among(a, 0), b); }, {{1, 3, 4}, {4, 4, 5}}), with([](T y, T x) { return matmul(y.T(), reshape(among(x, 1), {-1, 5})); }, {{8, 4}, {2, 1, 5}}),
        with([](T x, T y) { return matmul(reshape(among(x, 1), {-1, 5}).T(), y); }, {{2, 1, 5}, {8, 4}})});
    raise("slice_of_rows", {&slice_operation}, slice_of_rows, {with([](T x) { return slice(among(x, 0), {1, 1}, {2, 2}, {2, 1}); }, {{3, 3}})});
    // clang-format on
}

}  // namespace weft
