// Networks that branch and join, and parameters that are shared or frozen: the same numbers as when it is written out by hand.
#include <gtest/gtest.h>

#include "train/chosen.h"
#include "weft/base/error.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/train/compose.h"
#include "weft/train/config.h"
#include "weft/train/dry_run.h"

namespace weft::train {
namespace {

/// A network over vectors of 784 numbers, for ten classes.
Network network_of(const std::string& model, const std::string& more = "") {
    Experiment experiment(parse_config(
        text(
            R"({"data": {"train": {"digits": {"size": 10}}, "prepare": ["flatten"]}, "cost": "cross_entropy", "optimizer": "sgd", "model": )",
            model, more, "}"),
        "f.json"));
    return make_network(experiment.phases[0], *sample_of(experiment.phases[0]));
}

Tensor points() {
    std::vector<float> values;
    for (int i = 0; i < 2 * 784; ++i) values.push_back(static_cast<float>((i * 37) % 101) / 101 - 0.5f);
    return Tensor::of(values, {2, 784});
}

Tensor cell(const Network& network, const std::string& name) {
    for (const nn::NamedParameter& one : nn::named(network.model))
        if (one.name == name) return one.parameter.value();
    throw ValueError("no parameter " + name);
}
Tensor linear(const Network& network, const std::string& name, const Tensor& x) {
    return matmul(x, cell(network, name + ".weight").T()) + cell(network, name + ".bias");
}

std::vector<std::string> names(const Network& network) {
    std::vector<std::string> all;
    for (const nn::NamedParameter& one : nn::named(network.model)) all.push_back(one.name);
    return all;
}

void expect_near(const Tensor& a, const Tensor& b) {
    std::vector<float> one = a.to_vector<float>(), other = b.to_vector<float>();
    ASSERT_EQ(one.size(), other.size());
    // A sum of 784 products below 1/2 each: 784 * 2^-24 at most, and as much again for the layers behind.
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-4) << i;
}

TEST(Branches, a_residual_adds_what_its_layers_make_to_the_value_or_to_its_shortcut) {
    Network net = network_of(R"([{"linear": 10}, {"residual": [{"linear": 10}, "tanh"]},
        {"residual": {"layers": {"linear": 10}, "shortcut": [{"linear": 10}], "join": "multiply"}}])");
    Tensor a = linear(net, "0", points()), b = a + tanh(linear(net, "1.0", a));
    expect_near(net.model(points()), linear(net, "2.shortcut.0", b) * linear(net, "2", b));
}

TEST(Branches, parallel_gives_each_branch_the_value_and_joins_them) {
    Network net = network_of(R"([{"parallel": [[{"linear": 4}, "relu"], {"linear": 6}]}, {"linear": 10}])");
    Tensor both = concatenate({relu(linear(net, "0.0.0", points())), linear(net, "0.1", points())}, 1);
    expect_near(net.model(points()), linear(net, "1", both));
}

TEST(Branches, a_graph_follows_its_names_in_any_order) {
    Network net = network_of(R"({"graph": {"output": "out", "nodes": {
        "sum": {"identity": {"from": ["left", "right"], "merge": "add"}},
        "out": {"linear": {"units": 10, "from": ["sum", "left"]}},
        "left": {"linear": {"units": 5, "from": "input"}},
        "right": {"sequential": {"layers": [{"linear": 5}, "tanh"], "from": "input"}}}}})");
    Tensor left = linear(net, "left", points()), sum = left + tanh(linear(net, "right.0", points()));
    expect_near(net.model(points()), linear(net, "out", concatenate({sum, left}, 1)));
}

TEST(Branches, a_slice_gives_a_part_of_the_input_to_a_branch) {
    Network net =
        network_of(R"({"graph": {"nodes": {"top": {"slice": {"range": [0, 392], "from": "input"}}, "a": {"linear": 5},
        "bottom": {"slice": {"range": [392, 784], "from": "input"}}, "b": {"linear": 5}, "out": {"identity": {"from": ["a", "b"]}}}}})");
    Tensor x = points();
    std::vector<float> all = x.to_vector<float>(), first, second;
    for (std::size_t i = 0; i < all.size(); ++i) (i % 784 < 392 ? first : second).push_back(all[i]);
    Tensor a = linear(net, "a", Tensor::of(first, {2, 392})), b = linear(net, "b", Tensor::of(second, {2, 392}));
    expect_near(net.model(x), concatenate({a, b}, 1));
}

TEST(Branches, layers_that_share_a_word_have_one_set_of_parameters) {
    Network net = network_of(
        R"([{"linear": 16}, {"linear": {"units": 16, "share": "w"}}, "tanh", {"linear": {"units": 16, "share": "w"}}, {"linear": 10}])");
    EXPECT_EQ(nn::parameters(net.model).size(), 6u);  // weight and bias of three
    EXPECT_EQ(net.parameters(), 784 * 16 + 16 + 16 * 16 + 16 + 16 * 10 + 10);
    Tensor x = linear(net, "0", points());
    expect_near(net.model(points()), linear(net, "4", linear(net, "1", tanh(linear(net, "1", x)))));
}

