// Models of data: two networks against each other, each with the gradient of its own cost; optimizers by name; the bound that weighted draws make better.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "train/model.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/error.h"
#include "weft/nn/adversarial.h"
#include "weft/nn/training.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/optim/adam.h"
#include "weft/optim/by_name.h"
#include "weft/optim/sgd.h"
#include "weft/train/likelihood.h"

namespace weft::train {
namespace {

constexpr const char* adversaries = R"({"adversarial": {"latent": 3, "generator": [{"linear": 784}, "sigmoid"],
    "discriminator": [{"linear": 4}, "tanh", {"linear": 1}])";

TEST(Adversarial, each_network_gets_the_gradient_of_its_own_cost) {
    Model model(text("[", adversaries, "}}]"), "\"of_layers\"");
    std::vector<Tensor> cells;
    std::vector<Parameter> parameters = nn::parameters(model.network.model);
    for (const Parameter& cell : parameters) cells.push_back(cell.value());
    ASSERT_EQ(parameters[0].name(), "0.generator.0.weight");
    Tensor x = pictures();
    random::seed(9);
    Tensor z;
    {
        Tensor key = random::next_key();
        z = random::normal({3, 3}, 0, 1, key).eval();
    }
    random::seed(9);
    nn::Training training;
    Measured measured = model.measured(x);
    auto judged = [&](const Tensor& v) {
        return matmul(tanh(matmul(v, cells[2].T()) + cells[3]), cells[4].T()) + cells[5];
    };
    Tensor made = sigmoid(matmul(z, cells[0].T()) + cells[1]);
    Tensor judge = (mean(softplus(-judged(x))) + mean(softplus(judged(made)))) * 0.5,
           maker = mean(softplus(-judged(made)));
    std::vector<Tensor> of_judge = gradient(judge, cells), of_maker = gradient(maker, cells),
                        all = gradient(measured.cost, cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        Tensor own = i < 2 ? of_maker[i] : of_judge[i];
        EXPECT_LT(max(abs(all[i] - own)).item<double>(), 1e-6) << i;
        EXPECT_GT(max(abs(all[i])).item<double>(), 1e-6) << i;
    }
    EXPECT_EQ(measured.added[0].first, "discriminator");
    EXPECT_NEAR(measured.added[0].second.item<double>(), judge.item<double>(), 1e-6);
    EXPECT_NEAR(measured.added[1].second.item<double>(), maker.item<double>(), 1e-6);
    EXPECT_NEAR(measured.loss.item<double>(), (judge + maker).item<double>(), 1e-6);
}

TEST(Adversarial, by_the_margin_rule_who_is_too_good_waits_and_so_does_who_meets_one_that_is_too_bad) {
    Model model(text("[", adversaries, R"(, "margin": 0.25}}])"), "\"of_layers\"");
    std::vector<Parameter> parameters = nn::parameters(model.network.model);
    auto moves = [&](float logit) {
        // The discriminator says the same of everything: its costs are log(1 + exp(-logit)) of data, log(1 + exp(logit)) of the other.
        model.parameter("0.discriminator.2.weight").set(model.cell("0.discriminator.2.weight") * 0.0f + 1e-6f);
        model.parameter("0.discriminator.2.bias").set(Tensor::of(std::vector<float>{logit}, {1}));
        std::vector<Tensor> cells;
        for (const Parameter& cell : parameters) cells.push_back(cell.value());
        nn::Training training;
        std::vector<Tensor> all = gradient(model.measured(pictures()).cost, cells);
        return std::pair(max(abs(all[0])).item<double>() > 0, max(abs(all[5])).item<double>() > 0);
    };
    EXPECT_EQ(moves(0.1f), std::pair(true, true));  // both costs near ln 2
    EXPECT_EQ(moves(3), std::pair(true, true));     // of data too good, of the other too bad: neither would, so both do
    EXPECT_EQ(moves(-0.45f), std::pair(false, true));  // of data 0.9434, above ln 2 + 0.25: the generator waits
    model.parameter("0.generator.0.bias")
        .set(model.cell("0.generator.0.bias") * 0.0f - 20.0f);  // it makes black pictures
    auto tells = [&](double sign) {
        Tensor first = model.cell("0.discriminator.0.weight") * 0.0f + 1.0f;
        model.parameter("0.discriminator.0.weight").set(first);
        model.parameter("0.discriminator.0.bias")
            .set(model.cell("0.discriminator.0.bias") * 0.0f - 20.0f);  // tanh is 1 for data, -1 else
        model.parameter("0.discriminator.2.weight")
            .set(model.cell("0.discriminator.2.weight") * 0.0f + static_cast<float>(sign));
        model.parameter("0.discriminator.2.bias").set(Tensor::of(std::vector<float>{0}, {1}));
        std::vector<Tensor> cells;
        for (const Parameter& cell : parameters) cells.push_back(cell.value());
        nn::Training training;
        std::vector<Tensor> all = gradient(model.measured(pictures()).cost, cells);
        double of_maker = 0, of_judge = 0;
        for (std::size_t i = 0; i < 2; ++i) of_maker += max(abs(all[i])).item<double>();
        for (std::size_t i = 2; i < 6; ++i) of_judge += max(abs(all[i])).item<double>();
        return std::pair(of_maker > 0, of_judge > 0);
    };
    EXPECT_FALSE(tells(0.5).second);  // costs of log(1 + exp(-2)): it waits
    EXPECT_TRUE(tells(-0.5).second);  // the wrong way round: it learns,
    EXPECT_FALSE(tells(-0.5).first);  // and the generator waits
}

TEST(ByName, each_part_makes_the_steps_that_it_would_make_alone) {
    auto cell = [](const char* name, double value) {
        return Parameter(Tensor::of(std::vector<double>{value}, {1}), name);
    };
    std::vector<Parameter> both{cell("a.weight", 1), cell("b.weight", 2)},
        alone{cell("a.weight", 1), cell("b.weight", 2)};
    std::vector<optim::ByName::Part> parts;
    parts.push_back({"a.*", std::make_unique<optim::SGD>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9})});
    parts.push_back({"*", std::make_unique<optim::Adam>(optim::AdamOptions{.lr = 0.01})});
    optim::ByName by_name(std::move(parts));
    optim::SGD sgd({.lr = 0.1, .momentum = 0.9});
    optim::Adam adam({.lr = 0.01});
    for (int step = 0; step < 3; ++step) {
        std::vector<Tensor> gradients{Tensor::of(std::vector<double>{0.3 + step}, {1}),
                                      Tensor::of(std::vector<double>{-2.0 * step - 1}, {1})};
        by_name.step(both, gradients);
        sgd.step(std::span(alone).first(1), std::span(gradients).first(1));
        adam.step(std::span(alone).last(1), std::span(gradients).last(1));
    }
    for (int i : {0, 1}) EXPECT_EQ(both[i].value().item<double>(), alone[i].value().item<double>());
    EXPECT_EQ(by_name.get("* lr"), 0.01);
    by_name.set("* lr", 0.5);
    EXPECT_EQ(by_name.get("* lr"), 0.5);
    EXPECT_EQ(by_name.lr(), 0.1);
    std::vector<std::string> names;
    for (const auto& [name, state] : by_name.named_state()) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"0.lr", "0.momentum", "0.a.weight.momentum_buffer", "1.lr", "1.step",
                                               "1.b.weight.exp_avg", "1.b.weight.exp_avg_sq"}));
}

