// The costs that a file can name, each beside what NumPy makes of the same numbers (the expressions stand in the rows); what is wanted and
// what is left out; penalties by name.
#include <gtest/gtest.h>

#include <cmath>

#include "train/chosen.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/error.h"
#include "weft/nn/linear.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/train/config.h"
#include "weft/train/dry_run.h"
#include "weft/train/measure.h"

namespace weft::train {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

CostTerm term_of(const std::string& cost) { return made_of<MakeCost>("cost", cost); }

const std::vector<double> scores{0.2, -1.0, 0.7, 1.5, 0.3, -0.4, -0.6, 0.9, 2.0, 0.1, -0.2, 0.05};
const std::vector<double> numbers{0.5, 0.1, 0.9, 1.0, 0.0, 0.3, 0.2, 0.8, 0.4, 0.6, 0.7, 0.25};
Tensor x() { return Tensor::of(scores, {4, 3}); }
Tensor y() { return Tensor::of(numbers, {4, 3}); }
Tensor one_score() { return Tensor::of(std::vector<double>{0.7, -1.2, 0.4, -0.3}, {4, 1}); }
Tensor labels(std::vector<std::int64_t> all) {
    auto count = static_cast<std::int64_t>(all.size());
    return Tensor::of(all, {count});
}

double value(const std::string& cost, const Tensor& output, const Tensor& wanted) {
    return term_of(cost).of_output(output, wanted).item<double>();
}

// References have seven digits behind the point.
constexpr double digits = 6e-8;

TEST(Costs, those_of_classes_are_numpys_numbers) {
    Tensor three = labels({2, 0, 1, 2}), two = labels({1, 0, 0, 1});
    EXPECT_NEAR(value(R"("cross_entropy")", x(), three), 0.8589327, digits);
    EXPECT_NEAR(value(R"({"cross_entropy": {"label_smoothing": 0.2}})", x(), three), 0.9572660, digits);
    EXPECT_NEAR(value(R"("nll")", x(), three), -0.7875, digits);
    EXPECT_NEAR(value(R"({"multi_margin": {"margin": 0.5}})", x(), three), 0.2, digits);
    EXPECT_NEAR(value(R"({"multi_margin": {"p": 2}})", x(), three), 0.5270833, digits);
    EXPECT_NEAR(value(R"("binary_cross_entropy")", one_score(), two), 0.6084598, digits);
    EXPECT_NEAR(value(R"({"hinge": {"margin": 0.5}})", one_score(), two), 0.425, digits);
    EXPECT_NEAR(value(R"("soft_margin")", one_score(), two), 0.6084598, digits);
}

TEST(Costs, those_of_numbers_are_numpys_numbers_as_means_and_as_sums_over_an_example) {
    struct Row {
        const char *name, *options;
        double mean, sum;
    };
    const Row rows[] = {
        {"mse", "", 0.54, 1.62},
        {"l1", "", 0.6, 1.8},
        {"smooth_l1", R"("beta": 0.5, )", 0.385, 1.155},
        {"huber", R"("delta": 0.5, )", 0.1925, 0.5775},
        {"bernoulli", "", 0.6506196, 1.9518588},
        {"poisson_nll", "", 1.6779205, 5.0337616},
    };
    for (const Row& row : rows) {
        auto cost = [&](const char* over) {
            return text("{\"", row.name, "\": {", row.options, "\"numbers\": \"", over, "\"}}");
        };
        EXPECT_NEAR(value(cost("mean"), x(), y()), row.mean, digits) << row.name;
        EXPECT_NEAR(value(cost("sum"), x(), y()), row.sum, digits) << row.name;
    }
    EXPECT_NEAR(value(R"({"bernoulli": {"logits": false}})", sigmoid(x()), y()), 0.6506196, digits);
    EXPECT_NEAR(value(R"("multilabel_soft_margin")", x(), y()), 0.6506196, digits);
    EXPECT_NEAR(value(R"({"kl_div": {"numbers": "sum"}})", x(), y() / sum(y(), 1, true)), -1.4519498, digits);
    EXPECT_NEAR(value(R"("hinge_embedding")", x(), where(y() > 0.45, 1.0, constant(-1.0, DType::float64))), 0.8208333,
                digits);
    // The second half of the output is the logarithm of the variance: half of x, its rows turned round.
    std::vector<double> both;
    for (std::size_t row = 0; row < 4; ++row) {
        both.insert(both.end(), scores.begin() + 3 * static_cast<int>(row),
                    scores.begin() + 3 * static_cast<int>(row) + 3);
        for (std::size_t column = 0; column < 3; ++column) both.push_back(0.5 * scores[3 * (3 - row) + column]);
    }
    EXPECT_NEAR(value(R"({"gaussian_nll": {"numbers": "sum"}})", Tensor::of(both, {4, 6}), y()), 3.8617613, digits);
}

TEST(Costs, of_pairs_are_those_of_every_two_examples_of_the_batch) {
    Tensor e = Tensor::of(std::vector<double>{0.1, 0.2, 0.4, -0.1, -0.5, 0.3, 0.2, 0.6, 0.9, 0.8}, {5, 2});
    Tensor classes = labels({0, 1, 0, 1, 2});
    EXPECT_NEAR(value(R"({"contrastive": 0.8})", e, classes), 0.2436337, digits);
    EXPECT_NEAR(value(R"({"triplet": {"margin": 0.3}})", e, classes), 0.4655280, digits);
    // Two examples of different classes in one place: a cost, and a derivative that is a number.
    Tensor together = Tensor::of(std::vector<double>{1, 2, 1, 2}, {2, 2});
    Tensor slope = gradient(term_of(R"("contrastive")").of_output(together, labels({0, 1})), together);
    for (double one : slope.to_vector<double>()) EXPECT_EQ(one, 0);
}

TEST(Costs, targets_that_are_missing_count_for_nothing) {
    std::vector<double> holes = numbers;
    for (std::size_t hole : {1, 3, 4, 5, 10, 11}) holes[hole] = nan;
    Tensor wanted = Tensor::of(holes, {4, 3});
    EXPECT_NEAR(value(R"({"mse": {"missing": true}})", x(), wanted), 0.4616667, digits);
    EXPECT_NEAR(value(R"({"mse": {"missing": true, "numbers": "sum"}})", x(), wanted), 1.1966667, digits);
    EXPECT_NEAR(value(R"({"cross_entropy": {"missing": -1}})", x(), labels({2, 0, -1, 2})), 0.6647227, digits);
    EXPECT_EQ(value(R"({"cross_entropy": {"missing": -1}})", x(), labels({-1, -1, -1, -1})), 0);
    Tensor output = x();
    std::vector<double> slope =
        gradient(term_of(R"({"mse": {"missing": true}})").of_output(output, wanted), output).to_vector<double>();
    for (std::size_t i = 0; i < holes.size(); ++i) EXPECT_EQ(slope[i] == 0, std::isnan(holes[i])) << i;
}

TEST(Costs, the_mean_over_a_batch_is_that_of_its_examples_in_any_batches) {
    std::vector<double> holes = numbers;
    for (std::size_t hole : {1, 3, 4, 5, 10, 11}) holes[hole] = nan;
    Tensor wanted = Tensor::of(holes, {4, 3});
    CostTerm term = term_of(R"({"huber": {"missing": true}})");
    double total = sum(term.of_examples(x(), wanted)).item<double>(), by_rows = 0;
    for (std::int64_t row = 0; row < 4; ++row)
        by_rows += term.of_output(slice(x(), {row, 0}, {1, 3}), slice(wanted, {row, 0}, {1, 3})).item<double>();
    EXPECT_NEAR(total, by_rows, 1e-12);
    EXPECT_NEAR(term.of_output(x(), wanted).item<double>(), total / 3, 1e-12);  // row 1 has no target
}

TEST(Costs, a_batch_counts_the_examples_that_have_a_target_and_the_errors_among_them) {
    std::vector<CostTerm> terms{term_of(R"({"cross_entropy": {"missing": 7}})")};
    nn::Module identity = nn::Identity();
    Measured all = measure(terms, identity, x(), labels({2, 1, 7, 7}), {});
    EXPECT_EQ(sum(all.present).item<std::int64_t>(), 2);
    EXPECT_EQ(all.error_rate.item<double>(), 0.5);  // of the rows 0 and 1: largest at 2 and at 0
    EXPECT_NEAR(sum(all.losses).item<double>() / 2, all.loss.item<double>(), 1e-12);
    EXPECT_FALSE(measure({term_of(R"("cross_entropy")")}, identity, x(), labels({2, 1, 0, 0}), {}).present);
}

TEST(Costs, an_example_with_several_labels_is_there_if_any_of_them_is) {
    std::vector<CostTerm> terms{term_of(R"({"cross_entropy": {"missing": -1}})")};
    Tensor rows = Tensor::of(std::vector<double>(scores.begin(), scores.begin() + 12), {2, 3, 2});  // (N, classes, 2)
    Tensor two = Tensor::of(std::vector<std::int64_t>{0, -1, -1, -1}, {2, 2});
    Measured all = measure(terms, nn::Identity(), rows, two, {});
    EXPECT_EQ(sum(all.present).item<std::int64_t>(), 1);
    Tensor logits =
        Tensor::of(std::vector<double>{0.2, 0.7, 0.3}, {1, 3});  // scores 0, 2, 4: those of the first column
    EXPECT_NEAR(all.loss.item<double>(), value(R"("cross_entropy")", logits, labels({0})), 1e-12);
    EXPECT_NEAR(sum(all.losses).item<double>(), all.loss.item<double>(), 1e-12);
    EXPECT_EQ(all.error_rate.item<double>(), 1);
}

TEST(Costs, what_is_wanted_may_be_the_input_or_what_a_layer_gave) {
    nn::Module doubled = nn::Module([](const Operand& value) { return value.as_tensor() * 2.0; });
    std::vector<CostTerm> terms{term_of(R"({"mse": {"target": "input"}})")};
    double squares = 0;
    for (double one : scores) squares += one * one / 12;
    EXPECT_NEAR(measure(terms, doubled, x(), labels({0, 0, 0, 0}), {}).loss.item<double>(), squares, 1e-12);
    // Pictures as input, rows as output.
    EXPECT_NEAR(measure(terms, nn::Module([](const Operand& value) {
                            return reshape(value.as_tensor(), {1, 12}) * 2.0;
                        }),
                        reshape(x(), {1, 3, 4}), labels({0}), {})
                    .loss.item<double>(),
                squares, 1e-12);
}

Experiment experiment_with(const std::string& model, const std::string& cost) {
    return Experiment(
        parse_config(text(R"({"data": {"train": {"digits": {"size": 20}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"optimizer": "sgd",
"model": )",
                          model, ",\n\"cost\": ", cost, "}"),
                     "f.json"));
}

