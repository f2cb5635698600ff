// Channels: figures that do not depend on how examples are cut into batches, against definitions written out plainly here.
#include "weft/train/monitor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "weft/base/error.h"
#include "weft/train/experiment.h"
#include "weft/train/objective.h"

namespace weft::train {
namespace {

Json file_with(const std::string& monitor, const std::string& optimizer = R"({"sgd": {"lr": 0}})", int size = 300) {
    return parse_json(
        text(R"({"data": {"train": {"digits": {"size": )", size, R"(}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
        "model": [{"linear": {"units": 10, "init": "zeros"}}], "cost": ["cross_entropy", {"weight_decay": 0.1}],
        "optimizer": )",
             optimizer, R"(, "batch_size": )", size, R"(, "monitor": )", monitor, "}"),
        "f.json");
}

struct Trained {
    explicit Trained(const Json& file)
        : phase(file), set(data::Preparation(Json::array()).apply(phase.set("train")->load())) {
        data::Preparation preparation(phase.prepare);
        preparation.fit(set);
        set = preparation.apply(set);
        network = make_network(phase, set);
        objective = std::make_unique<Objective>(phase, *network);
    }
    Phase phase;
    data::Dataset set;
    std::optional<Network> network;
    std::unique_ptr<Objective> objective;
};

TEST(Monitor, speed_tells_which_share_of_the_time_steps_waited_for_data) {
    Chosen chosen = choose("speed", "channel");
    std::unique_ptr<Accumulator> speed = chosen.make<MakeChannel>()(chosen.options).make({});
    for (double waited : {1.0, 0.0}) {
        Judged batch;
        batch.count = 30, batch.seconds = 1.5, batch.waited = waited;
        speed->add(batch);
    }
    using Figures = std::vector<std::pair<std::string, double>>;
    EXPECT_EQ(speed->figures(), (Figures{{"", 20}, {".step_seconds", 3}, {".waiting", 0.25}}));
}

TEST(Objective, the_loss_of_zero_weights_is_ln_10_for_any_number_of_examples_and_any_batch) {
    for (const char* optimizer : {R"({"sgd": {"lr": 0}})", R"({"conjugate_gradient": {"iterations": 1}})"}) {
        Trained trained(file_with("{}", optimizer, 4000));
        Sums sums = trained.objective->evaluate(trained.set);
        EXPECT_NEAR(sums.loss / 4000, std::log(10), 1e-7 * std::log(10));
        data::Batches batches(trained.set, 4000, {.shuffle = 1});
        Judged seen = trained.objective->step(*batches.begin(), {0, 1, nullptr});
        EXPECT_NEAR(seen.loss / 4000, std::log(10), 1e-7 * std::log(10)) << optimizer;
    }
}

/// The figures of a set of scores and targets that come in batches of some size.
Json figures_of(const Monitor& monitor, const std::vector<float>& scores, const std::vector<std::int64_t>& labels,
                std::int64_t classes, std::int64_t batch, bool through_state = false) {
    auto size = static_cast<std::int64_t>(labels.size());
    Gathered gathered(monitor, {}, {Gathered::Of::set});
    for (std::int64_t first = 0; first < size; first += batch) {
        std::int64_t count = std::min(batch, size - first);
        Judged seen;
        seen.count = count;
        seen.outputs = Array::from(std::span(scores).subspan(static_cast<std::size_t>(first * classes),
                                                             static_cast<std::size_t>(count * classes)),
                                   {count, classes});
        seen.targets = Array::from(
            std::span(labels).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), {count});
        if (through_state) {
            nn::NamedArrays saved;
            gathered.save(saved, "x.");
            gathered = Gathered(monitor, {}, {Gathered::Of::set});
            gathered.restore(saved, "x.");
        }
        gathered.add(seen);
    }
    Json line;
    gathered.write(line, monitor, Gathered::Of::set, "valid");
    return line;
}

