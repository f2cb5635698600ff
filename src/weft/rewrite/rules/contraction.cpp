// Products of matrices: sums of products that are one, numbers and single columns taken out.
#include "weft/ops/contraction.h"

#include <algorithm>
#include <list>

#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rewrite.h"
#include "weft/rewrite/rules/rules.h"
#include "weft/rewrite/rules/terms.h"

namespace weft {
namespace {

using T = const Tensor&;

// sum(a * b) where a and b each have axes that the other has not: a product of matrices, without the large array between.
Tensor sum_of_products(const Site& site) {
    const Node &node = site.node, &from = *node.inputs[0];
    if (opaque(from) || !site.only_here(from) || !full_width(node.dtype)) return {};
    bool squared = from.operation == &square_operation;  // (a * b)^2 = a^2 * b^2
    const Node& product_node = squared ? *from.inputs[0] : from;
    if (opaque(product_node) || product_node.operation != &multiply_operation || !site.only_here(product_node))
        return {};
    Tensor first = handle(product_node.inputs[0]), second = handle(product_node.inputs[1]);
    if (first.dtype() != node.dtype || second.dtype() != node.dtype) return {};
    if (squared) first = square(first), second = square(second);
    const Axes& axes = reduction_of(node).axes;
    // What only one operand has and nobody keeps is summed beforehand.
    auto summed_alone = [&](const Tensor& x, const Tensor& other) {
        Axes alone;
        for (std::int64_t axis : axes) {
            auto has_axis = [&](const Tensor& t) {
                std::int64_t i = axis - static_cast<std::int64_t>(from.shape.size() - t.ndim());
                return i >= 0 && !(t.shape()[static_cast<std::size_t>(i)] == Size(1));
            };
            if (has_axis(x) && !has_axis(other))
                alone.push_back(axis - static_cast<std::int64_t>(from.shape.size() - x.ndim()));
        }
        return alone.empty() ? x : sum(x, alone, true);
    };
    Tensor left = summed_alone(first, second), right = summed_alone(second, first);
    const Node &a = *left.node(), &b = *right.node();
    Axes batch, rows, columns, inner;
    std::size_t n = from.shape.size();
    for (std::size_t i = 0; i < n; ++i) {
        auto has_axis = [&](const Node& x) {
            std::size_t shift = n - x.shape.size();
            return i >= shift && !(x.shape[i - shift] == Size(1));
        };
        bool in_a = has_axis(a), in_b = has_axis(b);
        auto axis = static_cast<std::int64_t>(i);
        if (!in_a && !in_b) continue;
        (has(axes, i) ? inner : in_a && in_b ? batch : in_a ? rows : columns).push_back(axis);
    }
    if (inner.empty() || rows.empty() || columns.empty()) return {};
    auto count = [&](const Axes& of) {
        Size size = 1;
        for (std::int64_t axis : of) size = size * from.shape[static_cast<std::size_t>(axis)];
        return size;
    };
    // Axes in the order batch, first, second; those that the operand has not dropped.
    auto laid = [&](const Node& x, const Axes& first, const Axes& second) {
        std::size_t shift = n - x.shape.size();
        Axes order;
        Shape proper, shape;
        std::vector<std::int64_t> place(n, -1);
        std::int64_t next = 0;
        for (std::size_t i = 0; i < n; ++i) {
            auto axis = static_cast<std::int64_t>(i);
            bool mine = has(batch, i) || std::find(first.begin(), first.end(), axis) != first.end() ||
                        std::find(second.begin(), second.end(), axis) != second.end();
            if (mine) place[i] = next++, proper.push_back(x.shape[i - shift]);
        }
        for (const Axes* group : {&static_cast<const Axes&>(batch), &first, &second})
            for (std::int64_t axis : *group) order.push_back(place[static_cast<std::size_t>(axis)]);
        for (std::int64_t axis : batch) shape.push_back(from.shape[static_cast<std::size_t>(axis)]);
        shape.push_back(count(first)), shape.push_back(count(second));
        return reshape(permute_dims(reshape(handle(const_cast<Node*>(&x)), proper), order), shape);
    };
    Tensor product = matmul(laid(a, rows, inner), laid(b, inner, columns));
    // Its axes are batch, rows, columns; the result's are in the order of the sum's.
    Shape apart;
    Axes now;
    for (const Axes* group : {&batch, &rows, &columns})
        for (std::int64_t axis : *group)
            apart.push_back(from.shape[static_cast<std::size_t>(axis)]), now.push_back(axis);
    Axes order, sorted = now;
    std::sort(sorted.begin(), sorted.end());
    for (std::int64_t axis : sorted) order.push_back(std::find(now.begin(), now.end(), axis) - now.begin());
    return reshape(permute_dims(reshape(product, apart), order), node.shape);
}

// Many inner products, (..., 1, k) by (..., k, 1): a sum of products, which passes memory once and takes in what makes them.
Tensor inner_products(const Site& site) {
    const Node &node = site.node, &a = *node.inputs[0], &b = *node.inputs[1];
    bool plain = !node.attributes && full_width(node.dtype) && a.dtype == node.dtype && b.dtype == node.dtype;
    std::size_t batches = node.shape.size() - 2;
    if (!plain || !(node.shape[batches] == Size(1)) || !(node.shape[batches + 1] == Size(1))) return {};
    bool many = std::any_of(node.shape.begin(), node.shape.end(), [](Size size) { return !(size == Size(1)); });
    return many ? sum(site.input(0) * matrix_transpose(site.input(1)), Axes{-1}, true) : Tensor();
}

// A product of a column and a row: one multiplication an element, which what stands around it can take in.
Tensor outer_product(const Site& site) {
    const Shape& a = site.node.inputs[0]->shape;
    if (!(a[a.size() - 1] == Size(1)) || !is_inexact(site.node.dtype)) return {};
    if (precision_of(site.node) != MatmulPrecision::float32) return {};  // the numbers would have to be rounded
    return site.input(0) * site.input(1);
}

// (a * c) @ b -> c * (a @ b) for a number c, so that numbers meet.
Tensor number_out_of_matmul(const Site& site) {
    if (!full_width(site.node.dtype)) return {};
    for (std::size_t i : {0, 1}) {
        const Node& from = *site.node.inputs[i];
        if (opaque(from) || !site.only_here(from)) continue;
        auto with = [&](Node* x) {
            return i == 0 ? product_like(site.node, handle(x), site.input(1))
                          : product_like(site.node, site.input(0), handle(x));
        };
        if (from.operation == &negative_operation) return -with(from.inputs[0]);
        if (from.operation != &multiply_operation) continue;
        for (std::size_t k : {0, 1}) {
            bool number = from.inputs[k]->shape.empty() && number_of(*from.inputs[k]);
            if (number && from.inputs[1 - k]->shape == from.shape)
                return handle(from.inputs[k]) * with(from.inputs[1 - k]);
        }
    }
    return {};
}

// Where the axes of x lie in the array whose permutation it is: slower axes first.
std::vector<std::int64_t> memory_order(const Node& x) {
    std::vector<std::int64_t> place;
    for (std::size_t i = 0; i < x.shape.size(); ++i) place.push_back(static_cast<std::int64_t>(i));
    for (const Node* from = &x; is(*from, permute_dims_operation); from = from->inputs[0])
        for (std::int64_t& axis : place) axis = from->attributes_as<PermuteAttributes>().axes[at(axis)];
    return place;
}

// How products of batches become one: the axes that are summed in an order, with the axis between the matrices as the last of them, are
// one axis of both operands.
struct JoinedBatches {
    const Node& product;
    Axes kept;  // batch axes that are not summed

