#include "weft/ops/formula.h"

#include <gtest/gtest.h>

#include "weft/ops/elementwise.h"

namespace weft {
namespace {

using Formulas = std::vector<std::string>;

TEST(RecordFormula, value_and_partials_are_those_of_the_record) {
    EXPECT_EQ(value_formula(tanh_operation), "tanh(x)");
    EXPECT_EQ(partial_formulas(tanh_operation), (Formulas{"1 - y * y"}));
    EXPECT_EQ(value_formula(divide_operation), "x1 / x2");
    EXPECT_EQ(partial_formulas(divide_operation), (Formulas{"1 / x2", "-y / x2"}));
    EXPECT_EQ(partial_formulas(where_operation), (Formulas{"0", "where(x1, 1, 0)", "where(x1, 0, 1)"}));
    EXPECT_EQ(value_formula(imag_operation), "imag(x)");
    EXPECT_EQ(value_formula(bitwise_xor_operation), "x1 ^ x2");
    EXPECT_EQ(partial_formulas(gelu_operation), (Formulas{"gelu_slope(x)"}));
    EXPECT_EQ(partial_formulas(silu_operation), Formulas{});
}

TEST(RecordFormula, every_elementwise_record_can_be_asked) {
    int records = 0, too_long = 0;  // some special functions fill a page
    for (const Operation* operation : all_operations()) {
        if (operation->family != Family::elementwise || operation == &astype_operation) continue;
        ++records;
        if (value_formula(*operation).empty()) ++too_long;
        EXPECT_EQ(partial_formulas(*operation).size(), operation->partials.size()) << operation->name;
    }
    EXPECT_LT(10 * too_long, records);
}

}  // namespace
}  // namespace weft