struct Scored {
    std::vector<float> scores;
    std::vector<std::int64_t> labels;
};
/// Scores that are often the same, so that ties count.
Scored scored(std::int64_t size, std::int64_t classes) {
    std::mt19937 random(5);
    Scored all;
    for (std::int64_t i = 0; i < size; ++i) {
        all.labels.push_back(
            std::uniform_int_distribution<std::int64_t>(0, std::max<std::int64_t>(1, classes - 1))(random));
        for (std::int64_t c = 0; c < classes; ++c) {
            int noise = std::uniform_int_distribution<>(0, 4)(random);
            all.scores.push_back(static_cast<float>(noise + (all.labels.back() == c)) / 2);
        }
    }
    return all;
}

Monitor monitor_of(const std::string& channels) {
    Json given = complete(parse_json("{\"channels\": " + channels + "}", "m.json"), monitor_keys(), "monitor");
    return Monitor(given, {"train", "valid"}, true);
}

TEST(Channel, gives_the_same_figure_for_batches_of_1_7_and_500_and_when_saved_between_them) {
    Monitor monitor =
        monitor_of(R"(["precision", "recall", "f1", {"f1": {"average": "micro"}}, {"f1": {"average": "weighted"}},
        {"f1": {"class": 2}}, "auc", {"auc": {"class": 1}}, {"top_k": 2}])");
    Scored all = scored(1001, 4);
    Json whole = figures_of(monitor, all.scores, all.labels, 4, 1001);
    EXPECT_EQ(whole.size(), 9u);
    for (std::int64_t batch : {1, 7, 500}) {
        EXPECT_EQ(figures_of(monitor, all.scores, all.labels, 4, batch), whole) << batch;
        EXPECT_EQ(figures_of(monitor, all.scores, all.labels, 4, batch, true), whole) << batch;
    }
}

TEST(Channel, precision_recall_and_f1_are_their_definitions) {
    Monitor monitor = monitor_of(R"(["precision", "recall", "f1", {"f1": {"class": 0}}, {"f1": {"average": "weighted"}},
        {"f1": {"average": "micro"}}, {"top_k": 2}])");
    // Said: 0 0 1 1 2; are: 0 1 1 2 0.
    std::vector<float> scores{3, 2, 1, 3, 2, 1, 1, 3, 2, 1, 3, 2, 1, 2, 3};
    Json line = figures_of(monitor, scores, {0, 1, 1, 2, 0}, 3, 5);
    EXPECT_DOUBLE_EQ(line.at("valid.precision").as_number(), (0.5 + 0.5 + 0) / 3);
    EXPECT_DOUBLE_EQ(line.at("valid.recall").as_number(), (0.5 + 0.5 + 0) / 3);
    EXPECT_DOUBLE_EQ(line.at("valid.f1").as_number(), (0.5 + 0.5 + 0) / 3);
    EXPECT_DOUBLE_EQ(line.at("valid.f1.0").as_number(), 0.5);
    EXPECT_DOUBLE_EQ(line.at("valid.f1.weighted").as_number(), (2 * 0.5 + 2 * 0.5) / 5);
    EXPECT_DOUBLE_EQ(line.at("valid.f1.micro").as_number(), 0.4);
    EXPECT_DOUBLE_EQ(line.at("valid.top_2").as_number(), 0.8);
}

TEST(Channel, auc_is_the_share_of_pairs_in_order_ties_counted_half) {
    Monitor monitor = monitor_of(R"(["auc"])");
    Scored all = scored(200, 1);
    double right = 0, pairs = 0;
    for (std::size_t i = 0; i < 200; ++i) {
        for (std::size_t j = 0; j < 200; ++j) {
            if (all.labels[i] != 1 || all.labels[j] != 0) continue;
            pairs += 1;
            right += all.scores[i] > all.scores[j] ? 1 : all.scores[i] == all.scores[j] ? 0.5 : 0;
        }
    }
    double area = figures_of(monitor, all.scores, all.labels, 1, 7).at("valid.auc").as_number();
    EXPECT_DOUBLE_EQ(area, right / pairs);
    EXPECT_TRUE(std::isnan(figures_of(monitor, {1, 2}, {1, 1}, 1, 2).at("valid.auc").as_number()));
}