    // In the order in which an operand has them in memory.
    Axes order_of(const Node& operand, Axes summed) const {
        std::vector<std::int64_t> place = memory_order(operand);
        std::sort(summed.begin(), summed.end(),
                  [&](std::int64_t a, std::int64_t b) { return place[at(a)] < place[at(b)]; });
        return summed;
    }
    // Elements that are copied, since the axes do not follow each other in memory.
    double copied(const Node& operand, const Axes& order, std::size_t inner) const {
        std::vector<std::int64_t> place = memory_order(operand);
        Axes together = order;
        together.push_back(static_cast<std::int64_t>(inner));
        for (std::size_t i = 1; i < together.size(); ++i)
            if (place[at(together[i])] != place[at(together[i - 1])] + 1) return elements(operand.shape);
        return 0;
    }
    static double elements(const Shape& shape) {
        double count = 1;
        for (const Size& size : shape) count *= static_cast<double>(size.value());
        return count;
    }
    // (kept, all that is summed, the operand's other axis)
    Tensor laid(const Node& operand, const Axes& order, std::size_t inner) const {
        std::size_t n = operand.shape.size(), other = 2 * n - 3 - inner;
        Axes axes = kept;
        Shape shape;
        for (std::int64_t axis : kept) shape.push_back(operand.shape[at(axis)]);
        Size length = operand.shape[inner];
        for (std::int64_t axis : order) axes.push_back(axis), length = length * operand.shape[at(axis)];
        axes.push_back(static_cast<std::int64_t>(inner)), axes.push_back(static_cast<std::int64_t>(other));
        shape.push_back(length), shape.push_back(operand.shape[other]);
        return reshape(permute_dims(handle(const_cast<Node*>(&operand)), axes), shape);
    }
};

// The sum of A[b] @ B[b] over b -> one product of all A[b] side by side and all B[b] one below the other; no array of products between.
// As the gradients of a dense layer's weight are, whose input has several axes.
Tensor sum_of_batches(const Site& site) {
    const Node &node = site.node, &product = *node.inputs[0];
    if (!is(product, matmul_operation) || !site.only_here(product) || !full_width(node.dtype)) return {};
    const Axes& summed = reduction_of(node).axes;
    std::size_t n = product.shape.size();
    if (summed.empty() || has(summed, n - 1) || has(summed, n - 2)) return {};
    const Node &a = *product.inputs[0], &b = *product.inputs[1];
    if (is(a, broadcast_to_operation) || is(b, broadcast_to_operation) || !known(a.shape) || !known(b.shape)) return {};
    JoinedBatches joined{product, {}};
    for (std::size_t axis = 0; axis + 2 < n; ++axis)
        if (!has(summed, axis)) joined.kept.push_back(static_cast<std::int64_t>(axis));
    Axes order = joined.order_of(a, summed), other = joined.order_of(b, summed);
    auto copied = [&](const Axes& o) { return joined.copied(a, o, n - 1) + joined.copied(b, o, n - 2); };
    if (copied(other) < copied(order)) order = other;
    if (copied(order) > JoinedBatches::elements(product.shape)) return {};
    Tensor one = product_like(product, matrix_transpose(joined.laid(a, order, n - 1)), joined.laid(b, order, n - 2));
    return reshape(one, node.shape);
}

/// Products of matrices that are added up, in the order in which they are written.
struct AddedProducts {
    std::list<const Node*> all;
    double inner = 0;    // elements of all rows of their first matrices
    bool turned = true;  // all first matrices are transposes

