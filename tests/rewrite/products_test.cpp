// Products of matrices after rewriting: of picked rows, of batches and steps that are summed; how many there are, of what sizes, and the
// same values as without rewriting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "message.h"
#include "rewrite/forms.h"
#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scatter.h"
#include "weft/ops/view.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

struct Found {
    int products = 0, sums = 0, joins = 0, scatters = 0;
    std::int64_t most_rows = 0, most_inner = 0;  // of the products
    std::int64_t most_multiplied = 0;            // numbers, one by one
};

Found found_in(std::span<const Tensor> tensors) {
    std::vector<Tensor> now = rewritten(tensors);
    std::vector<Node*> nodes;
    for (const Tensor& tensor : now) nodes.push_back(tensor.node());
    Found found;
    for (const Graph::Entry& entry : gather(nodes).entries) {
        if (entry.leaf) continue;
        const Node& node = *entry.node;
        found.sums += node.operation->name == "sum";
        found.joins += node.operation->name == "concatenate";
        found.scatters += node.operation->name == "scatter";
        if (node.operation == &multiply_operation)
            found.most_multiplied = std::max(found.most_multiplied, element_count(node.shape).value());
        if (node.operation != &matmul_operation) continue;
        const Shape& a = node.inputs[0]->shape;
        ++found.products;
        found.most_rows = std::max(found.most_rows, a[a.size() - 2].value());
        found.most_inner = std::max(found.most_inner, a[a.size() - 1].value());
    }
    return found;
}
Found found_in(const Tensor& tensor) { return found_in({&tensor, 1}); }

Tensor drawn(const Dims& dims, int seed, DType dtype = DType::float64) {
    return Tensor(Draw(text("products ", seed)).array(dtype, dims));
}

const Tensor& picks() {  // of 4 rows, 5 x 3 times; from the end as well
    static const Tensor indices = Tensor::of<std::int64_t>({1, 0, 3, 3, -1, 2, 0, 0, 1, -4, 2, 2, 3, 1, 0}, {5, 3});
    return indices;
}

TEST(ProductsOfPicked, come_before_rows_are_picked_where_there_are_fewer) {
    Tensor e = drawn({4, 6}, 1), w = drawn({6, 7}, 2);
    for (const Tensor& x : {take(e, picks()), swapaxes(take(e, picks()), 0, 1), reshape(take(e, picks()), {15, 6})}) {
        Tensor y = matmul(x, w);
        EXPECT_EQ(found_in(y).most_rows, 4) << x.shape();
        expect_values({&y, 1});
    }
    Tensor few = matmul(take(e, slice(reshape(picks(), {15}), {0}, {7})), w);
    EXPECT_EQ(found_in(few).most_rows, 7);
}

TEST(ProductsOfPicked, follow_their_axes_round) {
    Tensor e = drawn({4, 6}, 1), w = drawn({6, 7}, 2), c = drawn({5, 2, 3, 7}, 3);
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < 30; ++i) numbers.push_back(i * i % 4);
    Tensor indices = Tensor::of(numbers, {2, 3, 5});
    Tensor y = matmul(permute_dims(take(e, indices), {2, 0, 1, 3}), w);  // no permutation that is its own inverse
    EXPECT_EQ(found_in(y).most_rows, 4);
    std::vector<Tensor> slopes = gradient(sum(c * tanh(y)), {e, w});
    EXPECT_LE(found_in(slopes).most_inner, 7);
    slopes.push_back(y);
    expect_values(slopes);
}

TEST(ProductsOfPicked, have_derivatives_of_the_rows_alone) {
    Tensor e = drawn({4, 6}, 1), w = drawn({7, 6}, 2), c = drawn({3, 5, 7}, 3);
    Tensor loss = sum(c * tanh(matmul(swapaxes(take(e, picks()), 0, 1), w.T())));
    std::vector<Tensor> slopes = gradient(loss, {e, w});
    Found found = found_in(slopes);
    EXPECT_LE(found.most_rows, 7);
    EXPECT_LE(found.most_inner, 7);  // nowhere the 15 that were picked
    EXPECT_EQ(found.scatters, 1);    // of what both need
    expect_values(slopes);
}