TEST(Channel, distances_are_their_definitions) {
    Json given = complete(parse_json(R"({"channels": ["mae", "rmse", "wmape"]})", "m.json"), monitor_keys(), "monitor");
    Monitor monitor(given, {"train", "valid"}, false);
    Json line = figures_of(monitor, {1, 2, 5}, {2, 2, 1}, 1, 2);
    EXPECT_DOUBLE_EQ(line.at("valid.mae").as_number(), 5.0 / 3);
    EXPECT_DOUBLE_EQ(line.at("valid.rmse").as_number(), std::sqrt(17.0 / 3));
    EXPECT_DOUBLE_EQ(line.at("valid.wmape").as_number(), 1.0);
}

TEST(Channel, norms_terms_and_layers_are_what_the_step_did) {
    Trained trained(file_with(
        R"({"channels": ["cost", {"parameter_norm": "*"}, "gradient_norm", "update_norm", "update_ratio", "activations"]})",
        R"({"sgd": {"lr": 0.5}})"));
    Gathered gathered(trained.phase.monitor, trained.objective->names(), {Gathered::Of::set, Gathered::Of::run});
    data::Batches batches(trained.set, 300, {.shuffle = 1});
    gathered.add(trained.objective->step(*batches.begin(), {0, 1, nullptr}));  // from zero
    Json first;
    gathered.write(first, trained.phase.monitor, Gathered::Of::run);
    EXPECT_EQ(first.at("parameter_norm").as_number(), 0);
    EXPECT_NEAR(first.at("update_norm").as_number(), 0.5 * first.at("gradient_norm").as_number(), 1e-6);
    Gathered second(trained.phase.monitor, trained.objective->names(), {Gathered::Of::set, Gathered::Of::run});
    second.add(trained.objective->step(*batches.begin(), {1, 1, nullptr}));
    Json line;
    second.write(line, trained.phase.monitor, Gathered::Of::set, "train");
    second.write(line, trained.phase.monitor, Gathered::Of::run);
    double norm = line.at("parameter_norm").as_number(), weight = line.at("parameter_norm.0.weight").as_number();
    EXPECT_NEAR(norm, first.at("update_norm").as_number(), 1e-6 * norm);
    EXPECT_NEAR(std::hypot(weight, line.at("parameter_norm.0.bias").as_number()), norm, 1e-9);
    EXPECT_NEAR(line.at("update_ratio").as_number(), line.at("update_norm").as_number() / norm, 1e-9);
    EXPECT_NEAR(line.at("train.cost.weight_decay").as_number(), 0.05 * weight * weight, 1e-5);
    EXPECT_DOUBLE_EQ(line.at("train.cost").as_number(),
                     line.at("train.cost.cross_entropy").as_number() + line.at("train.cost.weight_decay").as_number());
    EXPECT_LT(line.at("train.activations.0.min").as_number(), line.at("train.activations.0.mean").as_number());
    EXPECT_GT(line.at("train.activations.0.std").as_number(), 0);
    EXPECT_EQ(line.at("train.activations.0.zeros").as_number(), 0);
}

TEST(Monitor, globs_choose_and_a_channel_knows_whether_more_is_better) {
    Phase phase(file_with(
        R"({"channels": ["loss", "accuracy", "f1", "gradient_norm"], "only": ["*.f1", "gradient*", "train.loss"]})"));
    EXPECT_EQ(phase.channels(), (std::vector<std::string>{"train.loss", "train.f1", "gradient_norm"}));
    EXPECT_TRUE(phase.monitor.more("train.f1"));
    EXPECT_FALSE(phase.monitor.more("train.loss"));
    EXPECT_FALSE(phase.monitor.more("gradient_norm"));
}

}  // namespace
}  // namespace weft::train
