// What is wrong with the values of data is found by set, row and value, whatever their type.
#include "weft/train/data_checks.h"

#include <gtest/gtest.h>

#include "weft/base/error.h"

namespace weft::train {
namespace {

template <class T>
data::Dataset set_of(const std::vector<T>& labels, Dims dims = {}) {
    if (dims.empty()) dims = {static_cast<std::int64_t>(labels.size())};
    return data::arrays(Array::zeros(DType::float32, {dims[0], 2}), Array::from(labels, dims));
}

std::string error_of(const LabelRule& rule, const data::Dataset& set) {
    try {
        check_labels(rule, "valid", set);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

LabelRule three_classes(std::optional<std::int64_t> missing = {}) {
    LabelRule rule{"cross_entropy", {}, ""};
    rule.classes = 3, rule.missing = missing;
    return rule;
}

TEST(Labels, that_have_a_score_or_say_that_there_is_none_pass) {
    EXPECT_EQ(error_of(three_classes(), set_of<std::int64_t>({0, 1, 2})), "");
    EXPECT_EQ(error_of(three_classes(), set_of<std::uint8_t>({0, 1, 2})), "");
    EXPECT_EQ(error_of(three_classes(-1), set_of<std::int64_t>({0, -1, 2})), "");
}

TEST(Labels, without_a_score_are_refused_by_set_row_and_value) {
    EXPECT_EQ(
        error_of(three_classes(), set_of<std::int64_t>({0, 2, -1})),
        "cross_entropy: row 2 of 'valid' (the first is 0) has the label -1; labels are 0 to 2: mend the data, let the "
        "last layer give a score for each class, or write `missing: -1` to leave such examples out");
    EXPECT_NE(error_of(three_classes(-1), set_of<std::int64_t>({0, -1, -7}))
                  .find("row 2 of 'valid' (the first is 0) has the label -7; labels are 0 to 2, or -1 for none"),
              std::string::npos);
    EXPECT_NE(error_of(three_classes(), set_of<std::uint8_t>({0, 200})).find("the label 200"), std::string::npos);
    EXPECT_NE(error_of(three_classes(), set_of<std::int64_t>({0, 1, 2, 70000}, {2, 2})).find("row 1 of"),
              std::string::npos);
    EXPECT_NE(error_of(three_classes(), set_of<float>({0, 1})).find("the targets of 'valid' are of float32"),
              std::string::npos);
}

TEST(Labels, of_what_stands_behind_a_sequence_are_not_looked_at) {
    data::Dataset set = set_of<std::int64_t>({0, 1, 2, 9}, {2, 2});
    set.lengths = Array::from(std::vector<std::int64_t>{2, 1}, {2});
    EXPECT_EQ(error_of(three_classes(), set), "");
    set.lengths = Array::from(std::vector<std::int64_t>{2, 2}, {2});
    EXPECT_NE(error_of(three_classes(), set).find("row 1 of 'valid' (the first is 0) has the label 9"),
              std::string::npos);
}

TEST(Labels, of_a_field_are_found_by_its_name) {
    data::Dataset set = set_of<std::int64_t>({0, 1});
    data::Field digit{"digit", true, {}};
    digit.data.x = Array::from(std::vector<std::int64_t>{4, 1}, {2});
    set.fields.push_back(digit);
    LabelRule rule = three_classes();
    EXPECT_EQ(error_of(rule, set), "");
    rule.target = "digit";
    EXPECT_NE(error_of(rule, set).find("the label 4 in 'digit'"), std::string::npos);
}

}  // namespace
}  // namespace weft::train
