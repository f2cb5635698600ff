// What a sweep tries, how trials are compared, and the mistakes that are sweep_refused.
#include "weft/train/sweep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "io/scratch.h"
#include "weft/train/compose.h"
#include "weft/train/config.h"
#include "weft/train/folds.h"

namespace weft::train {
namespace {

Json swept(const std::string& sweep, const std::string& more = "") {
    return parse_config(
        text(R"({"let": {"width": 8}, "data": {"train": {"digits": {"size": 50}}, "prepare": ["flatten"]},
"model": [{"linear": "${width}"}, {"linear": 10}], "cost": "cross_entropy", "optimizer": {"sgd": {"lr": 0.1}}, "stop_when": {"epochs": 9},)",
             more, "\n\"sweep\": ", sweep, "}"),
        "f.json");
}
std::string sweep_refused(const std::string& sweep, const std::string& more = "") {
    return weft::error_of<ConfigError>([&] { (void)sweep_of(swept(sweep, more)); });
}

TEST(Sweep, grid_holds_every_combination_and_a_variable_can_be_tried) {
    Trials grid = sweep_of(swept(R"({"over": {"optimizer.sgd.lr": [0.5, 0.25], "let.width": {"integers": [3, 5]}}})"));
    ASSERT_EQ(grid.trials.size(), 6u);
    EXPECT_EQ(grid.trials[1].values, (std::vector<Json>{0.5, 4}));
    EXPECT_EQ(grid.trials[5].values, (std::vector<Json>{0.25, 5}));
    EXPECT_EQ(json_text(grid.trials[4].config.at("optimizer").at("sgd").at("lr")), "0.25");
    EXPECT_EQ(grid.trials[4].config.at("model").at("sequential").item(0).at("linear").at("units").as_integer(), 4);
    EXPECT_EQ(grid.watch.channel, "train.loss");
    EXPECT_EQ(grid.rungs.size(), 1u);
    EXPECT_EQ(grid.config(grid.trials[2], 0), grid.trials[2].config);
}

TEST(Sweep, draws_depend_on_the_seed_alone_and_cover_their_ranges) {
    auto drawn = [](int runs, int seed) {
        return sweep_of(swept(text(R"({"method": "random", "runs": )", runs, R"(, "seed": )", seed,
                                   R"(, "over": {"optimizer.sgd.lr": {"log_uniform": [0.0001, 10]},
                                           "let.width": [4, 5, 6], "optimizer.sgd.weight_decay": {"uniform": [0, 2]}}})")))
            .trials;
    };
    std::vector<Trial> many = drawn(60, 1), few = drawn(10, 1), others = drawn(10, 2);
    ASSERT_EQ(many.size(), 60u);
    std::set<std::int64_t> widths;
    double logs = 0, decays = 0;
    for (const Trial& trial : many) {
        double lr = trial.values[0].as_number(), decay = trial.values[2].as_number();
        EXPECT_TRUE(lr >= 0.0001 && lr <= 10 && decay >= 0 && decay <= 2);
        logs += std::log10(lr) / 60, decays += decay / 60;
        widths.insert(trial.values[1].as_integer());
    }
    // Means of 60 uniform numbers: 4 standard errors (5 and 2 wide, over sqrt(12 * 60)) around the middle.
    EXPECT_NEAR(logs, -1.5, 4 * 5 / std::sqrt(720));
    EXPECT_NEAR(decays, 1, 4 * 2 / std::sqrt(720));
    EXPECT_EQ(widths, (std::set<std::int64_t>{4, 5, 6}));
    for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].values, many[i].values);
    EXPECT_NE(few[0].values, others[0].values);
}

TEST(Sweep, a_short_list_is_drawn_once_each) {
    Trials trials = sweep_of(swept(R"({"method": "random", "runs": 10, "over": {"let.width": [4, 5, 6]}})"));
    EXPECT_EQ(trials.trials.size(), 3u);
}

TrialResult ended(std::int64_t trial, std::int64_t rung, double figure, const char* error = "") {
    TrialResult result;
    result.trial = trial, result.rung = rung, result.figure = figure, result.error = error;
    return result;
}

TEST(Sweep, halving_trains_fewer_and_fewer_for_longer_and_longer) {
    Trials trials =
        sweep_of(swept(R"({"method": "halving", "runs": 10, "over": {"optimizer.sgd.lr": {"uniform": [0, 1]}}})"));
    ASSERT_EQ(trials.rungs.size(), 3u);
    EXPECT_EQ(trials.rungs[0].trials, 10);
    EXPECT_EQ(trials.rungs[0].epochs, 1);
    EXPECT_EQ(trials.rungs[1].trials, 3);
    EXPECT_EQ(trials.rungs[1].epochs, 3);
    EXPECT_EQ(trials.rungs[2].trials, 1);
    EXPECT_EQ(trials.config(trials.trials[0], 2), trials.trials[0].config);
    EXPECT_EQ(json_text(trials.config(trials.trials[0], 1).at("stop_when")),
              R"({"any": [{"epochs": 3}, {"epochs": 9}]})");
    std::vector<TrialResult> results;
    for (int trial = 1; trial <= 10; ++trial) results.push_back(ended(trial, 0, 10 - trial));
    results[9].error = "valid.loss is nan";
    EXPECT_EQ(trials.members(1, results), (std::vector<std::int64_t>{7, 8, 9}));
    results.push_back(ended(8, 1, 5)), results.push_back(ended(7, 1, 4)), results.push_back(ended(9, 1, 6));
    EXPECT_EQ(trials.members(2, results), (std::vector<std::int64_t>{7}));
    std::vector<TrialResult> ranked = trials.ranked(results);
    ASSERT_EQ(ranked.size(), 10u);
    EXPECT_EQ(ranked[0].trial, 7);
    EXPECT_EQ(ranked[3].trial, 6);
    EXPECT_EQ(ranked[9].trial, 10);
}

