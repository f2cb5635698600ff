#include "weft/data/digits.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "weft/base/error.h"
#include "weft/base/md5.h"
#include "weft/data/batches.h"

namespace weft::data {
namespace {

std::string_view bytes_of(const Array& array) { return {static_cast<const char*>(array.address()), array.bytes()}; }

TEST(Digits, the_same_seed_gives_the_same_bytes_on_every_machine) {
    Dataset set = digits_split(Split::train, 200, 1);
    EXPECT_EQ(md5(bytes_of(set.x)), "cd4769d0daef0bfe5c712f0a8f9f9f6c");
    EXPECT_EQ(md5(bytes_of(set.y)), "48a60cec16ba4ab1bd4f9284a6ce4752");
}

TEST(Digits, a_picture_depends_on_its_index_alone) {
    Dataset few = digits_split(Split::test, 10, 1), many = digits_split(Split::test, 50, 1);
    EXPECT_EQ(bytes_of(few.x), bytes_of(many.x).substr(0, few.x.bytes()));
    std::array<std::uint8_t, 784> pixels;
    EXPECT_EQ(draw_digit(1, Split::test, 49, pixels), many.y.data<std::int64_t>()[49]);
    EXPECT_EQ(std::memcmp(pixels.data(), many.x.data<std::uint8_t>() + 49 * 784, 784), 0);
}

TEST(Digits, splits_and_seeds_differ) {
    Dataset a = digits_split(Split::train, 20, 1);
    EXPECT_NE(bytes_of(a.x), bytes_of(digits_split(Split::test, 20, 1).x));
    EXPECT_NE(bytes_of(a.x), bytes_of(digits_split(Split::train, 20, 2).x));
}

TEST(Digits, every_digit_is_there_and_every_picture_holds_ink_within_its_border) {
    Dataset set = digits_split(Split::valid, 3000, 5);
    std::array<int, 10> count{};
    for (int i = 0; i < 3000; ++i) {
        ++count.at(static_cast<std::size_t>(set.y.data<std::int64_t>()[i]));
        const std::uint8_t* picture = set.x.data<std::uint8_t>() + i * 784;
        int dark = 0, border = 0;
        for (int p = 0; p < 784; ++p) {
            dark += picture[p] > 100;
            bool at_border = p % 28 == 0 || p % 28 == 27 || p < 28 || p >= 27 * 28;
            border += at_border && picture[p] > 170;  // a speck is fainter
        }
        EXPECT_GT(dark, 8) << i;
        EXPECT_LT(dark, 300) << i;
        EXPECT_EQ(border, 0) << i;
    }
    for (int n : count) EXPECT_NEAR(n, 300, 70);  // four deviations of a binomial count
}

TEST(Digits, come_ready_for_a_network_unless_asked_otherwise) {
    DataSplits ready = digits({.train = 30, .valid = 20, .test = 10});
    EXPECT_EQ(ready.train.x.dims, (Dims{30, 784}));
    EXPECT_EQ(ready.test.size(), 10);
    Array x = ready.train.batches(30).at(0).x;
    EXPECT_EQ(x.dtype, float32);
    for (int i = 0; i < 784; ++i)
        EXPECT_EQ(x.data<float>()[i], static_cast<float>(ready.train.x.data<std::uint8_t>()[i]) * (1.0f / 255));
    DataSplits raw = digits({.train = 30, .valid = 20, .test = 10, .flat = false, .scaled = false});
    EXPECT_EQ(raw.valid.x.dims, (Dims{20, 28, 28}));
    EXPECT_EQ(raw.train.batches(30).at(0).x.data<float>()[400],
              static_cast<float>(raw.train.x.data<std::uint8_t>()[400]));
    EXPECT_THROW((void)digits({.train = -1}), ValueError);
}

}  // namespace
}  // namespace weft::data
