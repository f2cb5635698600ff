#include "weft/ops/half_types.h"

#include <gtest/gtest.h>

#include <cmath>

#include "weft/ops/creation.h"
#include "weft/ops/nan.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft {
namespace {

float number(const Tensor& x) {
    EXPECT_EQ(x.dtype(), DType::float16);
    return x.astype(DType::float32).item<float>();
}

TEST(HalfTypes, more_numbers_than_their_largest_have_a_mean_and_a_softmax) {
    constexpr std::int64_t count = 131072;
    Tensor x = full({count}, 0.5, DType::float16);
    EXPECT_EQ(number(mean(x)), 0.5f);
    EXPECT_EQ(number(nanmean(x, {0}, false)), 0.5f);
    EXPECT_EQ(number(var(x)), 0.0f);
    EXPECT_EQ(number(max(softmax(x, 0))), 0x1p-17f);
    EXPECT_NEAR(number(min(log_softmax(x, 0))), -std::log(131072.0f), 0.01f);
    EXPECT_NEAR(number(logsumexp(x, {0}, false)), 0.5f + std::log(131072.0f), 0.01f);
    EXPECT_NEAR(number(logsumexp(x, {0}, x, false).log), 0.5f + std::log(65536.0f), 0.01f);
    EXPECT_EQ(number(average(x, {0}, x, false)), 0.5f);
    EXPECT_EQ(number(cov(x, {})), 0.0f);
}

TEST(HalfTypes, sums_and_squares_beyond_their_largest_make_no_mean_or_deviation_infinite) {
    Tensor x = Tensor::of<float>({-1000, 1000, -1000, 1000}).astype(DType::float16);
    EXPECT_EQ(number(standard_deviation(x, {0}, 0, false)), 1000.0f);
    EXPECT_EQ(number(nanstd(x, {0}, 0, false)), 1000.0f);
    EXPECT_EQ(number(mean(full({100}, 60000, DType::float16))), 60000.0f);
}

}  // namespace
}  // namespace weft
