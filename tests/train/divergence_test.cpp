// Whether a loss stopped being finite, as a log shows it.
#include "weft/train/divergence.h"

#include <gtest/gtest.h>

namespace weft::train {
namespace {

std::vector<Json> lines_of(std::initializer_list<const char*> all) {
    std::vector<Json> lines;
    for (const char* line : all) lines.push_back(parse_json(line));
    return lines;
}

TEST(Divergence, is_of_the_first_epoch_whose_loss_is_not_finite) {
    EXPECT_FALSE(divergence_in(
        lines_of({R"({"epoch": 1, "train.loss": 2})", R"({"final": true, "epoch": 1, "test.loss": 2})"})));
    EXPECT_FALSE(divergence_in({}));
    auto found = divergence_in(
        lines_of({R"({"epoch": 1, "train.loss": 2})", R"({"epoch": 2, "train.loss": "NaN"})",
                  R"({"epoch": 3, "train.loss": "NaN"})", R"({"final": true, "epoch": 3, "train.loss": "NaN"})"}));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->said.find("train.loss is not finite from epoch 2 on"), 0u) << found->said;
    EXPECT_FALSE(found->kept_finite);
    // The final line may have no loss: then it is the kept epoch's own that counts.
    found = divergence_in(
        lines_of({R"({"epoch": 1, "train.loss": "NaN"})", R"({"final": true, "epoch": 1, "valid.error": 0.5})"}));
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->kept_finite);
}

TEST(Divergence, leaves_a_best_model_from_before_as_good_as_it_was) {
    auto found =
        divergence_in(lines_of({R"({"epoch": 1, "train.loss": 2})", R"({"epoch": 2, "train.loss": "Infinity"})",
                                R"({"final": true, "epoch": 1, "valid.loss": 2})"}));
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->kept_finite);
    EXPECT_NE(found->said.find("the model that is kept, of epoch 1, is finite"), std::string::npos) << found->said;
}

}  // namespace
}  // namespace weft::train
