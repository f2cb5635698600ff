// Boltzmann machines of one and of two hidden layers beside all of their states, their gradients beside the formulas, log Z by annealing
// beside the exact one, also of a machine that has learned pictures.
#include <gtest/gtest.h>

#include <cmath>

#include "train/model.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/error.h"
#include "weft/data/batches.h"
#include "weft/nn/dbm.h"
#include "weft/nn/rbm.h"
#include "weft/nn/training.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/train/likelihood.h"
#include "weft/train/objective.h"
#include "weft/train/sample.h"

namespace weft::train {
namespace {

nn::RBM machine(std::int64_t visible, std::int64_t hidden, double size) {
    nn::RBM made(visible, hidden, {.key = random::key(3)});
    made.weight.set(made.weight.value() * static_cast<float>(100 * size));  // it begins with a deviation of 0.01
    made.visible_bias.set(random::normal({visible}, 0, size, random::key(4)));
    made.hidden_bias.set(random::normal({hidden}, 0, size, random::key(5)));
    return made;
}

nn::DBM deep_machine(std::int64_t visible, std::int64_t first, std::int64_t second, double size) {
    nn::DBM made(visible, first, second, {.chains = 5, .mean_field = 50, .key = random::key(3)});
    made.first_weight.set(made.first_weight.value() * static_cast<float>(100 * size));
    made.second_weight.set(made.second_weight.value() * static_cast<float>(100 * size));
    made.visible_bias.set(random::normal({visible}, 0, size, random::key(4)));
    made.first_bias.set(random::normal({first}, 0, size, random::key(5)));
    made.second_bias.set(random::normal({second}, 0, size, random::key(6)));
    return made;
}

/// Unit i of state number n.
double unit(unsigned n, std::size_t i) { return (n >> i) & 1; }

/// sum of a_i u_i, and of rows of W times v by h.
double biased(const std::vector<float>& bias, unsigned state) {
    double sum = 0;
    for (std::size_t i = 0; i < bias.size(); ++i) sum += static_cast<double>(bias[i]) * unit(state, i);
    return sum;
}
double joined(const std::vector<float>& weight, unsigned above, std::size_t rows, unsigned below, std::size_t columns) {
    double sum = 0;
    for (std::size_t j = 0; j < rows; ++j)
        for (std::size_t i = 0; i < columns; ++i)
            sum += static_cast<double>(weight[j * columns + i]) * unit(above, j) * unit(below, i);
    return sum;
}

Tensor state_of(unsigned number, std::size_t units) {
    std::vector<float> values;
    for (std::size_t i = 0; i < units; ++i) values.push_back(static_cast<float>(unit(number, i)));
    return Tensor::of(values, {1, static_cast<std::int64_t>(units)});
}

TEST(Boltzmann, log_z_and_free_energy_are_sums_over_all_states) {
    nn::RBM small = machine(4, 3, 1);
    std::vector<float> w = small.weight.value().to_vector<float>(), b = small.visible_bias.value().to_vector<float>(),
                       c = small.hidden_bias.value().to_vector<float>();
    double z = 0;
    for (unsigned v = 0; v < 16; ++v) {
        double of_v = 0;
        for (unsigned h = 0; h < 8; ++h) of_v += std::exp(biased(b, v) + biased(c, h) + joined(w, h, 3, v, 4));
        EXPECT_NEAR(small.free_energy(state_of(v, 4)).item<double>(), -std::log(of_v), 1e-5);
        z += of_v;
    }
    EXPECT_NEAR(nn::exact_log_partition(small.groups()), std::log(z), 1e-6);
    EXPECT_NEAR(nn::exact_log_partition(machine(3, 5, 1).groups()), nn::log_partition(machine(3, 5, 1).groups()).value,
                0.1);
}

TEST(Boltzmann, annealing_from_both_sides_holds_the_exact_log_z_between) {
    nn::RBM middle = machine(100, 15, 0.3);
    Tensor means = random::uniform({100}, 0, 1, random::key(9)),
           draws = random::uniform({50, 100}, 0, 1, random::key(8));
    draws = astype(draws < means, DType::float32).eval();
    nn::TwoGroups groups = middle.groups(means);
    double exact = nn::exact_log_partition(groups);
    nn::AnnealingOptions options{.runs = 50, .temperatures = 500};
    nn::LogPartition below = nn::log_partition(groups, options), above = nn::log_partition_from(groups, draws, options);
    for (const nn::LogPartition& found : {below, above}) {
        EXPECT_NEAR(found.value, exact, 0.01 * exact);
        EXPECT_LT(found.low, found.value);
        EXPECT_LT(found.value, found.high);
    }
    EXPECT_LT(below.low, exact);
    EXPECT_GT(above.high, exact);
    // With a temperature for each tenth what is probable is missed: then the one is too small and the other too large.
    nn::AnnealingOptions few{.runs = 20, .temperatures = 2};
    EXPECT_LT(nn::log_partition(groups, few).value, exact);
    EXPECT_GT(nn::log_partition_from(groups, draws, few).value, exact);
    EXPECT_EQ(nn::log_partition(groups, few).value, nn::log_partition(groups, few).value);
    EXPECT_THROW(nn::exact_log_partition(machine(26, 26, 1).groups()), ValueError);
    EXPECT_THROW(nn::log_partition(groups, {.runs = 1}), ValueError);
    EXPECT_THROW(nn::log_partition(groups, {.temperatures = 1}), ValueError);
}

constexpr const char* black_and_white = R"({"scale": [0, 1]}, {"binarize": {"draw": true}}, "flatten")";

data::Dataset drawn_digits(const Model& model) {
    data::Dataset set = model.phase().set("train")->load();
    return data::Preparation(model.phase().prepare).fit(set);
}

void learn(const Model& model, const data::Dataset& set, std::int64_t epochs) {
    Objective objective(model.phase(), model.network);
    std::int64_t step = 0;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
        for (const data::Batch& batch : set.batches(10)) objective.step(batch, {step++, epoch + 1, nullptr});
}

TEST(Boltzmann, of_15_hidden_units_that_have_learned_pictures_annealing_finds_log_z_within_one_percent) {
    Model model(R"([{"rbm": {"units": 15, "chains": 20, "steps": 2}}])", "\"of_layers\"", black_and_white,
                R"({"sgd": {"lr": 0.05}})", 200);
    data::Dataset set = drawn_digits(model);
    learn(model, set, 5);
    Likelihood found = likelihood(model.phase(), model.network, set,
                                  {.annealing = {.runs = 50, .temperatures = 500}, .reverse = true});
    double exact = *found.exact_log_partition;
    double biases = 15 * std::log(2.0) + sum(softplus(model.cell("0.visible_bias"))).item<double>();
    EXPECT_GT(std::abs(exact - biases), 5) << "its weights say nothing";
    EXPECT_NEAR(found.log_partition->value, exact, 0.01 * exact);
    EXPECT_NEAR(found.log_partition_from_above->value, exact, 0.01 * exact);
    EXPECT_TRUE(found.black_and_white);
    EXPECT_FALSE(found.bound);
    data::Dataset grey = model.phase().set("train")->load().flat();
    EXPECT_FALSE(
        likelihood(model.phase(), model.network, grey, {.annealing = {.runs = 2, .temperatures = 2}}).black_and_white);
}

TEST(Boltzmann, its_gradient_is_that_of_the_data_less_that_of_the_chains_which_go_on) {
    Model model(R"([{"rbm": {"units": 6, "chains": 5, "steps": 2}}])", "\"of_layers\"");
    EXPECT_EQ(nn::parameters(model.network.model).size(), 3u);  // chains are state, and not trained
    Parameter chains = model.parameter("0.chains");
    Tensor x = pictures(), weight = model.cell("0.weight"), before = chains.value();
    random::seed(1);
    nn::Training training;
    Measured measured = model.measured(x);
    Tensor slope = gradient(measured.cost, weight).eval();
    Tensor after = chains.value();
    EXPECT_NE(after.to_vector<float>(), before.to_vector<float>());
    for (float unit : after.to_vector<float>()) ASSERT_TRUE(unit == 0 || unit == 1);
    auto statistics = [&](const Tensor& v) {
        Tensor h = sigmoid(matmul(v, weight.T()) + model.cell("0.hidden_bias"));
        return matmul(h.T(), v) / static_cast<double>(v.shape()[0].value());
    };
    EXPECT_LT(max(abs(slope - (statistics(after) - statistics(x)))).item<double>(), 1e-5);
    EXPECT_EQ(measured.added[1].first, "reconstruction");
    EXPECT_EQ(measured.loss.item<double>(), measured.added[1].second.item<double>());
    // In evaluation chains stay, and there is nothing that would be minimised.
    nn::Training evaluation(false);
    EXPECT_EQ(model.measured(x).cost.item<double>(), 0);
    EXPECT_EQ(chains.value().to_vector<float>(), after.to_vector<float>());
}

TEST(Boltzmann, gaussian_units_have_the_means_and_energies_of_the_density) {
    nn::RBM small(2, 1, {.gaussian = true, .key = random::key(1)});
    small.weight.set(Tensor::of(std::vector<float>{0.5f, -1}, {1, 2}));
    small.visible_bias.set(Tensor::of(std::vector<float>{1, 2}, {2}));
    Tensor v = Tensor::of(std::vector<float>{3, -1}, {1, 2});
    EXPECT_NEAR(small.free_energy(v).item<double>(), (4 + 9) / 2.0 - std::log1p(std::exp(2.5)), 1e-5);
    EXPECT_EQ(small.visible_logits(Tensor::of(std::vector<float>{1}, {1, 1})).to_vector<float>(),
              (std::vector<float>{1.5, 1}));
    EXPECT_THROW(small.groups(), ValueError);
}

TEST(DeepBoltzmann, log_z_and_the_bound_are_beside_sums_over_all_states) {
    nn::DBM small = deep_machine(6, 4, 3, 0.7);
    std::vector<float> w = small.first_weight.value().to_vector<float>(),
                       u = small.second_weight.value().to_vector<float>(),
                       b = small.visible_bias.value().to_vector<float>(),
                       c = small.first_bias.value().to_vector<float>(),
                       d = small.second_bias.value().to_vector<float>();
    double z = 0;
    for (unsigned v = 0; v < 64; ++v) {
        double of_v = 0;
        for (unsigned g = 0; g < 8; ++g) {
            double of_both = 0;
            for (unsigned h = 0; h < 16; ++h)
                of_both += std::exp(biased(b, v) + biased(c, h) + biased(d, g) + joined(w, h, 4, v, 6) +
                                    joined(u, g, 3, h, 4));
            EXPECT_NEAR(small.log_weight(state_of(v, 6), state_of(g, 3)).item<double>(), std::log(of_both), 1e-5);
            of_v += of_both;
        }
        double bound = small.bound(state_of(v, 6)).item<double>();
        EXPECT_LE(bound, std::log(of_v) + 1e-5);
        EXPECT_GT(bound, std::log(of_v) - 0.5);
        z += of_v;
    }
    EXPECT_NEAR(nn::exact_log_partition(small.groups()), std::log(z), 1e-5);
    nn::LogPartition found = nn::log_partition(small.groups(), {.runs = 200, .temperatures = 200});
    EXPECT_NEAR(found.value, std::log(z), 0.05);
    EXPECT_LT(found.low, std::log(z));
    EXPECT_GT(found.high, std::log(z));
}

TEST(DeepBoltzmann, rounds_of_mean_field_raise_the_bound_and_without_the_second_layer_it_is_exact) {
    auto bound = [](std::int64_t rounds) {
        nn::DBM made = deep_machine(6, 4, 3, 2);
        nn::DBM other(6, 4, 3, {.mean_field = rounds});
        other.first_weight = made.first_weight, other.second_weight = made.second_weight;
        other.visible_bias = made.visible_bias, other.first_bias = made.first_bias,
        other.second_bias = made.second_bias;
        return other.bound(state_of(37, 6)).item<double>();
    };
    EXPECT_LT(bound(1), bound(2));
    EXPECT_LE(bound(2), bound(50) + 1e-5);
    nn::DBM flat = deep_machine(6, 4, 3, 1);
    flat.second_weight.set(flat.second_weight.value() * 0.0f);
    nn::RBM below(6, 4);
    below.weight = flat.first_weight, below.visible_bias = flat.visible_bias, below.hidden_bias = flat.first_bias;
    double of_second = sum(softplus(flat.second_bias)).item<double>();
    EXPECT_NEAR(flat.bound(state_of(37, 6)).item<double>(),
                -below.free_energy(state_of(37, 6)).item<double>() + of_second, 1e-4);
}

TEST(DeepBoltzmann, its_gradient_is_that_of_the_mean_field_less_that_of_the_chains_which_go_on) {
    Model model(R"([{"dbm": {"hidden": [6, 4], "chains": 5, "steps": 2}}])", "\"of_layers\"");
    EXPECT_EQ(nn::parameters(model.network.model).size(), 5u);  // chains are state, and not trained
    model.parameter("0.second.weight").set(model.cell("0.second.weight") * 100.0f);
    Parameter chains = model.parameter("0.first.chains"), top = model.parameter("0.second.chains");
    Tensor x = pictures(), before = chains.value();
    std::vector<Tensor> weights{model.cell("0.first.weight"), model.cell("0.second.weight"),
                                model.cell("0.first.hidden_bias")};
    nn::Training training;
    Measured measured = model.measured(x);
    std::vector<Tensor> slopes = gradient(measured.cost, weights);
    for (Tensor& slope : slopes) slope.eval();
    EXPECT_NE(chains.value().to_vector<float>(), before.to_vector<float>());
    for (float value : top.value().to_vector<float>()) ASSERT_TRUE(value == 0 || value == 1);
    auto sigmoid_of = [&](const Tensor& v, const Tensor& g) {
        return sigmoid(matmul(v, weights[0].T()) + matmul(g, weights[1]) + weights[2]);
    };
    auto above = [&](const Tensor& h) {
        return sigmoid(matmul(h, weights[1].T()) + model.cell("0.second.hidden_bias"));
    };
    Tensor h = sigmoid(matmul(x, weights[0].T()) + weights[2]), g = above(h);
    for (int round = 0; round < 10; ++round) h = sigmoid_of(x, g), g = above(h);
    Tensor v = chains.value(), t = top.value(), made = sigmoid_of(v, t);
    auto products = [](const Tensor& a, const Tensor& b) {
        return matmul(a.T(), b) / static_cast<double>(a.shape()[0].value());
    };
    EXPECT_LT(max(abs(slopes[0] - (products(made, v) - products(h, x)))).item<double>(), 1e-5);
    EXPECT_LT(max(abs(slopes[1] - (products(t, made) - products(g, h)))).item<double>(), 1e-5);
    EXPECT_LT(max(abs(slopes[2] - (mean(made, 0) - mean(h, 0)))).item<double>(), 1e-5);
    EXPECT_GT(max(abs(slopes[1])).item<double>(), 1e-3);
}

TEST(DeepBoltzmann, a_file_trains_one_judges_it_by_its_bound_and_draws_from_it) {
    Model model(R"([{"dbm": {"hidden": [12, 8], "chains": 20, "steps": 2, "mean_field": 3}}])", "\"of_layers\"",
                black_and_white, R"({"sgd": {"lr": 0.05}})", 200);
    data::Dataset set = drawn_digits(model);
    auto bound = [&] {
        return likelihood(model.phase(), model.network, set, {.annealing = {.runs = 20, .temperatures = 100}});
    };
    double before = bound().mean;
    learn(model, set, 2);
    Likelihood after = bound();
    EXPECT_TRUE(after.bound);
    EXPECT_GT(after.mean, before + 100);  // nats: at first every picture has probability 2^-784
    EXPECT_NEAR(after.log_partition->value, *after.exact_log_partition, 0.01 * *after.exact_log_partition);
    Array made = sample(model.phase(), model.network, {.count = 7, .steps = 3}).array();
    ASSERT_EQ(made.dims, (Dims{7, 784}));
    for (std::int64_t i = 0; i < made.size(); ++i) ASSERT_TRUE(made.data<float>()[i] > 0 && made.data<float>()[i] < 1);
    EXPECT_THROW(sample(model.phase(), model.network, {.walk = 3}), ConfigError);
}

}  // namespace
}  // namespace weft::train
