// First values: bounds, deviations and structure that the papers ask for.
#include "weft/nn/initialize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "message.h"
#include "weft/ops/random.h"

namespace weft::nn::init {
namespace {

std::vector<double> numbers(const Tensor& x) { return x.astype(DType::float64).to_vector<double>(); }

double deviation(const std::vector<double>& x) {
    double sum = 0;
    for (double v : x) sum += v * v;
    return std::sqrt(sum / static_cast<double>(x.size()));
}

TEST(Fan, counts_inputs_and_outputs_with_the_kernel) {
    EXPECT_EQ(fan_of({10, 20}).in, 20);
    EXPECT_EQ(fan_of({10, 20}).out, 10);
    EXPECT_EQ(fan_of({10, 20, 3, 2}).in, 120);
    EXPECT_EQ(fan_of({10, 20, 3, 2}).out, 60);
    EXPECT_EQ(message<ShapeError>([] { fan_of({3}); }),
              "init::fan_of: the shape (3,) has fewer than two axes; a weight is (outputs, inputs, kernel...)");
}

// The deviation of a sample of n numbers strays from the true one by about 1/sqrt(2n) of it: five times that is allowed.
TEST(Initialize, deviations_are_those_of_the_papers) {
    Dims shape = {200, 300};
    double slack = 5 / std::sqrt(2.0 * 200 * 300);
    auto near = [&](const Tensor& x, double expected) { EXPECT_NEAR(deviation(numbers(x)) / expected, 1, slack); };
    near(xavier_uniform(shape, 2, random::key(1)), 2 * std::sqrt(2.0 / 500));
    near(xavier_normal(shape, 1, random::key(2)), std::sqrt(2.0 / 500));
    near(kaiming_uniform(shape, gain("relu"), random::key(3)), std::sqrt(2.0 / 300));
    near(kaiming_normal(shape, gain("linear"), random::key(4)), std::sqrt(1.0 / 300));
    near(normal(shape, 0, 3, random::key(5)), 3);
    near(uniform(shape, -1, 1, random::key(6)), 1 / std::sqrt(3.0));
}

TEST(Initialize, orthogonal_rows_or_columns_are_orthonormal) {
    for (Dims shape : {Dims{5, 12}, Dims{12, 5}, Dims{4, 2, 3}}) {
        std::vector<double> w = numbers(orthogonal(shape, 2, random::key(9), DType::float64));
        auto rows = static_cast<std::size_t>(shape[0]), columns = w.size() / rows;
        bool tall = rows > columns;
        std::size_t m = std::min(rows, columns), n = std::max(rows, columns);
        auto at = [&](std::size_t i, std::size_t k) { return tall ? w[k * columns + i] : w[i * columns + k]; };
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < m; ++j) {
                double dot = 0;
                for (std::size_t k = 0; k < n; ++k) dot += at(i, k) * at(j, k);
                EXPECT_NEAR(dot, i == j ? 4 : 0, 1e-12);
            }
        }
    }
}

TEST(Initialize, sparse_leaves_so_many_inputs_an_output) {
    std::vector<double> w = numbers(sparse({20, 50}, 15, 0.5, random::key(3)));
    bool same_places = true;
    for (std::size_t i = 0; i < 20; ++i) {
        int inputs = 0;
        for (std::size_t j = 0; j < 50; ++j) {
            inputs += w[i * 50 + j] != 0;
            same_places = same_places && (w[i * 50 + j] != 0) == (w[j] != 0);
        }
        EXPECT_EQ(inputs, 15);
    }
    EXPECT_FALSE(same_places);
    EXPECT_EQ(message<ValueError>([] {
                  sparse({2, 3}, 4);
              }),
              "init::sparse: 4 inputs an output are asked for, but each has 3");
}

TEST(Initialize, truncated_normal_stays_inside) {
    for (double v : numbers(truncated_normal({1000}, 1, 2, 0, 2, random::key(4)))) {
        EXPECT_GE(v, 0);
        EXPECT_LE(v, 2);
    }
}

TEST(Gain, refuses_names_that_it_does_not_know) {
    EXPECT_EQ(message<ValueError>([] { gain("rellu"); }),
              "init::gain: no gain is known for 'rellu'; did you mean 'relu'?");
}

}  // namespace
}  // namespace weft::nn::init
