// The operation matrix: every operation that is registered x every check that applies to it. A new operation is a new row by itself.
#include <gtest/gtest.h>

#include "weft/check/cases.h"
#include "weft/check/check.h"

namespace weft {
namespace {

using Field = std::pair<const Operation*, const Check*>;

// Evaluated when tests are registered, after every operation has been.
std::vector<Field> all_fields() {
    std::vector<Field> fields;
    for (const Operation* operation : all_operations()) {
        for (const Check& check : all_checks()) {
            if (check.applies(*operation)) fields.emplace_back(operation, &check);
        }
    }
    return fields;
}

class Matrix : public testing::TestWithParam<Field> {};

TEST_P(Matrix, holds) {
    auto [operation, check] = GetParam();
    for (const std::string& failure : check->run(*operation)) ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(, Matrix, testing::ValuesIn(all_fields()), [](const testing::TestParamInfo<Field>& info) {
    return text(info.param.first->name, "__", info.param.second->name);
});

TEST(Registry, every_operation_can_be_checked_and_says_what_it_is) {
    for (const Operation* operation : all_operations()) {
        EXPECT_FALSE(operation->doc.empty()) << operation->name;
        EXPECT_FALSE(samples_of(*operation, Shapes::layouts).empty())
            << operation->name << " has neither a body nor samples";
    }
}

TEST(Registry, has_the_operations_that_the_spine_promises) { EXPECT_GE(all_operations().size(), 120u); }

}  // namespace
}  // namespace weft
