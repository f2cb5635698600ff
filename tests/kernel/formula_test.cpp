#include "weft/kernel/formula.h"

#include <gtest/gtest.h>

#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

/// The formula of an expression of x and y.
template <class F>
std::string formula_of(F body, DType dtype = DType::float64) {
    ProgramBuilder builder;
    Scalar x = builder.input(dtype), y = builder.input(dtype);
    builder.output(body(x, y));
    const std::vector<std::string> names{"x", "y"};
    return formula(builder.take(), names);
}
#define FORMULA(expression) formula_of([](Scalar x, Scalar y) { return static_cast<void>(y), expression; })

TEST(Formula, parentheses_stand_where_the_value_would_be_another_without_them) {
    EXPECT_EQ(FORMULA((x + y) * x), "(x + y) * x");
    EXPECT_EQ(FORMULA(x + y * x), "x + y * x");
    EXPECT_EQ(FORMULA(x - (y - x)), "x - (y - x)");
    EXPECT_EQ(FORMULA(x - y - 1), "x - y - 1");
    EXPECT_EQ(FORMULA(x / (y * x)), "x / (y * x)");
    EXPECT_EQ(FORMULA(-(x + y)), "-(x + y)");
    EXPECT_EQ(FORMULA(-x * y), "-x * y");
    EXPECT_EQ(FORMULA(fma(x, y, x)), "x * y + x");
}

TEST(Formula, comparisons_are_looser_than_what_joins_them) {
    EXPECT_EQ(FORMULA(select((0 < x) & (x < y), 1, 0)), "where((0 < x) & (x < y), 1, 0)");
    EXPECT_EQ(FORMULA(select((x == y) == (y == x), x, y)), "where((x == y) == (y == x), x, y)");
}

TEST(Formula, functions_are_called_by_name) {
    EXPECT_EQ(FORMULA(exp(x) + sqrt(abs(y))), "exp(x) + sqrt(abs(y))");
    EXPECT_EQ(FORMULA(min(x, max(y, 0.5))), "min(x, max(y, 0.5))");
    EXPECT_EQ(formula_of([](Scalar x, Scalar y) { return ~x | (y << 1); }, DType::int64), "~x | y << 1");
}

TEST(Formula, a_long_value_that_is_used_twice_gets_a_name) {
    EXPECT_EQ(FORMULA(exp(x * x + y) * (1 - exp(x * x + y))), "u * (1 - u) where u = exp(x * x + y)");
    EXPECT_EQ(FORMULA((x + 1) * (x + 1)), "(x + 1) * (x + 1)");
    EXPECT_EQ(FORMULA(log(exp(x * y) + 1) * log(exp(x * y) + 1) + exp(x * y)),
              "u * u + v where u = log(v + 1), v = exp(x * y)");
}

}  // namespace
}  // namespace weft