    bool join(AddedProducts& more, const Shape& shape) {
        if (precision_of(*all.front()) != precision_of(*more.all.front())) return false;
        double rows = JoinedBatches::elements({shape[0]}), columns = JoinedBatches::elements({shape[1]});
        if (std::min(inner, more.inner) * (rows + columns) > rows * columns) return false;
        all.splice(all.end(), more.all);
        inner += more.inner, turned &= more.turned;
        return true;
    }
    // The last step comes first among the gradients of a loop: so the pieces stand in the order of its steps.
    Tensor one() const {
        auto turn = [&](const Tensor& x) { return turned ? matrix_transpose(x) : x; };
        std::vector<Tensor> left, right;
        for (auto product = all.rbegin(); product != all.rend(); ++product)
            left.push_back(turn(in(**product, 0))), right.push_back(in(**product, 1));
        return product_like(*all.front(), turn(concatenate(left, turned ? 0 : 1)), concatenate(right, 0));
    }
};

// A @ B + C @ D -> [A C] @ [B; D], where what is joined is less than a result that is read and written again: as the gradients of a
// recurrent layer's weight are, a product for each step.
Tensor sum_of_two_products(const Site& site) {
    const Node& node = site.node;
    auto may = [](const Node& x) { return is(x, matmul_operation); };
    if (!full_width(node.dtype) || node.shape.size() != 2 || !may_join_terms(node, may)) return {};
    auto of_term = [&](const Node& x) -> std::optional<AddedProducts> {
        bool fits = is(x, matmul_operation) && x.shape == node.shape && known(x.inputs[0]->shape) &&
                    known(x.inputs[1]->shape) && x.dtype == node.dtype && site.only_here(x);
        if (!fits) return {};
        return AddedProducts{
            {&x}, JoinedBatches::elements({x.inputs[0]->shape[1]}), is(*x.inputs[0], permute_dims_operation)};
    };
    auto join = [&](AddedProducts& a, AddedProducts& b) { return a.join(b, node.shape); };
    return TermsOfSum(site, of_term, join, [](const AddedProducts& all) { return all.one(); }).joined();
}

// A few numbers by a matrix of a few: a sum of its rows (columns) times numbers, which what stands around it can take in, and which no kernel
// has to be called for. Of several rows by several columns a kernel is faster.
Tensor tiny_product(const Site& site) {
    constexpr std::int64_t most_made = 64, most_rows = 8, most_columns = 6;
    const Node& node = site.node;
    const Shape &a = node.inputs[0]->shape, &b = node.inputs[1]->shape;
    if (!full_width(node.dtype) || precision_of(node) != MatmulPrecision::float32 || !known(a) || !known(b)) return {};
    std::size_t n = a.size();
    std::int64_t joined = a[n - 1].value(), made = element_count(node.shape).value();
    bool by_rows = element_count(b).value() == joined * made, by_columns = element_count(a).value() == joined * made;
    if (joined < 1 || made > most_made || joined > (by_rows ? most_rows : by_columns ? most_columns : 0)) return {};
    Tensor total;
    for (std::int64_t k = 0; k < joined; ++k) {
        Shape first(n, Size(0)), second(n, Size(0)), column = a, row = b;
        first[n - 1] = second[n - 2] = k, column[n - 1] = row[n - 2] = 1;
        Tensor product = slice(site.input(0), first, column) * slice(site.input(1), second, row);
        total = total ? total + product : product;
    }
    return total;
}

}  // namespace

Rule tiny_products() {
    auto product = [](T a, T b) { return matmul(a, b); };
    return rule_at("tiny_products", Phase::canonical, {&matmul_operation}, tiny_product,
                   {.examples = {example_of_floats(product, {{2, 3}, {3, 2}}),
                                 example_of_floats(product, {{4, 2, 2}, {4, 2, 1}})}});
}

void add_contraction_rules(RuleList& rules) {
    auto add = [&](std::string name, Phase phase, std::vector<const Operation*> roots, auto apply, AtOptions options) {
        rules.push_back(rule_at(std::move(name), phase, std::move(roots), apply, std::move(options)));
    };
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    // clang-format off
    add("sum_of_products", Phase::special, {&sum_operation}, sum_of_products, {.assumes = Assumes::finite, .examples = {
        with([](T a, T b) { return sum(expand_dims(a, 2) * expand_dims(b, 0), 1); }, {{3, 4}, {4, 5}}), with([](T a, T b) { return sum(expand_dims(a, 1) * b, {0, 2}); }, {{3, 4, 2}, {5, 4, 1}}),
        with([](T a, T b) { return sum(square(expand_dims(a, 0) * expand_dims(b, 1)), 2); }, {{3, 4}, {5, 4}})}});
    add("outer_product", Phase::canonical, {&matmul_operation}, outer_product, {.examples = {with([](T a, T b) { return matmul(a, b); }, {{3, 1}, {1, 4}})}});
    add("inner_products", Phase::canonical, {&matmul_operation}, inner_products, {.examples = {with([](T a, T b) { return matmul(a, b); }, {{5, 1, 4}, {5, 4, 1}})}});
    add("number_out_of_matmul", Phase::canonical, {&matmul_operation}, number_out_of_matmul, {.assumes = Assumes::finite, .examples = {
        with([](T a, T b) { return matmul(a * 3, b); }, {{3, 4}, {4, 2}}), with([](T a, T b) { return matmul(a, -b); }, {{3, 4}, {4, 2}})}});
    add("sum_of_batches", Phase::special, {&sum_operation}, sum_of_batches, {.assumes = Assumes::finite, .examples = {
        with([](T a, T b) { return sum(matmul(matrix_transpose(a), b), 0); }, {{3, 4, 2}, {3, 4, 5}}), with([](T a, T b) { return sum(matmul(a, b), {0, 2}, true); }, {{3, 2, 4, 5, 2}, {3, 2, 4, 2, 6}}),
        with([](T a, T b) { return sum(matmul(matrix_transpose(permute_dims(a, {1, 0, 2})), b), 0); }, {{4, 3, 2}, {3, 4, 5}})}});
    add("sum_of_two_products", Phase::special, {&add_operation}, sum_of_two_products, {.assumes = Assumes::finite, .examples = {
        with([](T a, T b, T c, T d) { return matmul(a, b) + matmul(c, d); }, {{6, 2}, {2, 6}, {6, 3}, {3, 6}}),
        with([](T a, T b, T c, T d, T e, T f) { return matmul(a.T(), b) + matmul(c.T(), d) + matmul(e.T(), f); }, {{2, 6}, {2, 6}, {3, 6}, {3, 6}, {2, 6}, {2, 6}})}, .needs = {{{&matmul_operation}}}});
    // clang-format on
}

}  // namespace weft
