#include "weft/core/size.h"

#include <gtest/gtest.h>

#include "weft/base/error.h"
#include "weft/core/shape.h"

namespace weft {
namespace {

TEST(Size, expressions_that_are_equal_are_one) {
    Size n("n"), m("m");
    EXPECT_EQ(n + m, m + n);
    EXPECT_EQ((n + 1) * (n - 1), n * n - 1);
    EXPECT_EQ((n * m * 6) / (m * 2), n * 3);
    EXPECT_FALSE(n / 2 == n);
    EXPECT_EQ((2 * n + 3).str(), "2*n + 3");
}

TEST(Size, binds_to_numbers) {
    Size n("n");
    Size half = (n - 3) / 2 + 1;
    auto lookup = [](std::string_view) -> std::optional<std::int64_t> { return 28; };
    EXPECT_EQ(half.substitute(lookup), Size(13));
    EXPECT_THROW((void)n.value(), ShapeError);
    EXPECT_FALSE(may_equal(n, n + 1));
    EXPECT_TRUE(may_equal(n, 7));
}

TEST(Shape, broadcasts_as_numpy_does) {
    EXPECT_EQ(*broadcast({3, 1}, {4}), (Shape{3, 4}));
    EXPECT_EQ(*broadcast({"n", 1}, {1, 4}), (Shape{"n", 4}));
    EXPECT_FALSE(broadcast({3}, {4}).has_value());
    EXPECT_EQ(str(Shape{"n", 4}), "(n, 4)");
    EXPECT_EQ(str(Shape{5}), "(5,)");
}

}  // namespace
}  // namespace weft
