// Stop rules, one by one: each is true when a run is done, for less and for more, for figures that are no numbers; none an epoch too late.
#include <gtest/gtest.h>

#include <cmath>

#include "io/scratch.h"
#include "train/chosen.h"
#include "weft/base/error.h"
#include "weft/train/config.h"
#include "weft/train/run.h"

namespace weft::train {
namespace {

constexpr double nan_figure = std::numeric_limits<double>::quiet_NaN();

StopRule rule_of(const std::string& text) { return made_of<MakeStop>("stop", text); }

/// After epochs with these figures.
bool done_after(const std::string& rule, std::vector<double> figures, bool more = false, std::int64_t step = 0,
                double seconds = 0) {
    Standing standing{static_cast<std::int64_t>(figures.size()), step, seconds};
    standing.more = [&](const std::string&) { return more; };
    standing.history = [&](const std::string&) { return figures; };
    return rule_of(rule).done(standing);
}

TEST(Stopping, no_improvement_counts_epochs_since_the_best) {
    const char* rule = R"({"any": [{"epochs": 50}, {"no_improvement": {"of": "valid.error", "for": 3}}]})";
    EXPECT_FALSE(done_after(rule, {}));
    EXPECT_FALSE(done_after(rule, {5, 4, 4, 4}));
    EXPECT_TRUE(done_after(rule, {5, 4, 4, 4, 4}));
    EXPECT_FALSE(done_after(rule, {5, 4, 4, 4, 3, 6}));
    EXPECT_TRUE(done_after(rule, std::vector<double>(50, 1.0)));
}

TEST(Stopping, no_improvement_takes_a_margin_a_share_and_a_factor_of_the_best_epoch) {
    auto with = [](const std::string& more) { return R"({"no_improvement": {"of": "x", "for": 2)" + more + "}}"; };
    EXPECT_FALSE(done_after(with(""), {5, 4.9, 4.8}));
    EXPECT_TRUE(done_after(with(R"(, "least": 0.5)"), {5, 4.9, 4.8}));
    EXPECT_TRUE(done_after(with(R"(, "share": 0.05)"), {5, 4.9, 4.8}));
    EXPECT_FALSE(done_after(with(R"(, "share": 0.01)"), {5, 4.9, 4.8}));
    std::vector<double> figures{5, 4, 3, 2, 2, 2};  // the best is epoch 4
    EXPECT_TRUE(done_after(with(""), figures));
    EXPECT_FALSE(done_after(with(R"(, "factor": 2)"), figures));
    figures.insert(figures.end(), {2, 2});
    EXPECT_TRUE(done_after(with(R"(, "factor": 2)"), figures));
    EXPECT_TRUE(done_after(with(""), {nan_figure, nan_figure}));
    EXPECT_TRUE(done_after(with(""), {3, nan_figure, nan_figure}));
}

TEST(Stopping, whether_more_is_better_says_the_channel_unless_the_file_does) {
    const char* rule = R"({"target": {"of": "x", "value": 0.9}})";
    EXPECT_FALSE(done_after(rule, {0.5}, true));
    EXPECT_TRUE(done_after(rule, {0.95}, true));
    EXPECT_TRUE(done_after(rule, {0.5}, false));
    EXPECT_TRUE(done_after(R"({"target": {"of": "x", "value": 0.9, "mode": "max"}})", {0.95}, false));
    EXPECT_TRUE(done_after(R"({"no_improvement": {"of": "x", "for": 1}})", {1, 0.5}, true));
    EXPECT_FALSE(done_after(R"({"no_improvement": {"of": "x", "for": 1}})", {0.5, 1}, true));
    EXPECT_FALSE(done_after(rule, {nan_figure}, true));
    EXPECT_FALSE(done_after(rule, {nan_figure}, false));
}

TEST(Stopping, epochs_steps_time_and_what_is_not_finite) {
    EXPECT_FALSE(done_after(R"({"epochs": 2})", {1}));
    EXPECT_TRUE(done_after(R"({"epochs": 2})", {1, 1}));
    EXPECT_FALSE(done_after(R"({"steps": 10})", {}, false, 9));
    EXPECT_TRUE(done_after(R"({"steps": 10})", {}, false, 10));
    EXPECT_FALSE(done_after(R"({"time": {"minutes": 1, "seconds": 5}})", {}, false, 0, 64));
    EXPECT_TRUE(done_after(R"({"time": {"minutes": 1, "seconds": 5}})", {}, false, 0, 65));
    for (double bad : {nan_figure, static_cast<double>(INFINITY), -static_cast<double>(INFINITY)})
        EXPECT_TRUE(done_after(R"({"not_finite": "x"})", {1, bad}));
    EXPECT_FALSE(done_after(R"({"not_finite": "x"})", {nan_figure, 1}));
    EXPECT_THROW(rule_of(R"({"time": {}})"), ConfigError);
}

TEST(Stopping, any_ends_with_the_first_rule_and_all_with_the_last) {
    const char* any = R"({"any": [{"steps": 10}, {"epochs": 2}]})";
    const char* all = R"({"all": [{"steps": 10}, {"epochs": 2}]})";
    EXPECT_TRUE(done_after(any, {1}, false, 10));
    EXPECT_TRUE(done_after(any, {1, 1}, false, 9));
    EXPECT_FALSE(done_after(any, {1}, false, 9));
    EXPECT_FALSE(done_after(all, {1}, false, 10));
    EXPECT_FALSE(done_after(all, {1, 1}, false, 9));
    EXPECT_TRUE(done_after(all, {1, 1}, false, 10));
    EXPECT_TRUE(rule_of(any).within_epochs);
    EXPECT_FALSE(rule_of(R"({"any": [{"epochs": 2}, {"not_finite": "x"}]})").within_epochs);
}

/// 120 examples in batches of 20; `more` are members of the file.
Run small_run(const std::filesystem::path& folder, const std::string& more) {
    Json file = parse_config(
        text(R"({"data": {"train": {"digits": {"size": 120}}, "valid": {"digits": {"split": "valid", "size": 50}},
        "prepare": ["flatten"]}, "model": [{"dropout": 0.1}, {"linear": 10}], "cost": ["cross_entropy", {"weight_decay": 0.01}],
        "batch_size": 20, )",
             more, "}"),
        "f.json");
    return Run::create(folder, Experiment(file));
}