TEST(Sweep, a_result_is_the_kept_models_figure_and_no_number_is_a_failure) {
    Scratch folder;
    put_file(
        folder / "log.jsonl",
        "{\"epoch\": 1, \"train.loss\": 0.5, \"seconds\": 1}\n{\"epoch\": 2, \"train.loss\": 0.7, \"seconds\": 2}\n"
        "{\"final\": true, \"epoch\": 1, \"seconds\": 3.0, \"valid.loss\": 0.25, \"valid.error\": \"NaN\"}\n");
    EXPECT_EQ(result_of(folder.folder(), {"valid.loss"}).figure, 0.25);
    EXPECT_EQ(result_of(folder.folder(), {"train.loss"}).figure, 0.5);
    EXPECT_EQ(result_of(folder.folder(), {"valid.error"}).error, "valid.error is nan");
    Trials trials = sweep_of(swept(R"({"over": {"let.width": [4, 5]}})"));
    TrialResult result = result_of(folder.folder(), {"valid.loss"});
    result.trial = 2;
    Json line = line_of(result, trials);
    EXPECT_EQ(json_text(line.at("values")), R"({"let.width": 5})");
    EXPECT_EQ(line_of(result_in(parse_json(json_text(line))), trials), line);
}

TEST(Sweep, mistakes_are_refused_where_they_stand) {
    EXPECT_EQ(sweep_refused(R"({"over": {"optimizer.sgd.lrr": [1]}})"),
              "f.json:3:20: unknown key 'lrr' in sgd; did you mean 'lr'?");
    EXPECT_EQ(sweep_refused(R"({"over": {"batch_size": [1, 0]}})").substr(0, 50),
              "f.json:3:38: expected 1 or more, found 0 (the expe");
    EXPECT_EQ(
        sweep_refused(R"({"over": {"batch_size": {"uniform": [1, 9]}}})"),
        "f.json:3:35: a grid tries every value, and uniform has no end of them; give a list, or `method: random`");
    EXPECT_EQ(sweep_refused(R"({"over": {"sweep.seed": [1]}})"),
              "f.json:3:20: 'sweep.seed' cannot be tried: it is no part of a run");
    EXPECT_EQ(sweep_refused(R"({"over": {"let.widht": [1]}})"),
              "f.json:3:20: 'let.widht' cannot be tried: there is no variable 'widht'; did you mean 'width'?");
    EXPECT_EQ(sweep_refused(R"({"over": {"seed": []}})"), "f.json:3:28: expected at least one value");
    EXPECT_EQ(sweep_refused(R"({"over": {}})"),
              "f.json:3:19: expected at least one key, as in {optimizer.sgd.lr: [0.1, 0.01]}");
    EXPECT_EQ(sweep_refused(R"({"over": {"seed": [1]}, "minimise": "train.loss"})"),
              "f.json:3:34: unknown key 'minimise' in sweep; did you mean 'minimize'?");
    EXPECT_EQ(sweep_refused(R"({"over": {"seed": [1]}, "minimize": "train.los"})").substr(0, 77),
              "f.json:3:46: no figure of this run is called 'train.los'; did you mean 'train");
    EXPECT_EQ(sweep_refused(R"({"method": "halving", "over": {"seed": [1, 2, 3]}})", R"("phases": [{}, {}],)"),
              "f.json:3:21: halving compares runs by their epochs, which count anew in each of `phases:`; use random");
    EXPECT_EQ(sweep_refused(R"({"over": {"seed": {"log_uniform": [0, 1]}}, "method": "random"})"),
              "f.json:3:45: log_uniform: expected more than 0, found 0");
}

TEST(CrossValidation, each_trial_holds_out_one_fold_as_its_test_set) {
    Trials trials =
        cross_validation_of(compose(swept(R"({"over": {"seed": [1]}})", R"("cv": {"folds": 3, "repeats": 2},)")));
    ASSERT_EQ(trials.trials.size(), 6u);
    EXPECT_EQ(trials.trials[4].values, (std::vector<Json>{2, 2}));
    const Json& data = trials.trials[4].config.at("data");
    EXPECT_EQ(data.at("train").at("fold").at("part").as_string(), "train");
    EXPECT_EQ(data.at("test").at("fold").at("part").as_string(), "held_out");
    for (const char* set : {"train", "test"}) {
        const Json& fold = data.at(set).at("fold");
        EXPECT_EQ(fold.at("fold").as_integer(), 2);
        EXPECT_EQ(fold.at("seed").as_integer(), 2);
        EXPECT_TRUE(fold.at("stratified").as_bool());
    }
    EXPECT_EQ(trials.watch.channel, "test.error");
    EXPECT_FALSE(trials.watch.more);
}

TEST(CrossValidation, spreads_are_means_and_deviations_of_what_ended_well) {
    std::vector<TrialResult> results{ended(1, 0, 0), ended(2, 0, 0), ended(3, 0, 0, "it failed")};
    results[0].figures = parse_json(R"({"test.loss": 1.0})"), results[1].figures = parse_json(R"({"test.loss": 4.0})");
    std::vector<Spread> all = spreads(results);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].mean, 2.5);
    EXPECT_DOUBLE_EQ(all[0].deviation, std::sqrt(4.5));
}

}  // namespace
}  // namespace weft::train
