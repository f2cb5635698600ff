// Arithmetic inside ${...}: Python's values for the same text, and what is refused.
#include "weft/train/expression.h"

#include <gtest/gtest.h>

#include "weft/base/error.h"

namespace weft::train {
namespace {

Json known(std::string_view name) {
    if (name == "width") return 500;
    if (name == "keep") return 0.75;
    if (name == "word") return "big";
    throw ValueError("unknown");
}
Json value(std::string_view expression) { return evaluate(expression, known); }
std::string error_of(std::string_view expression) {
    try {
        (void)value(expression);
    } catch (const ValueError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Expression, has_pythons_precedence_and_values) {
    // Each line: what python3 prints for it (with width = 500, keep = 0.75).
    const std::pair<const char*, Json> table[] = {{"1 + 2 * 3", 7},
                                                  {"(1 + 2) * 3", 9},
                                                  {"2 ** 3 ** 2", 512},
                                                  {"-2 ** 2", -4},
                                                  {"2 ** -1", 0.5},
                                                  {"7 // 2", 3},
                                                  {"-7 // 2", -4},
                                                  {"7 // -2", -4},
                                                  {"-7 % 3", 2},
                                                  {"7 % -3", -2},
                                                  {"-7.5 % 2", 0.5},
                                                  {"7 / 2", 3.5},
                                                  {"6 / 2", 3.0},
                                                  {"7.5 // 2", 3.0},
                                                  {"1 - keep", 0.25},
                                                  {"width * 2", 1000},
                                                  {"width // 3", 166},
                                                  {"2 * -3", -6},
                                                  {"- - 3", 3},
                                                  {"10 - 4 - 3", 3},
                                                  {"8 / 2 / 2", 2.0},
                                                  {"min(3, 1, 2)", 1},
                                                  {"max(width, 0.5)", 500},
                                                  {"abs(-3)", 3},
                                                  {"abs(-2.5)", 2.5},
                                                  {"round(2.5)", 2},
                                                  {"floor(-0.5)", -1},
                                                  {"ceil(width / 3)", 167},
                                                  {"sqrt(16)", 4.0},
                                                  {"1e-3 * 2", 0.002},
                                                  {"0 ** 0", 1},
                                                  {"3 ** 39", 4052555153018976267},
                                                  {"-width", -500},
                                                  {".5 + 1", 1.5},
                                                  {"exp(0)", 1.0}};
    for (const auto& [expression, expected] : table)
        EXPECT_EQ(value(expression), expected) << expression << json_text(value(expression));
}

TEST(Expression, a_name_alone_stands_for_any_value) { EXPECT_EQ(value(" word "), Json("big")); }

TEST(Expression, what_has_no_value_is_refused) {
    EXPECT_EQ(error_of("1 / 0"), "division by zero");
    EXPECT_EQ(error_of("1 // 0"), "division by zero");
    EXPECT_EQ(error_of("1.5 % 0"), "division by zero");
    EXPECT_EQ(error_of("9223372036854775807 + 1").substr(0, 38), "the result is beyond 64-bit integers; ");
    EXPECT_EQ(error_of("(-9223372036854775807 - 1) // -1").substr(0, 10), "the result");
    EXPECT_EQ(error_of("10 ** 400 * 1.0").substr(0, 10), "the result");
    EXPECT_EQ(error_of("1e308 * 10"), "the result is no finite number");
    EXPECT_EQ(error_of("sqrt(-1)"), "the result is no finite number");
    EXPECT_EQ(error_of("word + 1"), "'+' takes numbers, found the string 'big'");
    EXPECT_EQ(error_of("1 +"), "a number or a name is missing at the end");
    EXPECT_EQ(error_of("(1"), "')' is missing");
    EXPECT_EQ(error_of("1 2"), "'2' is left over; an operator is missing before it");
    EXPECT_EQ(error_of("2width"), "'2width': an operator is missing behind the number");
    EXPECT_EQ(error_of("sqrt(1, 2)"), "sqrt takes 1 argument, found 2");
    EXPECT_EQ(error_of("width; 1").substr(0, 7), "'; 1' i");
    EXPECT_EQ(error_of(std::string(5000, '(')), "nested more than 100 deep");
    EXPECT_EQ(error_of(std::string(5000, '-') + "1"), "nested more than 100 deep");
}

}  // namespace
}  // namespace weft::train