std::string complaint(const std::string& model, const std::string& cost) {
    try {
        (void)networks_of(experiment_with(model, cost));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Costs, a_layers_value_is_wanted_as_it_is_and_nothing_is_learned_through_it) {
    Experiment experiment = experiment_with(R"([{"linear": {"units": 5, "name": "code"}}, "tanh", {"linear": 5}])",
                                            R"({"mse": {"target": "code"}})");
    const Phase& phase = experiment.phases[0];
    Network network = make_network(phase, *sample_of(phase));
    std::vector<Parameter> parameters = nn::parameters(network.model);
    std::vector<float> values;
    for (int i = 0; i < 2 * 784; ++i) values.push_back(static_cast<float>((i * 37) % 101) / 101);
    Tensor input = Tensor::of(values, {2, 784});
    std::vector<Tensor> cells;
    for (const Parameter& cell : parameters) cells.push_back(cell.value());
    Tensor code = matmul(input, cells[0].T()) + cells[1];
    Tensor output = matmul(tanh(code), cells[2].T()) + cells[3];
    Measured measured = measure(cost_terms(phase), network.model, input, labels({0, 1}), parameters);
    Tensor expected = mean(square(output - stop_gradient(code)));
    Tensor by_hand = gradient(expected, cells[0]), slope = gradient(measured.loss, cells[0]);
    // Sums of 784 products of numbers below 1 in another order.
    EXPECT_NEAR(measured.loss.item<double>(), expected.item<double>(), 1e-5);
    EXPECT_LT(max(abs(slope - by_hand)).item<double>(), 1e-5);
    EXPECT_GT(max(abs(slope)).item<double>(), 1e-3);
    EXPECT_EQ(
        complaint(R"([{"linear": {"units": 5, "name": "code"}}, {"linear": 5}])", R"({"mse": {"target": "cod"}})"),
        "f.json:4:28: the data have no field 'cod', and no layer of the network has this path; --dry-run shows paths");
}

TEST(Costs, penalties_have_factors_by_name_of_which_the_first_that_matches_counts) {
    Parameter hidden(Tensor::of(std::vector<double>{1, -2}, {1, 2}), "hidden.weight"),
        out(Tensor::of(std::vector<double>{3}, {1, 1}), "out.weight"),
        bias(Tensor::of(std::vector<double>{-4}, {1}), "out.bias");
    const Parameter all[] = {hidden, out, bias};
    auto penalty = [&](const std::string& cost) { return term_of(cost).of_parameters(all).item<double>(); };
    EXPECT_DOUBLE_EQ(penalty(R"({"weight_decay": 2})"), 2 * 0.5 * (1 + 4 + 9));
    EXPECT_DOUBLE_EQ(penalty(R"({"l1_penalty": {"factor": 2, "groups": [{"match": "hidden.*", "factor": 10},
                                {"match": "*.weight", "factor": 0}, {"match": "*.bias", "factor": 0.5}]}})"),
                     10 * (1 + 2) + 0.5 * 4);
    EXPECT_EQ(
        complaint(R"([{"linear": {"units": 10, "name": "out"}}])",
                  R"(["cross_entropy", {"weight_decay": {"factor": 0, "groups": [{"match": "uot.*", "factor": 1}]}}])")
            .substr(0, 68),
        "f.json:4:79: 'uot.*' matches no parameter of the network; known: out");
}

TEST(Costs, one_that_does_not_suit_the_network_or_the_targets_says_so) {
    EXPECT_EQ(
        complaint(R"([{"linear": 10}])", R"("of_layers")"),
        "f.json:4:9: no layer of this network adds a cost; rbm, dbm, variational, contractive and activity_penalty do, "
        "or name a cost of the output, as in cross_entropy");
    EXPECT_EQ(complaint(R"([{"linear": 10}])", R"({"mse": {"target": "input"}})"),
              "f.json:4:10: mse: mse_loss: the prediction has shape (batch, 10), the target (batch, 784); a loss "
              "does not broadcast, so reshape one of them");
    EXPECT_EQ(
        complaint(R"([{"reshape": [28, 28]}, {"linear": 10}])", R"("triplet")"),
        "f.json:4:9: triplet: it measures distances between vectors, (batch, n); the network gives (batch, 28, 10)");
}

}  // namespace
}  // namespace weft::train
