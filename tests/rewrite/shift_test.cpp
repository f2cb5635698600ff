// Biases and running statistics behind products: a scale and a shift, where that loses no digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "rewrite/forms.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

/// Elementwise operations on as many values as the result has.
std::ptrdiff_t whole_operations(const Tensor& tensor) {
    Graph graph = rewritten_graph({&tensor, 1});
    return std::count_if(graph.entries.begin(), graph.entries.end(), [&](const Graph::Entry& entry) {
        return entry.node->operation->family == Family::elementwise && entry.node->shape == tensor.shape();
    });
}

/// As a bias and a normalisation by running statistics are.
Tensor normalised(const Tensor& x, const Shape& along) {
    auto of = [&](const char* name) { return reshape(doubles(name, {16}), along); };
    return (x + of("bias") - of("mean")) * rsqrt(square(of("variance")) + 0.5) * of("weight") + of("shift");
}

TEST(Shift, behind_products_a_bias_and_a_normalisation_are_two_operations) {
    Tensor x = doubles("x", {8, 3, 9, 9}), w = doubles("w", {16, 3, 2, 2});
    std::vector<Tensor> all{
        normalised(conv2d(x, w), {16, 1, 1}),
        normalised(matmul(doubles("rows", {64, 5}), doubles("matrix", {5, 16})), {16}),
        normalised(reshape(matmul(doubles("rows", {64, 5}), doubles("matrix", {5, 16})), {8, 8, 16}), {16}),
        normalised(conv_transpose2d(x, doubles("w", {3, 16, 2, 2})), {1, 16, 1, 1})};
    for (const Tensor& y : all) EXPECT_EQ(whole_operations(y), 2);
    Tensor taken_from = 3.0 - doubles("c", {16}) +
                        (matmul(doubles("rows", {64, 5}), doubles("matrix", {5, 16})) * doubles("d", {16}) - 2.0);
    EXPECT_EQ(whole_operations(taken_from), 2);
    all.push_back(taken_from);
    expect_values(all);
}

TEST(Shift, of_what_may_be_exact_the_digits_are_kept) {
    Tensor years = Tensor::of<float>({2020, 2021, 2022, 2023}), mean = Tensor::of<float>({2021.5F});
    Tensor wide = broadcast_to(reshape(years, {4, 1}), {4, 512}) + 0.0F;
    Tensor x(interpret({&wide, 1})[0]);
    Tensor scale = astype(doubles("scale", {512}), DType::float32),
           shift = astype(doubles("shift", {512}), DType::float32);
    Tensor scaled = (x - mean) * scale + shift;
    // A product beside it, without which the rule is not tried.
    Tensor product = matmul(doubles("rows", {64, 5}), doubles("matrix", {5, 16}));
    std::vector<Tensor> both{scaled, product}, now = rewritten(both);
    EXPECT_EQ(difference(interpret(both)[0], interpret(std::span<const Tensor>(now))[0], 0, 0), "");
    EXPECT_EQ(whole_operations(normalised(sin(product), {16})), 6);
}

TEST(Shift, stays_where_nothing_is_saved) {
    Tensor product = matmul(doubles("rows", {64, 5}), doubles("matrix", {5, 16}));
    // A row and a column are a matrix; two operations are two; few numbers take no time.
    Tensor matrix = (product + doubles("row", {16})) * doubles("column", {64, 1}) + doubles("row", {16});
    EXPECT_EQ(whole_operations(matrix), 3);
    EXPECT_EQ(whole_operations((product + doubles("row", {16})) * doubles("scale", {16})), 2);
    Tensor few = matmul(doubles("rows", {4, 5}), doubles("matrix", {5, 16}));
    EXPECT_EQ(whole_operations(normalised(few, {16})), 5);
    // What others read is there anyway.
    Tensor shifted = product + doubles("row", {16}), y = shifted * doubles("scale", {16}) + doubles("shift", {16});
    EXPECT_EQ(whole_operations(y + shifted), 4);
}

TEST(Shift, gradients_are_those_of_what_was_written) {
    Tensor x = doubles("rows", {64, 5}), w = doubles("matrix", {5, 16}), b = doubles("bias", {16});
    Tensor y = normalised(matmul(x, w) + b, {16});
    std::vector<Tensor> all = gradient(sum(sin(y)), {x, w, b});
    all.push_back(y);
    expect_values(all);
}

/// Numbers stand outermost in products, and factors that all terms share are many: no rule undoes what another did.
TEST(Shift, any_chain_behind_a_product_comes_to_an_end) {
    std::mt19937 generator(11);
    auto below = [&](std::size_t count) { return static_cast<std::size_t>(generator() % count); };
    for (int round = 0; round < 500; ++round) {
        Tensor product = matmul(doubles("rows", {64, 5}), doubles("matrix", {5, 16}));
        std::vector<Tensor> operands{doubles("a", {16}),
                                     doubles("b", {1, 16}),
                                     doubles("c", {64, 1}),
                                     doubles("d", {}),
                                     constant(1.4142135, DType::float64),
                                     constant(0.5, DType::float64)};
        operands.push_back(rsqrt(square(operands[0]) + 1.0) * operands[1]);  // which several read
        operands.push_back(operands[0] - operands[1]);
        Tensor y = below(3) == 0 ? 1.4142135 * product : product;
        std::string chain;
        for (std::size_t i = 0, length = 2 + below(7); i < length; ++i) {
            const Tensor& by = operands[below(operands.size())];
            std::size_t kind = below(6);
            y = kind == 0   ? y + by
                : kind == 1 ? by + y
                : kind == 2 ? y - by
                : kind == 3 ? y * by
                : kind == 4 ? by * y
                            : y / (by * by + 0.5);
            chain += text(kind, " ");
        }
        SCOPED_TRACE(chain);
        std::vector<Tensor> all{y, below(2) == 0 ? exp(-square(y)) : y + operands[0]};
        std::vector<Array> wanted = interpret(all), got = interpret(std::span<const Tensor>(rewritten(all)));
        for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(difference(wanted[i], got[i], 1e-9, 1e-9), "") << round;
    }
}

}  // namespace
}  // namespace weft