Outcome train_to(Run run, std::int64_t steps = -1) {
    struct Counting : Watcher {
        std::int64_t step = 0;
        void batch(const Progress& progress, std::int64_t) override { step = progress.step; }
    } watcher;
    return run.train(watcher, [&] { return steps >= 0 && watcher.step >= steps; });
}

/// Without what depends on the machine.
std::vector<Json> timeless_log(const std::filesystem::path& folder) {
    std::vector<Json> lines = read_log(folder / "log.jsonl");
    for (Json& line : lines) {
        if (Json* seconds = line.find("seconds")) *seconds = 0;
    }
    return lines;
}

TEST(Stopping, steps_end_a_run_in_the_middle_of_an_epoch_whose_figures_are_of_these_steps) {
    Scratch scratch;
    Json last =
        train_to(small_run(scratch.folder() / "a", R"("optimizer": "sgd", "stop_when": {"steps": 8})")).final_line;
    EXPECT_EQ(last.at("step").as_integer(), 8);
    EXPECT_EQ(last.at("examples").as_integer(), 160);
    EXPECT_EQ(read_log(scratch.folder() / "a" / "log.jsonl").size(),
              3u);  // two epochs, the second cut short, and the end
}

TEST(KeepBest, a_model_whose_figure_is_no_number_never_takes_the_place_of_one_whose_is) {
    Scratch scratch;
    // From epoch 3 on the rate is so great that the loss becomes infinite and then NaN.
    Json last = train_to(small_run(scratch.folder() / "a", R"("optimizer": {"sgd": {"lr":
        {"milestones": {"from": 1.0e-4, "epochs": [3], "factor": 1.0e36}}}}, "stop_when": {"epochs": 5}, "keep_best": {"of": "valid.loss"})"))
                    .final_line;
    std::vector<double> losses;
    for (const Json& line : read_log(scratch.folder() / "a" / "log.jsonl")) {
        if (is_epoch(line)) losses.push_back(line.at("valid.loss").as_number());
    }
    EXPECT_FALSE(std::isfinite(losses.back()));
    EXPECT_LE(last.at("epoch").as_integer(), 2);
    EXPECT_EQ(last.at("valid.loss").as_number(), losses[static_cast<std::size_t>(last.at("epoch").as_integer() - 1)]);
}

TEST(KeepBest, keeps_the_greatest_figure_of_a_channel_of_which_more_is_better) {
    Scratch scratch;
    Json last =
        train_to(small_run(scratch.folder() / "a", R"("optimizer": {"sgd": {"lr": 0.001}}, "stop_when": {"epochs": 6},
        "monitor": {"channels": ["loss", "accuracy"]}, "keep_best": {"of": "valid.accuracy"})"))
            .final_line;
    double most = 0;
    for (const Json& line : read_log(scratch.folder() / "a" / "log.jsonl"))
        if (is_epoch(line)) most = std::max(most, line.at("valid.accuracy").as_number());
    EXPECT_EQ(last.at("valid.accuracy").as_number(), most);
    EXPECT_GT(most, 0.1);
}

TEST(Run, stopped_after_any_step_it_goes_on_to_the_same_log_whatever_is_monitored) {
    Scratch scratch;
    const char* more =
        R"("optimizer": {"momentum": {"lr": 0.001}}, "stop_when": {"epochs": 2}, "monitor": {"every": 4, "channels":
        ["loss", "error", "cost", "f1", "auc", {"top_k": 2}, {"parameter_norm": "*"}, "gradient_norm", "update_ratio", "activations"]})";
    (void)train_to(small_run(scratch.folder() / "whole", more));
    for (std::int64_t steps : {1, 3, 4, 6, 9}) {
        std::filesystem::path folder = scratch.folder() / std::to_string(steps);
        EXPECT_TRUE(train_to(small_run(folder, more), steps).interrupted);
        EXPECT_FALSE(train_to(Run::open(folder)).interrupted);
        EXPECT_EQ(timeless_log(folder), timeless_log(scratch.folder() / "whole")) << steps;
    }
}

}  // namespace
}  // namespace weft::train