TEST(ByName, parameters_that_nobody_takes_and_parts_that_take_none_are_refused) {
    auto complaint = [](const char* optimizer) -> std::string {
        try {
            (void)networks_of(Experiment(parse_config(
                text(R"({"data": {"train": {"digits": {"size": 10}}, "prepare": ["flatten"]}, "cost": "cross_entropy",
"model": [{"linear": {"units": 10, "name": "out"}}],
"optimizer": )",
                     optimizer, "}"),
                "f.json")));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(complaint(R"({"by_name": {"parts": {"out.*": "adam"}}})"), "no error");
    EXPECT_EQ(
        complaint(R"({"by_name": {"parts": {"*.bias": "adam"}}})"),
        "f.json:3:15: by_name: no part takes the parameter 'out.weight'; a last part '*' takes all that are left");
    EXPECT_EQ(complaint(R"({"by_name": {"parts": {"out.*": "adam", "in.*": "sgd"}}})").substr(0, 55),
              "f.json:3:15: by_name: the part 'in.*' takes no paramete");
    EXPECT_EQ(
        complaint(R"({"by_name": {"parts": {"*": "lbfgs"}}})"),
        "f.json:3:15: by_name: the part '*' searches along lines, which takes all parameters at once; give it a rule "
        "such as adam");
    EXPECT_EQ(complaint(R"({"by_name": {"parts": {"*": {"adam": {"l": 1}}}}})").substr(0, 37),
              "f.json:3:52: unknown key 'l' in adam;");
}

TEST(SkipZero, a_step_without_gradients_changes_nothing_and_the_next_one_is_as_if_it_had_not_been) {
    auto run = [](std::vector<double> slopes) {
        Parameter cell(Tensor::of(std::vector<double>{1, 2}, {2}), "w");
        optim::Adam adam({.lr = 0.1});
        adam.configure({.skip_zero = true});
        for (double slope : slopes)
            adam.step(std::span(&cell, 1), std::vector<Tensor>{Tensor::of(std::vector<double>{slope, 0}, {2})});
        std::vector<double> all = cell.value().to_vector<double>();
        for (const Parameter& state : adam.state())
            all.push_back(state.value().astype(DType::float64).to_vector<double>()[0]);
        return all;
    };
    EXPECT_EQ(run({0.5, 0, 0, -1}), run({0.5, -1}));
    EXPECT_NE(run({0.5, 1e-30, -1}), run({0.5, -1}));
}

TEST(Likelihood, more_draws_make_the_bound_better_and_one_is_the_loss) {
    Model model(R"([{"variational": 4}, {"linear": 784}])", R"({"bernoulli": {"target": "input", "numbers": "sum"}})");
    data::Dataset set = *sample_of(model.phase());
    auto bound = [&](std::int64_t draws) {
        return likelihood(model.phase(), model.network, set, {.draws = draws}).mean;
    };
    EXPECT_GT(bound(50), bound(1));
    EXPECT_TRUE(likelihood(model.phase(), model.network, set).bound);
    // With codes that say nothing (weights and biases 0) every draw has weight 1, and log p(x) is that of the decoder alone.
    for (Parameter& cell : nn::parameters(model.network.model)) cell.set(cell.value() * 0.0f);
    EXPECT_NEAR(bound(7), -784 * std::numbers::ln2, 1e-2);
    Model none(R"([{"linear": 10}, {"linear": 784}])", R"({"bernoulli": {"target": "input", "numbers": "sum"}})");
    EXPECT_THROW(likelihood(none.phase(), none.network, set), ConfigError);
}

}  // namespace
}  // namespace weft::train
