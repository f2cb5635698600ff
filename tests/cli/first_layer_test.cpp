// Weights of the first layer in a report: through the inverse of what prepared the data.
#include "weft/look/first_layer.h"

#include <gmock/gmock.h>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/data/prepare.h"
#include "weft/train/checkpoint.h"
#include "weft/train/predict.h"

namespace weft {
namespace {

using testing::HasSubstr;

constexpr const char* with_prepare = R"({
"data": {"train": {"digits": {"size": 80}}, "prepare": PREPARE},
"model": [{"linear": 12}, "tanh", {"linear": 10}], "cost": "cross_entropy", "stop_when": {"epochs": 1}, "optimizer": "sgd"})";

class FirstLayer : public testing::Test {
  protected:
    viz::Report drawn(const std::string& prepare) {
        std::string json = with_prepare;
        json.replace(json.find("PREPARE"), 7, prepare);
        put_file(folder_ / "e.json", json);
        std::string run_name = text("run", ++runs_);
        EXPECT_EQ(run(folder_.folder(), {"train", "e.json", "--out", run_name, "--quiet"}).status, 0);
        opened_.emplace(train::Run::open(folder_ / run_name));
        viz::Report report;
        look::add_first_layer(report, *opened_, opened_->network(train::blank_example(*opened_)));
        return report;
    }
    Array weight() {
        train::Network network = opened_->network(train::blank_example(*opened_));
        return contiguous(nn::named(network.model)[0].parameter.value().array());
    }
    Scratch folder_;
    int runs_ = 0;
    std::optional<train::Run> opened_;
};

TEST_F(FirstLayer, of_principal_components_is_drawn_as_the_pictures_that_they_are_of) {
    viz::Report report = drawn(R"(["flatten", {"pca": {"components": 20}}])");
    ASSERT_EQ(report.weights.size(), 12u);
    EXPECT_THAT(report.weights_name, HasSubstr("through the inverse of `prepare:`"));
    EXPECT_EQ(report.weights[0].width, 28);
    // Row 0 by hand: the components, weighted.
    data::Preparation preparation(opened_->kept_phase().prepare);
    train::load_preparation(opened_->kept(), preparation);
    Array one = Array::zeros(DType::float32, {1, 20});
    std::copy_n(weight().data<float>(), 20, one.data<float>());
    Array there = preparation.invert(one), middle = preparation.invert(Array::zeros(DType::float32, {1, 20}));
    std::vector<float> pattern(784);
    float most = 0;
    for (std::size_t i = 0; i < 784; ++i) {
        pattern[i] = there.data<float>()[i] - middle.data<float>()[i];
        most = std::max(most, std::abs(pattern[i]));
    }
    EXPECT_EQ(report.weights[0].rgba, viz::signed_values(pattern, 28, 28, most).rgba);
}

TEST_F(FirstLayer, of_whitened_pictures_is_not_the_weights_themselves) {
    viz::Report report = drawn(R"(["flatten", "zca"])");
    ASSERT_EQ(report.weights.size(), 12u);
    Array raw = weight();
    std::span<const float> row(raw.data<float>(), 784);
    float most = *std::max_element(row.begin(), row.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    EXPECT_NE(report.weights[0].rgba, viz::signed_values(row, 28, 28, std::abs(most)).rgba);
}

TEST_F(FirstLayer, of_what_has_no_inverse_is_the_weights_themselves) {
    viz::Report report = drawn(R"([{"scale": [0, 1]}, "gcn", "flatten"])");
    ASSERT_EQ(report.weights.size(), 12u);
    EXPECT_EQ(report.weights_name.find("inverse"), std::string::npos) << report.weights_name;
}

}  // namespace
}  // namespace weft
