// Layers for models that are more than a classifier: their values and what they add to the cost, beside the same written out by hand.
#include <gtest/gtest.h>

#include "train/model.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/error.h"
#include "weft/nn/training.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft::train {
namespace {

Tensor affine(const Model& model, const std::string& name, const Tensor& x) {
    return matmul(x, model.cell(name + ".weight").T()) + model.cell(name + ".bias");
}

// Sums of 784 products of numbers below 1 in float32, in another order.
constexpr double rounding = 1e-4;
void expect_close(const Tensor& a, const Tensor& b, double most = rounding) {
    ASSERT_EQ(str(a.shape()), str(b.shape()));
    EXPECT_LT(max(abs(a - b)).item<double>(), most);
}

TEST(ModelLayers, maxout_is_the_greatest_of_the_pieces_of_each_unit) {
    Model model(R"([{"maxout": {"units": 4, "pieces": 3}}, {"linear": 10}])");
    Tensor pieces = affine(model, "0", pictures());  // (3, 12)
    Tensor greatest = max(reshape(pieces, {3, 4, 3}), 2);
    expect_close(model.network.model(pictures()), affine(model, "1", greatest));
    EXPECT_EQ(str(model.network.layers[0].gives), "(batch, 4)");
    EXPECT_EQ(model.network.layers[0].parameters, 784 * 12 + 12);

    Model images(
        R"([{"maxout_conv2d": {"channels": 2, "pieces": 3, "kernel_size": 5, "stride": 4}}, "flatten", {"linear": 10}])",
        "\"cross_entropy\"", R"({"reshape": [1, 28, 28]})");
    Tensor maps =
        conv2d(reshape(pictures(), {3, 1, 28, 28}), images.cell("0.weight"), images.cell("0.bias"), {.stride = {4, 4}});
    Tensor of_channels = max(reshape(maps, {3, 2, 3, 6, 6}), 2);
    expect_close(images.network.model(reshape(pictures(), {3, 1, 28, 28})),
                 affine(images, "2", reshape(of_channels, {3, 72})));
}

TEST(ModelLayers, noise_is_there_while_learning_alone_and_as_much_as_is_said) {
    Tensor ones(Array::zeros(DType::float32, {100, 784}));
    ones = ones + 1.0f;
    struct Row {
        const char* layer;
        double mean, deviation;  // of a number that was 1
    };
    // Deviations of p (1 - p) and the like; means of 78,400 draws lie within 5 deviations / 280 of them.
    for (const Row& row :
         {Row{R"({"gaussian_noise": 0.5})", 1, 0.5}, Row{R"({"masking_noise": 0.25})", 0.75, 0.4330127},
          Row{R"({"salt_and_pepper": {"p": 0.4, "low": -1, "high": 3}})", 1, 1.2649111},
          Row{R"({"dropout": {"p": 0.2, "scale": 2}})", 1.6, 0.8}, Row{R"({"dropout": 0.2})", 1, 0.5}}) {
        Model model(text("[", row.layer, R"(, {"linear": {"units": 10}}])"));
        const nn::Module& noise = (*model.network.model.get<nn::Sequential>())[0];
        EXPECT_EQ(max(abs(noise(ones) - ones)).item<double>(), 0) << row.layer;
        random::seed(5);
        nn::Training training;
        Tensor spoiled = noise(ones).eval();
        EXPECT_NEAR(mean(spoiled).item<double>(), row.mean, 5 * row.deviation / 280) << row.layer;
        EXPECT_NEAR(sqrt(mean(square(spoiled - row.mean))).item<double>(), row.deviation, 0.02) << row.layer;
        EXPECT_GT(max(abs(noise(ones) - spoiled)).item<double>(), 0) << row.layer;  // drawn anew
    }
}

TEST(ModelLayers, binarize_says_what_is_above_and_may_be_wanted_itself) {
    Model model(R"([{"binarize": {"at": 0.25, "name": "picture"}}, {"linear": 784}])",
                R"({"bernoulli": {"target": "picture"}})");
    Tensor picture = (*model.network.model.get<nn::Sequential>())[0](pictures());
    std::vector<float> gray = pictures().to_vector<float>(), sharp = picture.to_vector<float>();
    for (std::size_t i = 0; i < gray.size(); ++i) ASSERT_EQ(sharp[i], gray[i] > 0.25f ? 1.0f : 0.0f) << i;
    Tensor output = affine(model, "1", picture);
    EXPECT_NEAR(model.measured(pictures()).loss.item<double>(),
                mean(softplus(output) - picture * output).item<double>(), rounding);
}

TEST(ModelLayers, variational_adds_the_divergence_and_draws_about_the_mean) {
    Model model(R"([{"variational": {"units": 5, "factor": 0.5}}, {"linear": 10}])");
    Tensor middle = affine(model, "0.mean", pictures()), logs = affine(model, "0.log_variance", pictures());
    Measured measured = model.measured(pictures());
    ASSERT_EQ(measured.added.size(), 1u);
    EXPECT_EQ(measured.added[0].first, "divergence");
    Tensor divergence = mean(sum(exp(logs) + square(middle) - 1.0 - logs, 1)) * 0.25;
    EXPECT_NEAR(measured.added[0].second.item<double>(), divergence.item<double>(), rounding);
    // It is part of the loss that is reported.
    Model plain(R"([{"variational": {"units": 5, "factor": 0}}, {"linear": 10}])");
    EXPECT_NEAR(measured.loss.item<double>(),
                plain.measured(pictures()).loss.item<double>() + divergence.item<double>(), rounding);
    EXPECT_NEAR(mean(measured.losses).item<double>(), measured.loss.item<double>(), rounding);
    // Draws: about the mean, with the deviation; the same ones at every evaluation, new ones at every step.
    const nn::Module& layer = (*model.network.model.get<nn::Sequential>())[0];
    Tensor noise = ((layer(pictures(300)) - affine(model, "0.mean", pictures(300))) /
                    exp(affine(model, "0.log_variance", pictures(300)) * 0.5))
                       .eval();
    EXPECT_NEAR(mean(noise).item<double>(), 0, 5 / std::sqrt(1500.0));
    EXPECT_NEAR(mean(square(noise)).item<double>(), 1, 5 * std::sqrt(2 / 1500.0));
    EXPECT_EQ(layer(pictures()).to_vector<float>(), layer(pictures()).to_vector<float>());
    nn::Training training;
    EXPECT_NE(layer(pictures()).to_vector<float>(), layer(pictures()).to_vector<float>());
    Model still(R"([{"variational": {"units": 5, "evaluate": "mean"}}, {"linear": 10}])");
    nn::Training evaluation(false);
    expect_close((*still.network.model.get<nn::Sequential>())[0](pictures()), affine(still, "0.mean", pictures()));
}

TEST(ModelLayers, contraction_is_the_squared_norm_of_the_slope_and_is_no_part_of_the_reported_loss) {
    Model model(R"([{"contractive": {"units": 6, "activation": "tanh", "factor": 2}}, {"linear": 10}])");
    Tensor z = tanh(affine(model, "0", pictures()));
    Tensor slopes = expand_dims(1.0 - square(z), 2) * expand_dims(model.cell("0.weight"), 0);  // (3, 6, 784): dh/dx
    double expected = 2 * sum(square(slopes)).item<double>() / 3;
    Measured measured = model.measured(pictures());
    EXPECT_EQ(measured.added[0].first, "contraction");
    EXPECT_NEAR(measured.added[0].second.item<double>(), expected, 1e-5 * expected);
    EXPECT_NEAR(measured.cost.item<double>() - measured.loss.item<double>(), expected, rounding);
    // The slope of the slope, by finite differences in one weight's direction.
    Parameter weight = model.parameter("0.weight");
    Tensor start = weight.value();
    Tensor slope = gradient(model.measured(pictures()).added[0].second, start);
    auto at = [&](double step) {
        weight.set(start + slope * step);
        return model.measured(pictures()).added[0].second.item<double>();
    };
    double size = sum(square(slope)).item<double>(), step = 1e-3 / std::sqrt(size);
    EXPECT_NEAR((at(step) - at(-step)) / (2 * step), size, 1e-2 * size);
    try {
        Model wrong(R"([{"contractive": {"units": 6, "activation": "sigmod"}}, {"linear": 10}])");
        ADD_FAILURE();
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'sigmoid'?"), std::string::npos) << error.what();
    }
}

TEST(ModelLayers, activity_is_penalised_by_size_and_by_how_far_units_are_from_their_target) {
    Model model(
        R"([{"linear": 8}, "sigmoid", {"activity_penalty": {"l1": 0.5, "l2": 3, "target": 0.1, "factor": 2}}, {"linear": 10}])");
    Tensor h = sigmoid(affine(model, "0", pictures()));
    double by_hand = 0;
    std::vector<float> values = h.to_vector<float>();
    for (std::size_t unit = 0; unit < 8; ++unit) {
        double p = 0;
        for (std::size_t row = 0; row < 3; ++row) {
            double one = values[row * 8 + unit];
            p += one / 3, by_hand += (0.5 * one + 1.5 * one * one) / 3;
        }
        by_hand += 2 * (0.1 * std::log(0.1 / p) + 0.9 * std::log(0.9 / (1 - p)));
    }
    Measured measured = model.measured(pictures());
    EXPECT_EQ(measured.added[0].first, "activity");
    EXPECT_NEAR(measured.added[0].second.item<double>(), by_hand, rounding);
    EXPECT_NEAR((measured.cost - measured.loss).item<double>(), by_hand, rounding);
}

TEST(ModelLayers, a_tied_decoder_has_the_encoders_weights_and_both_ways_count_in_their_gradient) {
    Model model(R"([{"linear": {"units": 6, "name": "code"}}, "sigmoid", {"tied": "code"}])",
                R"({"bernoulli": {"target": "input"}})");
    EXPECT_EQ(nn::parameters(model.network.model).size(), 3u);  // the weight stands once
    Tensor weight = model.cell("code.weight");
    Tensor output = matmul(sigmoid(affine(model, "code", pictures())), weight) + model.cell("2.bias");
    expect_close(model.network.model(pictures()), output);
    Tensor by_hand = mean(log(1.0 + exp(output)) - pictures() * output);
    expect_close(gradient(model.measured(pictures()).loss, weight), gradient(by_hand, weight), 1e-6);
    auto complaint = [](const char* layers) -> std::string {
        try {
            Model wrong(layers, R"({"mse": {"target": "input"}})");
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_NE(complaint(R"([{"linear": {"units": 6, "name": "code"}}, {"tied": "cod"}])")
                  .find("no layer before this one has the path 'cod' (--dry-run shows paths); did you mean 'code'?"),
              std::string::npos);
    EXPECT_NE(complaint(R"(["tanh", {"tied": "0"}])").find("tied takes the weights of a linear or contractive layer"),
              std::string::npos);
    EXPECT_NE(complaint(R"([{"linear": {"units": 6, "name": "code"}}, {"linear": 7}, {"tied": "code"}])")
                  .find("tied to 'code', which gives 6 numbers, so it takes 6; what reaches it has shape (7,)"),
              std::string::npos);
}

TEST(ModelLayers, who_listens_hears_what_layers_add_and_nobody_else) {
    nn::add_cost("nobody", Tensor(1.0f));
    nn::Notes outer;
    {
        nn::Notes inner;
        nn::add_cost("one", Tensor(2.0f));
        EXPECT_EQ(inner.costs.size(), 1u);
    }
    EXPECT_TRUE(outer.costs.empty());
    EXPECT_THROW(nn::add_cost("many", pictures()), ShapeError);
}

}  // namespace
}  // namespace weft::train
