// Softmaxes: exponentials that nobody else reads are larger by 2^61, and what is made of them is what they would have made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <span>

#include "rewrite/forms.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;
constexpr float infinity = std::numeric_limits<float>::infinity();

std::size_t count(const Graph& graph, const Operation& operation) {
    std::size_t found = 0;
    for (const Graph::Entry& entry : graph.entries) found += entry.node->operation == &operation;
    return found;
}

TEST(Softmax, exponentials_that_nobody_else_reads_are_larger) {
    Tensor x = input("x", {3, 5}, DType::float32), most = max(x, 1, true), raised = exp(x - most);
    Tensor total = sum(raised, 1, true), result = raised / total;
    EXPECT_EQ(count(rewritten_graph(Tensors{result}), exp_raised_operation), 1u);
    EXPECT_EQ(count(rewritten_graph(Tensors{softmax(x, 0)}), exp_raised_operation), 1u);
    for (const Tensor& reader : {raised, total, log(total) + most, raised * 2})
        EXPECT_EQ(count(rewritten_graph(Tensors{result, reader}), exp_raised_operation), 0u);
    // 2^61 is beyond a half type's numbers.
    Tensor half = input("h", {3, 5}, DType::float16), power = exp(half - max(half, 1, true));
    EXPECT_EQ(count(rewritten_graph(Tensors{power / sum(power, 1, true)}), exp_raised_operation), 0u);
}

/// Of one row, in double precision but for what is taken from its numbers.
std::vector<double> softmax_of(std::span<const float> row) {
    float most = *std::max_element(row.begin(), row.end());
    double total = 0;
    std::vector<double> result;
    for (float x : row) result.push_back(std::exp(static_cast<double>(x - most))), total += result.back();
    for (double& x : result) x /= total;
    return result;
}

TEST(Softmax, of_numbers_near_and_far_is_what_it_is_in_double_precision) {
    for (std::size_t length : {5u, 64u, 100u, 300u, 1025u}) {
        std::vector<float> values(8 * length);
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::size_t row = i / length;
            float wide[] = {1, 20, 60, 100, 1e3f, 1e30f, 88, 0};
            values[i] = std::sin(static_cast<float>(i * i % 1009)) * wide[row];
            if (row == 6 && i % 3 == 0) values[i] = -infinity;
        }
        Tensor x = Tensor::of<float>(values, {8, static_cast<std::int64_t>(length)});
        std::vector<float> found = softmax(x, 1).to_vector<float>();
        for (std::size_t row = 0; row < 8; ++row) {
            std::vector<double> wanted = softmax_of(std::span(values).subspan(row * length, length));
            for (std::size_t i = 0; i < length; ++i) {
                float got = found[row * length + i];
                double want = wanted[i];
                if (want < 1e-46)
                    EXPECT_EQ(got, 0.0f) << row << ' ' << i;
                else
                    EXPECT_NEAR(got, want, 8 * 6e-8 * want + 1.5e-45) << row << ' ' << i;
            }
        }
    }
}

TEST(Softmax, rows_of_which_all_is_left_out_are_zeros_and_rows_with_nan_are_nan) {
    Tensor x = Tensor::of<float>({-infinity, -infinity, -infinity, 1, -infinity, 2, NAN, 3, 4}, {3, 3});
    Tensor most = max(x, 1, true), raised = exp(x - where(most == -infinity, 0, most)), total = sum(raised, 1, true);
    Tensor masked = raised / where(total == 0, 1, total);
    EXPECT_EQ(count(rewritten_graph(Tensors{masked}), exp_raised_operation), 1u);
    std::vector<float> found = masked.to_vector<float>();
    for (std::size_t i : {0, 1, 2, 4}) EXPECT_EQ(found[i], 0.0f) << i;
    EXPECT_NEAR(found[3], 1 / (1 + std::exp(1.0)), 1e-7);
    EXPECT_NEAR(found[5], 1 / (1 + std::exp(-1.0)), 1e-7);
    for (std::size_t i : {6, 7, 8}) EXPECT_TRUE(std::isnan(found[i])) << i;
    for (float number : softmax(x, 1).to_vector<float>() | std::views::take(3)) EXPECT_TRUE(std::isnan(number));
}

}  // namespace
}  // namespace weft