TEST(ProductsOfPicked, have_derivatives_of_the_rows_alone_where_numbers_multiply_them) {
    Tensor e = drawn({4, 6}, 1), w = drawn({6, 7}, 2), c = drawn({5, 3, 7}, 3), m = drawn({4, 6}, 4);
    Tensor slope = gradient(sum(c * tanh(matmul(take(e, picks()), w))), e);
    std::vector<Tensor> averages{0.9 * m + 0.1 * slope, 0.001 * square(slope), -slope};
    Found found = found_in(averages);
    EXPECT_LE(found.most_rows, 7);  // nowhere the 15 that were picked
    EXPECT_EQ(found.scatters, 1);   // for all three
    expect_values(averages);
}

TEST(ScaledScatters, are_scatters_of_scaled_updates_where_nobody_else_reads_them) {
    Tensor updates = drawn({5, 3, 2}, 1), w = drawn({30, 2}, 2), v = drawn({30, 2}, 3);
    Tensor spread = scatter(zeros({30, 2}, DType::float64), picks(), updates, 0, ScatterMode::add);
    std::vector<Tensor> one{w - 0.1 * spread}, two{w - 0.1 * spread, v + square(spread)};
    EXPECT_EQ(found_in(one).most_multiplied, 30);
    EXPECT_EQ(found_in(two).most_multiplied, 60);
    EXPECT_EQ(found_in(two).scatters, 1);
    expect_values(two);
}

TEST(ScaledScatters, of_products_are_products_of_what_is_added_up) {
    Tensor a = drawn({5, 3, 7}, 1), b = drawn({7, 6}, 2), w = drawn({4, 6}, 3);
    for (const Tensor& x : {matmul(a, b), reshape(matmul(reshape(a, {15, 7}), b), {5, 3, 6})}) {
        Tensor y = w - 0.1 * scatter(zeros({4, 6}, DType::float64), picks(), x, 0, ScatterMode::add);
        EXPECT_EQ(found_in(y).most_rows, 4) << "not 15";
        expect_values({&y, 1});
    }
}

TEST(ProductsOfPicked, refuse_indices_outside_as_before) {
    Tensor e = drawn({2, 6}, 1), w = drawn({6, 7}, 2);
    Tensor wrong = Tensor::of<std::int64_t>({0, 1, 2, 0}, {4});
    Tensor y = matmul(take(e, wrong), w);
    EXPECT_THAT(message<IndexError>([&] { y.eval(); }), testing::HasSubstr("index 2 "));
    Tensor slope = gradient(sum(square(matmul(take(e, wrong), w))), w);
    EXPECT_THAT(message<IndexError>([&] { slope.eval(); }), testing::HasSubstr("index 2 "));
}

TEST(SumsOfProducts, a_dense_layers_gradient_is_one_product_whatever_the_axes) {
    Tensor w = drawn({5, 6}, 1);
    for (bool swapped : {false, true}) {
        Tensor x = drawn(swapped ? Dims{4, 3, 6} : Dims{3, 4, 6}, 2), c = drawn({3, 4, 5}, 3);
        Tensor rows = swapped ? swapaxes(x, 0, 1) : x;
        Tensor slope = gradient(sum(c * matmul(rows, w.T())), w);
        Found found = found_in(slope);
        EXPECT_EQ(found.products, 1);
        EXPECT_EQ(found.sums, 0);
        EXPECT_EQ(found.most_inner, 12);
        expect_values({&slope, 1});
    }
}

TEST(SumsOfProducts, over_some_of_the_batches_keep_the_others) {
    Tensor a = drawn({2, 3, 4, 5}, 1), b = drawn({2, 3, 5, 6}, 2);
    for (const Axes& axes : {Axes{0}, Axes{1}, Axes{0, 1}}) {
        for (bool keepdims : {false, true}) {
            Tensor y = sum(matmul(a, b), axes, keepdims);
            expect_values({&y, 1});
        }
    }
    Tensor rows = sum(matmul(a, b), {0, 2}), shared = sum(matmul(a, broadcast_to(drawn({5, 6}, 3), {2, 3, 5, 6})), 0);
    expect_values(std::vector<Tensor>{rows, shared});
}

