// Searches by one process: what they leave is what plain runs would, also if they were stopped in between.
#include "weft/search/search.h"

#include <gmock/gmock.h>

#include "io/scratch.h"
#include "must_fail.h"
#include "weft/data/held.h"
#include "weft/experiment.h"

namespace weft {
namespace {

using testing::HasSubstr;
using train::keys, train::part;

Json described(const Json& over) {
    Json train_set = part("data", "digits", keys({{"size", 100}}));
    return keys({{"data", keys({{"train", train_set}, {"prepare", Json::array({"flatten"})}})},
                 {"model", part("model", "linear", 10)},
                 {"cost", "cross_entropy"},
                 {"optimizer", part("optimizer", "sgd", keys({{"lr", 0.01}}))},
                 {"batch_size", 20},
                 {"stop_when", part("stop", "epochs", 3)},
                 {"sweep", keys({{"over", keys({{"optimizer.sgd.lr", over}})}})}});
}

train::Trials two_rates() { return train::sweep_of(described(Json::array({0.001, 0.01}))); }

class SearchHere : public testing::Test {
  protected:
    std::string bytes(const std::string& name) const { return bytes_of_file(folder_ / name); }
    Scratch folder_;
};

TEST_F(SearchHere, a_trial_is_the_run_that_its_experiment_would_be) {
    train::Trials trials = two_rates();
    std::size_t told = 0;
    search::Options options{.ended = [&](const auto& result, const auto& all) {
        EXPECT_EQ(all.size(), ++told);
        EXPECT_EQ(result.trial, all.back().trial);
    }};
    search::Found found = search::run(trials, folder_ / "s", options);
    EXPECT_FALSE(found.interrupted);
    EXPECT_EQ(told, 2u);
    ASSERT_TRUE(found.best(trials));
    EXPECT_EQ(search::run_of(trials, "s", 2), "s/trials/002");
    train::Watcher nobody;
    train::Run plain = train::Run::create(folder_ / "plain", train::Experiment(trials.trials[1].config));
    plain.train(nobody, [] { return false; });
    for (const char* file : {"last/model.safetensors", "last/state.json", "config.yaml"})
        EXPECT_EQ(bytes(text("s/trials/002/", file)), bytes(text("plain/", file))) << file;
    EXPECT_TRUE(std::filesystem::exists(folder_ / "s/trials/001/report.html"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "s/sweep.html"));
    EXPECT_EQ(search::results_in(trials, folder_ / "s").size(), 2u);
}

TEST_F(SearchHere, stopped_and_started_again_it_ends_as_it_would_have) {
    train::Trials trials = two_rates();
    search::run(trials, folder_ / "whole");
    // Stops in the middle of the second trial, once.
    int steps = 0;
    search::Options options{.stop = [&] { return ++steps > 22; }};
    EXPECT_TRUE(search::run(trials, folder_ / "cut", options).interrupted);
    EXPECT_EQ(search::results_in(trials, folder_ / "cut").size(), 1u);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "cut/trials/002/last/state.json"));
    EXPECT_FALSE(search::run(trials, folder_ / "cut").interrupted);
    for (const char* file : {"last/model.safetensors", "last/state.json"})
        EXPECT_EQ(bytes(text("cut/trials/002/", file)), bytes(text("whole/trials/002/", file))) << file;
}

TEST_F(SearchHere, a_trial_that_fails_is_a_result_with_its_reason) {
    train::Trials trials = train::sweep_of(described(Json::array({1e38, 0.01})));
    search::Found found = search::run(trials, folder_ / "s");
    ASSERT_EQ(found.results.size(), 2u);
    EXPECT_THAT(found.results[0].error, HasSubstr("not finite"));
    EXPECT_EQ(found.best(trials)->trial, 2);
}

TEST_F(SearchHere, arrays_of_this_program_are_nothing_for_other_processes) {
    data::Held set = data::hold(Array::zeros(DType::float32, {30, 4}), Array::zeros(DType::int64, {30}));
    Json description = described(Json::array({0.01}));
    description["data"] = keys({{"train", set.description}});
    train::Trials trials = train::cross_validation_of(description);
    search::Options options{.command = [](const auto&) { return std::vector<std::string>{"/bin/false"}; }, .jobs = 2};
    EXPECT_PLAIN_MESSAGE(
        ConfigError,
        "the data are arrays of this program, which other processes do not have: train the cv's trials one "
        "after the other (jobs=1), or write the arrays to a file (.npz)",
        search::run(trials, folder_ / "s", options));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "s"));
    EXPECT_EQ(search::run(trials, folder_ / "s").results.size(), 5u);
}

TEST_F(SearchHere, a_process_that_ends_badly_says_why_in_its_last_line) {
    train::Trials trials = two_rates();
    search::Options options{.command = [](const auto&) {
        return std::vector<std::string>{"/bin/sh", "-c", "echo first; echo last; exit 7"};
    }};
    search::Found found = search::run(trials, folder_ / "s", options);
    ASSERT_EQ(found.results.size(), 2u);
    EXPECT_EQ(found.results[0].error, "last");
    EXPECT_FALSE(found.best(trials));
    options.command = [](const auto&) { return std::vector<std::string>{"/bin/sh", "-c", "kill -9 $$"}; };
    found = search::run(trials, folder_ / "t", options);
    EXPECT_EQ(found.results[0].error, "ended by signal 9");
}

}  // namespace
}  // namespace weft
