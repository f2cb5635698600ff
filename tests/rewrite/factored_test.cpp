// Sums down columns without their factors: those of a batch normalisation's gradient meet, along rows all stays as it is written.
#include <gtest/gtest.h>

#include <algorithm>

#include "rewrite/forms.h"
#include "weft/autodiff/derivative.h"
#include "weft/graph/graph.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// Sums of as many values as `whole` holds, after all rules, or all but one.
std::ptrdiff_t sums_over(const Shape& whole, std::span<const Tensor> tensors, RewriteOptions options = {}) {
    std::vector<Tensor> now = rewritten(tensors, options);
    std::vector<Node*> outputs;
    for (const Tensor& tensor : now) outputs.push_back(tensor.node());
    Graph graph = gather(outputs);
    return std::count_if(graph.entries.begin(), graph.entries.end(), [&](const Graph::Entry& entry) {
        return entry.node->operation == &sum_operation && entry.node->inputs[0]->shape == whole;
    });
}

/// relu(w (x - mean) / deviation + b) along `axes`, its value and its gradients by x, w and b.
std::vector<Tensor> normalised(const Tensor& x, const Tensor& w, const Tensor& b, const Axes& axes) {
    Tensor centred = x - mean(x, axes, true);
    Tensor y = maximum(centred * rsqrt(mean(centred * centred, axes, true) + 1e-5) * w + b, 0);
    std::vector<Tensor> all = gradient(sum(y * doubles("cotangent", {3, 4, 5, 2})), {x, w, b});
    all.push_back(y);
    return all;
}

TEST(Factored, a_batch_normalisation_with_its_gradient_sums_four_times) {
    Tensor x = doubles("x", {3, 4, 5, 2}), w = doubles("w", {4, 1, 1}), b = doubles("b", {4, 1, 1});
    std::vector<Tensor> all = normalised(x, w, b, {0, 2, 3});
    EXPECT_EQ(sums_over({3, 4, 5, 2}, all), 4);
    EXPECT_EQ(sums_over({3, 4, 5, 2}, all, {.exclude = {"sum_without_centred"}}), 5);
    EXPECT_EQ(sums_over({3, 4, 5, 2}, all, {.exclude = {"factor_out_of_sum"}}), 6);
    expect_values(all);
}

TEST(Factored, along_rows_sums_are_as_they_were_written) {
    Tensor x = doubles("x", {3, 4, 5, 2}), w = doubles("w", {2}), b = doubles("b", {2});
    std::vector<Tensor> all = normalised(x, w, b, {3});
    EXPECT_EQ(sums_over({3, 4, 5, 2}, all), sums_over({3, 4, 5, 2}, all, {.exclude = {"sum_without_centred"}}));
    expect_values(all);
}

TEST(Factored, what_a_centred_value_is_less_of_keeps_its_sign) {
    Tensor x = doubles("x", {3, 4}), y = doubles("y", {3, 4}), c = doubles("c", {4});
    std::vector<Tensor> all{sum((x - mean(x, 0)) * c - y, 0), sum(y - c * (x - mean(x, 0)), 0),
                            sum(y + (x - sum(x, 0) / 3.0), 0)};
    EXPECT_EQ(sums_over({3, 4}, all), 1);
    expect_values(all);
}

TEST(Factored, what_is_centred_otherwise_is_summed) {
    Tensor x = doubles("x", {3, 4}), y = doubles("y", {3, 4});
    std::vector<Tensor> all{sum(y + (x - mean(x, 1, true)), 0), sum(y + (x - mean(y, 0)), 0),
                            sum(y + (x - sum(x, 0) / 4.0), 0), sum(y + (mean(x, 0) - x), 0)};
    expect_values(all);
}

// The mean of places and columns is one of each row, and is taken from each column, of which there are as many.
TEST(Factored, what_is_centred_along_another_axis_is_summed) {
    Tensor x = doubles("x", {3, 4, 4}), y = doubles("y", {3, 4, 4});
    std::vector<Tensor> all{sum(y + (x - mean(x, {0, 2})), {0, 2}),
                            sum(y + (x - reshape(mean(x, {0, 2}), {1, 1, 4})), {0, 2}),
                            sum(y - (x - reshape(mean(x, {0, 2}), {1, 4, 1})), {0, 2})};
    EXPECT_EQ(sums_over({3, 4, 4}, all), 4);
    expect_values(all);
}

// Each is the product of the two before it: as many paths as the sixtieth of Fibonacci's numbers.
TEST(Factored, products_of_many_paths_and_long_ones_are_looked_at_in_part) {
    Tensor a = doubles("a", {3, 4}), b = doubles("b", {3, 4}), c = doubles("c", {4});
    for (int i = 0; i < 60; ++i) a = std::exchange(b, a * b * 1.5);
    Tensor chain = a;
    for (int i = 0; i < 5000; ++i) chain = chain * a + c;
    std::vector<Tensor> all{sum(b * c, 0), sum(chain * c, 0)};
    EXPECT_EQ(rewritten(all).size(), 2u);
}

}  // namespace
}  // namespace weft
