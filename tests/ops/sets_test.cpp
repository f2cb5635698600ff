// Distinct elements, with and without where they stand.
#include "weft/ops/sets.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "weft/ops/creation.h"

namespace weft {
namespace {

std::vector<std::uint32_t> bits_of(const Tensor& x) {
    std::vector<std::uint32_t> bits;
    for (float number : x.to_vector<float>()) bits.push_back(std::bit_cast<std::uint32_t>(number));
    return bits;
}

TEST(Sets, distinct_values_alone_are_those_that_come_with_places_to_the_bit) {
    float nan = std::numeric_limits<float>::quiet_NaN(), other = -nan;
    for (std::vector<float> numbers : {std::vector<float>{},
                                       {2},
                                       {-0.0f, 1, 0, -0.0f, nan, 1, other, -3, nan},
                                       {0, -0.0f},
                                       {nan, nan},
                                       {1, 1, 1},
                                       {5, 4, 4, 2}}) {
        Tensor x = Tensor::of(numbers, {static_cast<std::int64_t>(numbers.size())});
        for (bool equal_nan : {false, true})
            EXPECT_EQ(bits_of(unique_values(x, UniqueOptions{equal_nan})),
                      bits_of(unique(x, UniqueOptions{equal_nan}).values));
    }
    EXPECT_EQ(unique_values(Tensor::of<std::int64_t>({3, 1, 3, 2}, {2, 2})).to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(unique_values(Tensor::of<bool>({true, false, true})).to_vector<bool>(), (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace weft
