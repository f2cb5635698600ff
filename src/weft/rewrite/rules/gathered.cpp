// Products of rows that were picked: a product of the rows themselves comes first where there are fewer of them than were picked, as
// an embedding's in front of a dense layer; the derivatives likewise.
#include <algorithm>

#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/gather.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/rules.h"
#include "weft/rewrite/rules/spread.h"

namespace weft {
namespace {

using T = const Tensor&;

// Whether a view leaves rows whole: it moves them, or gives them other names.
bool moves_rows(const Node& view) {
    if (is(view, reshape_operation))
        return !view.shape.empty() && !view.inputs[0]->shape.empty() &&
               view.shape.back() == view.inputs[0]->shape.back();
    if (!is(view, permute_dims_operation)) return false;
    const Axes& axes = view.attributes_as<PermuteAttributes>().axes;
    return !axes.empty() && axes.back() == static_cast<std::int64_t>(axes.size()) - 1;
}

// Rows of a matrix, picked by indices of the shape of all axes but the last.
struct PickedRows {
    Tensor rows, indices;
    explicit operator bool() const { return static_cast<bool>(rows); }
    bool more_than_rows() const { return more_picked(rows.shape()[0], indices.shape()); }
};

PickedRows picked(const Node& x) {
    if (is(x, take_operation)) {
        const Node& rows = *x.inputs[0];
        bool fits = x.attributes_as<GatherAttributes>().axis == 0 && x.inputs.size() == 2 && rows.shape.size() == 2;
        return fits ? PickedRows{in(x), in(x, 1)} : PickedRows{};
    }
    if (!moves_rows(x)) return {};
    PickedRows below = picked(*x.inputs[0]);
    if (!below) return {};
    Shape shape(x.shape.begin(), x.shape.end() - 1);
    if (is(x, reshape_operation)) return {below.rows, reshape(below.indices, shape)};
    Axes axes = x.attributes_as<PermuteAttributes>().axes;
    axes.pop_back();
    return {below.rows, permute_dims(below.indices, axes)};
}

// The matrix that all batches read, or nothing.
Tensor one_matrix(const Node& x) {
    if (x.shape.size() == 2) return handle(const_cast<Node*>(&x));
    if (is(x, broadcast_to_operation)) {
        const Shape& below = x.inputs[0]->shape;
        if (below.size() < 2) return {};
        Shape matrix(x.shape.end() - 2, x.shape.end()), one(below.size() - 2, 1);
        for (Size size : matrix) one.push_back(size);
        return !(below == one) ? Tensor() : below.size() == 2 ? in(x) : reshape(in(x), matrix);
    }
    if (!is(x, permute_dims_operation)) return {};
    Axes turned = all_axes(x.shape.size());
    std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
    if (!(x.attributes_as<PermuteAttributes>().axes == turned)) return {};
    Tensor matrix = one_matrix(*x.inputs[0]);
    return matrix ? matrix_transpose(matrix) : Tensor();
}

// A @ b[i] for columns b[i] -> b @ A^T, with the columns as rows: one product that reads A once, as vmap of a function that multiplies a vector
// does not write it (a hessian, gradients of each example).
Tensor columns_by_one_matrix(const Site& site) {
    const Node &node = site.node, &b = *node.inputs[1];
    std::size_t rank = node.shape.size();
    if (rank < 3 || !(node.shape[rank - 1] == Size(1)) || is(b, broadcast_to_operation)) return {};
    if (!known(b.shape) || !known(node.shape) || !full_width(node.dtype)) return {};
    std::int64_t m = node.shape[rank - 2].value(), k = b.shape[rank - 2].value();
    std::int64_t columns = m > 0 ? element_count(dims_of(node.shape)) / m : 0;
    if (m < 2 || k < 2 || columns < 2) return {};
    Tensor a = one_matrix(*node.inputs[0]);
    return a ? reshape(product_like(node, reshape(site.input(1), {columns, k}), matrix_transpose(a)), node.shape)
             : Tensor();
}

// E[i] @ W -> (E @ W)[i]
Tensor product_of_picked(const Site& site) {
    Tensor w = one_matrix(*site.node.inputs[1]);
    if (!w || !full_width(site.node.dtype)) return {};
    PickedRows a = picked(*site.node.inputs[0]);
    return a && a.more_than_rows() ? take(product_like(site.node, a.rows, w), a.indices) : Tensor();
}

// Rows x added up where they were picked. What has moved them moves the indices instead, which are fewer.
Tensor spread_over(const PickedRows& of, Tensor x) {
    Tensor indices = of.indices;
    for (; moves_rows(*x.node()); x = in(*x.node())) {
        const Node& view = *x.node();
        if (is(view, permute_dims_operation)) {
            const Axes& axes = view.attributes_as<PermuteAttributes>().axes;
            Axes back(axes.size() - 1);
            for (std::size_t i = 0; i < back.size(); ++i)
                back[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
            indices = permute_dims(indices, back);
        } else {
            const Shape& shape = view.inputs[0]->shape;
            indices = reshape(indices, Shape(shape.begin(), shape.end() - 1));
        }
    }
    Size count = 1;
    for (const Size& size : indices.shape()) count = count * size;
    Tensor rows = reshape(x, {count, x.shape().back()}), flat = reshape(indices, {count});
    return scatter(zeros({of.rows.shape()[0], x.shape().back()}, x.dtype()), std::vector<Tensor>{flat}, rows, 0,
                   ScatterMode::add);
}

// A @ E[i] -> scatter(0, i, A.T).T @ E, and E[i].T @ B -> E.T @ scatter(0, i, B)
Tensor product_with_picked(const Site& site) {
    const Node& node = site.node;
    if (node.shape.size() != 2 || !full_width(node.dtype)) return {};
    if (PickedRows b = picked(*node.inputs[1]); b && b.more_than_rows()) {
        Tensor a = spread_over(b, matrix_transpose(in(node)));
        return product_like(node, matrix_transpose(a), b.rows);
    }
    const Node& turned = *node.inputs[0];
    if (!is(turned, permute_dims_operation) || moves_rows(turned)) return {};
    PickedRows a = picked(*turned.inputs[0]);
    if (!a || !a.more_than_rows()) return {};
    return product_like(node, matrix_transpose(a.rows), spread_over(a, in(node, 1)));
}

// What stands for x, views that move rows of a product with one matrix, in a sum over rows: (the product's first operand, moved alike; the
// matrix).
std::pair<Tensor, Tensor> moved_product(const Site& site, const Node& x) {
    if (is(x, matmul_operation)) {
        Tensor w = one_matrix(*x.inputs[1]);
        return w && site.only_here(x) ? std::pair(in(x), w) : std::pair<Tensor, Tensor>();
    }
    if (!moves_rows(x) || !site.only_here(x)) return {};
    auto [rows, w] = moved_product(site, *x.inputs[0]);
    if (!w) return {};
    if (is(x, permute_dims_operation)) return {permute_dims(rows, x.attributes_as<PermuteAttributes>().axes), w};
    Shape shape = x.shape;
    shape.back() = rows.shape().back();
    return {reshape(rows, shape), w};
}

// scatter(0, i, A @ W) -> scatter(0, i, A) @ W
Tensor spread_product(const Site& site) {
    const Node& node = site.node;
    bool fits = is(node, scatter_operation) && spreads(node) && node.shape.size() == 2 && node.inputs.size() == 3 &&
                node.attributes_as<ScatterAttributes>().axis == 0;
    if (!fits || !PickedRows{site.input(0), site.input(2)}.more_than_rows()) return {};
    auto [rows, w] = moved_product(site, *node.inputs[1]);
    if (!w) return {};
    const Node* product = node.inputs[1];
    while (!is(*product, matmul_operation)) product = product->inputs[0];
    return product_like(*product, spread_over({site.input(0), site.input(2)}, rows), w);
}

}  // namespace

void add_gathered_rules(RuleList& rules) {
    auto add = adder(rules);
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    static const Tensor index = Tensor::of<std::int64_t>({1, 0, 1, -1, 0, 0}, {3, 2});
    static const Tensor list = reshape(index, {6});
    // clang-format off
    add("columns_by_one_matrix", Phase::canonical, {&matmul_operation}, columns_by_one_matrix, {
        with([](T a, T b) { return matmul(a, b); }, {{4, 3}, {5, 3, 1}}), with([](T a, T b) { return matmul(a.T(), b); }, {{3, 4}, {2, 5, 3, 1}}),
        with([](T a, T b) { return matmul(a, b); }, {{1, 4, 3}, {5, 3, 1}})});
    add("product_of_picked", Phase::special, {&matmul_operation}, product_of_picked, {
        with([](T e, T w) { return matmul(take(e, index), w); }, {{2, 4}, {4, 5}}), with([](T e, T w) { return matmul(permute_dims(take(e, index), {1, 0, 2}), w); }, {{2, 4}, {4, 5}}),
        with([](T e, T w) { return matmul(reshape(take(e, index), {6, 4}), w); }, {{2, 4}, {4, 5}})}, Assumes::finite);
    add("product_with_picked", Phase::special, {&matmul_operation}, product_with_picked, {
        with([](T a, T e) { return matmul(a, take(e, list)); }, {{5, 6}, {2, 4}}), with([](T e, T b) { return matmul(take(e, list).T(), b); }, {{2, 4}, {6, 5}})}, Assumes::finite);
    add("scatter_of_product", Phase::special, {&scatter_operation}, spread_product, {
        with([](T a, T w) { return scatter(zeros({2, 5}, w.dtype()), std::vector<Tensor>{list}, matmul(a, w), 0, ScatterMode::add); }, {{6, 4}, {4, 5}}),
        with([](T a, T w) { return scatter(zeros({2, 5}, w.dtype()), std::vector<Tensor>{index}, permute_dims(matmul(a, w), {1, 0, 2}), 0, ScatterMode::add); }, {{2, 3, 4}, {4, 5}})}, Assumes::finite);
    // clang-format on
}

}  // namespace weft
