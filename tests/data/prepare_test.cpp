#include "weft/data/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/scratch.h"
#include "weft/data/batches.h"
#include "weft/data/digits.h"

namespace weft::data {
namespace {

using testing::HasSubstr;

Preparation steps(const char* json) { return Preparation(parse_json(json, "f")); }
Dataset table(std::vector<float> values, std::int64_t columns) {
    auto rows = static_cast<std::int64_t>(values.size()) / columns;
    return arrays(Array::from(values, {rows, columns}), Array::zeros(int64, {rows}));
}
std::vector<float> numbers(const Dataset& set) {
    Array x = set.inputs();
    return {x.data<float>(), x.data<float>() + x.size()};
}

TEST(Prepare, pictures_are_scaled_and_flattened_without_leaving_bytes) {
    Preparation preparation = steps(R"([{"scale": [0, 1]}, "flatten"])");
    Dataset raw = digits_split(Split::train, 20, 1);
    preparation.fit(raw);
    Dataset ready = preparation.apply(raw), same = digits({.train = 20, .valid = 0, .test = 0}).train;
    EXPECT_EQ(ready.x.dtype, uint8);
    EXPECT_EQ(ready.x.dims, (Dims{20, 784}));
    EXPECT_EQ(numbers(ready), numbers(same));
}

TEST(Prepare, scale_is_fitted_on_the_training_data_alone) {
    Preparation preparation = steps(R"([{"scale": [-1, 1]}])");
    preparation.fit(table({2, 4, 6, 10}, 2));
    EXPECT_EQ(numbers(preparation.apply(table({2, 10, 6, 14}, 2))), (std::vector<float>{-1, 1, 0, 2}));
    Preparation constant = steps(R"([{"scale": [0, 1]}])");
    constant.fit(table({3, 3}, 1));
    EXPECT_EQ(numbers(constant.apply(table({3, 4}, 1))), (std::vector<float>{0, 1}));
}

TEST(Prepare, standardize_gives_mean_zero_and_deviation_one) {
    Preparation preparation = steps(R"(["standardize"])");
    Dataset train = table({1, 7, 5, 3, 7, 5, 5, 7}, 2);
    preparation.fit(train);
    for (int column : {0, 1}) {
        std::vector<float> out = numbers(preparation.apply(train));
        double sum = 0, squares = 0;
        for (std::size_t i = static_cast<std::size_t>(column); i < out.size(); i += 2)
            sum += out[i], squares += out[i] * out[i];
        EXPECT_NEAR(sum, 0, 1e-6);
        EXPECT_NEAR(squares / 4, 1, 1e-6);
    }
    Preparation together = steps(R"([{"standardize": {"per": "all"}}])");
    together.fit(table({1, 3}, 2));
    EXPECT_EQ(numbers(together.apply(table({1, 3, 5, 2}, 2))), (std::vector<float>{-1, 1, 3, 0}));
    Preparation constant = steps(R"(["standardize"])");
    constant.fit(table({3, 3}, 1));
    EXPECT_EQ(numbers(constant.apply(table({3, 4}, 1))), (std::vector<float>{0, 1}));
}

TEST(Prepare, state_is_saved_and_restored) {
    const char* list = R"([{"scale": [0, 1]}, "standardize", {"reshape": [1, 2]}])";
    Preparation fitted = steps(list), restored = steps(list);
    Dataset train = table({1, 7, 5, 3, 7, 5, 5, 7}, 2);
    fitted.fit(train);
    NamedState state = fitted.state();
    EXPECT_EQ(state.size(), 4u);  // also the shape that reshape met
    EXPECT_TRUE(state.count("0.scale.affine") && state.count("1.standardize.mean"));
    restored.restore(state);
    EXPECT_EQ(numbers(restored.apply(train)), numbers(fitted.apply(train)));
    EXPECT_EQ(restored.apply(train).x.dims, (Dims{4, 1, 2}));
    EXPECT_THAT(error_of([&] { steps(R"(["flatten"])").restore(state); }), HasSubstr("belongs to other steps"));
    state.erase("1.standardize.mean");
    EXPECT_THAT(error_of([&] { restored.restore(state); }), HasSubstr("no proper 'mean'"));
}

TEST(Prepare, mistakes_are_refused) {
    auto refusal = [](const char* json) { return error_of<ConfigError>([&] { (void)steps(json); }); };
    EXPECT_EQ(refusal(R"(["flaten"])"),
              "f:1:2: there is no step of preparation named 'flaten'; did you mean 'flatten'?");
    EXPECT_THAT(refusal(R"(["scale"])"), HasSubstr("f:1:2: scale takes two numbers: {scale: [0, 1]}"));
    EXPECT_THAT(refusal(R"([{"scale": [1, 0]}])"), HasSubstr("f:1:12: scale: the first number is the smaller one"));
    EXPECT_THAT(refusal(R"([{"reshape": [0]}])"), HasSubstr("f:1:15: reshape: a size is at least 1"));
    EXPECT_THAT(refusal(R"({"scale": [0, 1]})"), HasSubstr("expected a list"));
    EXPECT_THAT(error_of<ValueError>([] { steps(R"(["standardize"])").fit(table({}, 2)); }),
                HasSubstr("no training data"));
    EXPECT_THAT(error_of<ValueError>([] {
                    steps(R"([{"scale": [0, 1]}])").fit(table({NAN, 2}, 2));
                }),
                HasSubstr("the value nan"));
    EXPECT_THAT(error_of<ConfigError>([] {  // with the place of the step
                    Preparation preparation = steps(R"(["standardize"])");
                    preparation.fit(table({1, 2}, 2));
                    (void)preparation.apply(table({1, 2, 3}, 3));
                }),
                HasSubstr("fitted on examples of 2 numbers, these have 3"));
}

}  // namespace
}  // namespace weft::data