TEST(Branches, frozen_layers_and_globs_are_not_trained) {
    Network net =
        network_of(R"([{"linear": {"units": 5, "freeze": true, "name": "first"}}, {"linear": 6}, {"linear": 10}])",
                   R"(, "freeze": ["1.bias"])");
    EXPECT_EQ(names(net),
              (std::vector<std::string>{"first.weight", "first.bias", "1.weight", "1.bias", "2.weight", "2.bias"}));
    std::vector<std::string> trained;
    for (const Parameter& one : nn::parameters(net.model)) trained.push_back(one.name());
    EXPECT_EQ(trained, (std::vector<std::string>{"1.weight", "2.weight", "2.bias"}));
    EXPECT_EQ(net.trained(), 5 * 6 + 6 * 10 + 10);
    EXPECT_EQ(net.parameters(), 785 * 5 + 6 * 6 + 7 * 10);
}

TEST(DryRun, counts_parameters_memory_and_operations) {
    Experiment experiment(parse_config(
        R"({"data": {"train": "digits", "prepare": ["flatten"]}, "cost": "cross_entropy", "optimizer": "sgd", "batch_size": 50,
            "model": [{"linear": {"units": 100, "bias": false}}, {"linear": {"units": 10, "bias": false}}]})",
        "f.json"));
    Network net = *networks_of(experiment)[0];
    EXPECT_EQ(net.layers[0].operations, 2.0 * 784 * 100);  // a multiplication and an addition for each weight
    EXPECT_EQ(net.layers[1].operations, 2.0 * 100 * 10);
    std::string shown = dry_run(experiment);
    EXPECT_NE(shown.find("0  linear  (batch, 100)      78,400  20.0 kB  7.8 MFLOP"), std::string::npos) << shown;
    // Forwards once; backwards the weights' gradients, and the values' but for the input's: 50 * 2 * (2 * 78,400 + 3 * 1,000).
    EXPECT_NE(shown.find("the whole step, with its gradients: 16.0 MFLOP"), std::string::npos) << shown;
}

TEST(DryRun, counts_what_the_optimizer_computes_and_keeps) {
    auto shown = [](const char* optimizer) {
        return dry_run(Experiment(parse_config(
            text(R"({"data": {"train": "digits", "prepare": ["flatten"]}, "cost": "cross_entropy", "optimizer": )",
                 optimizer, R"(, "model": [{"linear": {"units": 100, "bias": false}}]})"),
            "f.json")));
    };
    // A multiplication by the rate and a subtraction; the rate is its only cell.
    std::string sgd = shown("\"sgd\""), adam = shown("\"adam\""), lbfgs = shown("\"lbfgs\"");
    EXPECT_NE(sgd.find("sgd: 157 kFLOP more, and "), sgd.npos) << sgd;
    EXPECT_NE(adam.find(" more, and 627 kB of its own"), adam.npos) << adam;  // two numbers for each of 78,400
    EXPECT_NE(lbfgs.find("several times in each search along a line; lbfgs: "), lbfgs.npos) << lbfgs;
}

TEST(DryRun, computes_no_parameter_however_many_there_are) {
    Experiment experiment(parse_config(
        R"({"data": {"train": "digits", "prepare": ["flatten"]}, "cost": "cross_entropy", "optimizer": "adam",
            "model": [{"linear": 1000000}, "relu", {"linear": 1000000}, {"linear": 10}]})",
        "f.json"));
    EXPECT_EQ(networks_of(experiment)[0]->parameters(), 785'000'000 + 1'000'001'000'000 + 10'000'010);  // 4 TB
}

TEST(Match, ends_when_a_figure_is_as_good_as_the_kept_model_of_an_earlier_phase) {
    StopRule rule =
        made_of<MakeStop>("stop", R"({"match": {"of": "valid.loss", "phase": "first", "figure": "train.loss"}})");
    auto done = [&](std::vector<double> figures, std::optional<double> kept) {
        Standing standing;
        standing.epoch = static_cast<std::int64_t>(figures.size());
        standing.history = [&](const std::string& channel) {
            EXPECT_EQ(channel, "valid.loss");
            return figures;
        };
        standing.kept = [&](const std::string& phase, const std::string& channel) {
            EXPECT_EQ(phase + " " + channel, "first train.loss");
            return kept;
        };
        return rule.done(standing);
    };
    EXPECT_FALSE(done({}, 0.5));
    EXPECT_FALSE(done({0.4, 0.6}, 0.5));
    EXPECT_TRUE(done({0.6, 0.5}, 0.5));
    EXPECT_FALSE(done({0.1}, std::nullopt));
}

}  // namespace
}  // namespace weft::train