TEST(SumsOfProducts, a_recurrent_weights_gradient_is_one_product) {
    Tensor w = drawn({8, 8}, 1), x = drawn({6, 2, 8}, 2), h = zeros({2, 8}, DType::float64);
    std::vector<Tensor> states;
    for (std::int64_t t = 0; t < 6; ++t) {
        h = tanh(matmul(h, w) + squeeze(slice(x, {t, 0, 0}, {1, 2, 8}), {0}));
        states.push_back(h);
    }
    Tensor loss = sum(square(stack(states)));
    std::vector<Tensor> slopes = gradient(loss, {w, x});
    Found found = found_in(slopes);
    EXPECT_LE(found.products, 6 + 5 + 1);  // forward, back through the steps, and the weight's
    EXPECT_GE(found.most_inner, 10);       // all steps' rows
    expect_values(slopes);
}

TEST(SumsOfProducts, large_products_are_not_copied_to_be_one) {
    Tensor y = matmul(drawn({4, 64}, 1), drawn({64, 4}, 2)) + matmul(drawn({4, 64}, 3), drawn({64, 4}, 4));
    EXPECT_EQ(found_in(y).products, 2);
    EXPECT_EQ(found_in(y).joins, 0);
}

TEST(SumsOfProducts, keep_the_precision_that_was_asked_for) {
    auto of = [](DType precision) {
        Tensor a = drawn({3, 20, 4}, 1, DType::float32), b = drawn({3, 20, 5}, 2, DType::float32);
        Tensor y = sum(matmul(matrix_transpose(a), b, precision), 0);
        std::vector<Tensor> now = rewritten({&y, 1});
        return written(*now[0].node(), 5);
    };
    EXPECT_NE(of(DType::bfloat16), of(DType::float32));
    EXPECT_EQ(of(DType::bfloat16).find("sum("), std::string::npos);
    EXPECT_NE(of(DType::bfloat16).find("bfloat16"), std::string::npos);
    Tensor a = drawn({20, 2}, 1, DType::float32), b = drawn({2, 20}, 2, DType::float32);
    EXPECT_EQ(found_in(matmul(a, b, DType::bfloat16) + matmul(a * 2, b)).products, 2);
}

TEST(Joins, a_stack_of_rows_and_a_join_of_the_same_are_one) {
    Tensor a = exp(drawn({3, 4}, 1)), b = exp(drawn({3, 4}, 2));
    std::vector<Tensor> both{stack({a, b}), concatenate({a, b})};
    EXPECT_EQ(found_in(both).joins, 1);
    expect_values(both);
}

TEST(ProductsInSteps, of_a_few_numbers_by_a_matrix_are_sums) {
    struct Shapes {
        Dims a, b;
        bool sum;
    };
    for (const Shapes& s : {Shapes{{1, 3}, {3, 5}, true}, Shapes{{4}, {4, 4}, true}, Shapes{{3, 3}, {3}, true},
                            Shapes{{1, 8}, {8, 64}, true}, Shapes{{5, 6}, {6, 1}, true}, Shapes{{1, 9}, {9, 2}, false},
                            Shapes{{7, 7}, {7}, false}, Shapes{{1, 2}, {2, 65}, false}, Shapes{{2, 2}, {2, 2}, false}})
        for (DType dtype : {DType::float64, DType::complex128, DType::int32}) {
            SCOPED_TRACE(text(s.a, " by ", s.b, ", ", dtype));
            Tensor product = matmul(drawn(s.a, 1, dtype), drawn(s.b, 2, dtype));
            std::vector<Tensor> now = rewritten({&product, 1}, step_rewriting(true));
            bool stays = false;
            Node* root = now[0].node();
            for (const Graph::Entry& entry : gather({&root, 1}).entries)
                stays |= !entry.leaf && entry.node->operation == &matmul_operation;
            EXPECT_EQ(stays, !(s.sum && dtype == DType::float64));
            EXPECT_EQ(difference(interpret(product), interpret(now[0]), 1e-12, 1e-12), "");
        }
}

}  // namespace
}  // namespace weft
