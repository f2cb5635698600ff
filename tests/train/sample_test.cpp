// Examples that models make up: of which parts, from which draws, and who makes none.
#include "weft/train/sample.h"

#include <gtest/gtest.h>

#include "train/model.h"
#include "weft/base/error.h"
#include "weft/check/compare.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"

namespace weft::train {
namespace {

constexpr const char* bernoulli_sum = R"({"bernoulli": {"target": "input", "numbers": "sum"}})";

Array samples_of(const Model& model, const SampleOptions& options) {
    return sample(model.phase(), model.network, options).array();
}

TEST(Sample, of_a_variational_layer_is_what_its_decoder_makes_of_normal_codes_as_probabilities) {
    Model model(R"([{"linear": 9}, "relu", {"variational": 4}, {"linear": 784}])", bernoulli_sum);
    Array three = samples_of(model, {.count = 3, .seed = 7});
    random::seed(7);
    Tensor codes = random::normal({3, 4});
    Tensor expected = sigmoid(matmul(codes, model.cell("3.weight").T()) + model.cell("3.bias"));
    EXPECT_EQ(difference(expected.array(), three, 1e-6, 1e-6), "");
    EXPECT_EQ(difference(three, samples_of(model, {.count = 3, .seed = 7})), "");
    EXPECT_NE(difference(three, samples_of(model, {.count = 3, .seed = 8})), "");
}

TEST(Sample, draws_codes_of_the_shape_that_the_decoder_met_in_training) {
    Model model(R"([{"reshape": [4, 196]}, {"variational": 3}, "flatten", {"linear": 784}])", bernoulli_sum);
    EXPECT_EQ(samples_of(model, {.count = 5}).dims, (Dims{5, 784}));
    EXPECT_EQ(samples_of(model, {.count = 5, .walk = 2}).dims, (Dims{5, 784}));
}

TEST(Sample, of_a_decoder_whose_cost_wants_the_input_in_black_and_white_is_made_of_probabilities) {
    Model model(R"([{"binarize": {"name": "picture"}}, {"linear": 9}, {"variational": 4}, {"linear": 784}])",
                R"({"bernoulli": {"target": "picture"}})");
    model.parameter("3.bias").set(model.cell("3.bias") + 30.0f);
    Array made = samples_of(model, {.count = 2});
    for (float value : std::span(made.data<float>(), 2 * 784)) EXPECT_NEAR(value, 1, 1e-3);
}

TEST(Sample, of_a_pair_of_adversaries_is_the_generators_and_a_walk_leads_from_draw_to_draw) {
    Model model(R"([{"adversarial": {"latent": 5, "generator": [{"linear": 784}], "discriminator": [{"linear": 1}]}}])",
                "\"of_layers\"");
    auto made = [&](const Tensor& codes) {
        return matmul(codes, model.cell("0.generator.0.weight").T()) + model.cell("0.generator.0.bias");
    };
    random::seed(5);
    Tensor near = made(random::normal({6, 5}) * 0.25);
    Array cool = samples_of(model, {.count = 6, .seed = 5, .temperature = 0.25});
    EXPECT_EQ(difference(near.array(), cool, 1e-5, 1e-5), "");
    Array walk = samples_of(model, {.count = 8, .seed = 3, .walk = 4});
    random::seed(3);
    Tensor ends = random::normal({3, 5});
    Tensor row0 = made(slice(ends, {0, 0}, {1, 5})), row4 = made(slice(ends, {1, 0}, {1, 5}));
    Tensor between = made((slice(ends, {1, 0}, {1, 5}) + slice(ends, {2, 0}, {1, 5})) * std::sqrt(0.5));
    Tensor all(walk);
    EXPECT_EQ(difference(row0.array(), slice(all, {0, 0}, {1, 784}).array(), 1e-5, 1e-5), "");
    EXPECT_EQ(difference(row4.array(), slice(all, {4, 0}, {1, 784}).array(), 1e-5, 1e-5), "");
    EXPECT_EQ(difference(between.array(), slice(all, {6, 0}, {1, 784}).array(), 1e-5, 1e-5), "");
}

TEST(Sample, of_a_boltzmann_machine_follows_its_biases_where_it_has_no_weights) {
    Model model(R"([{"rbm": {"units": 6, "chains": 5, "steps": 1}}])", "\"of_layers\"");
    model.parameter("0.weight").set(model.cell("0.weight") * 0.0f);
    std::vector<float> biases(784, -20.0f);
    biases[3] = 20, biases[5] = 0;
    model.parameter("0.visible_bias").set(Tensor::of(biases, {784}));
    Array made = samples_of(model, {.count = 7, .steps = 2});
    ASSERT_EQ(made.dims, (Dims{7, 784}));
    for (std::int64_t row = 0; row < 7; ++row) {
        const float* means = made.data<float>() + row * 784;
        EXPECT_NEAR(means[3], 1, 1e-6);
        EXPECT_NEAR(means[5], 0.5, 1e-6);
        EXPECT_NEAR(means[9], 0, 1e-6);
    }
    EXPECT_THROW(samples_of(model, {.walk = 3}), ConfigError);
    EXPECT_THROW(samples_of(model, {.temperature = 0.5}), ConfigError);
}

TEST(Sample, is_refused_where_nothing_is_made) {
    Model model(R"([{"linear": 4}, {"linear": 784}])", bernoulli_sum);
    EXPECT_THROW(samples_of(model, {}), ConfigError);
    Model code(R"([{"variational": 4}, {"linear": 784}])", bernoulli_sum);
    EXPECT_THROW(samples_of(code, {.count = 0}), ConfigError);
    EXPECT_THROW(samples_of(code, {.temperature = 0}), ConfigError);
}

}  // namespace
}  // namespace weft::train
