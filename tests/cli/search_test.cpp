// weft sweep and weft cv from outside: what they leave is what plain runs would, stopped, killed, or with several processes at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/base/json.h"
#include "weft/data/files.h"
#include "weft/data/folds.h"
#include "weft/io/safetensors.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string searched(const std::string& more) {
    return text(R"({"data": {"train": {"digits": {"size": 200}}, "valid": {"digits": {"split": "valid", "size": 60}},
"prepare": [{"scale": [0, 1]}, "flatten"]}, "model": [{"dropout": 0.1}, {"linear": 10}], "cost": "cross_entropy",
"optimizer": {"momentum": {"lr": 0.1}}, "batch_size": 20, "stop_when": {"epochs": 4}, "keep_best": {"of": "valid.loss"}, "seed": 3,
)",
                more, "}");
}

/// The lines of trials, in the order of trials, without what depends on time.
std::vector<std::string> results(const fs::path& file) {
    std::vector<std::string> all;
    std::istringstream lines(contents(file));
    for (std::string line; std::getline(lines, line);) {
        Json result = parse_json(line);
        if (result.find("final")) continue;
        std::string words;
        for (const Json::Member& member : result.members())
            if (member.key != "seconds") words += member.key + "=" + json_text(member.value) + " ";
        all.push_back(words);
    }
    std::sort(all.begin(), all.end());
    return all;
}

class SearchCommand : public testing::Test {
  protected:
    Ended weft(const std::vector<std::string>& words) { return run(folder_.folder(), words); }
    fs::path at(const std::string& name) const { return folder_.folder() / name; }
    std::size_t lines(const std::string& name) const {
        std::string all = contents(at(name));
        return static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
    }
    Scratch folder_;
};

TEST_F(SearchCommand, a_dry_run_lists_what_would_be_trained_and_makes_nothing) {
    put_file(at("e.json"),
             searched(R"("sweep": {"over": {"model.1.linear": [10, 20], "optimizer.momentum.lr": [0.1, 0.01]}})"));
    Ended ended = weft({"sweep", "e.json", "--dry-run"});
    ASSERT_EQ(ended.status, 0) << ended.output;
    for (const char* line :
         {"trial\tmodel.1.linear\toptimizer.momentum.lr\tparameters\n", "\n4\t20\t0.01\t15,700\n",
          "\n4 trials, to the end\n", "compared by valid.loss, of which less is better", "momentum: "})
        EXPECT_NE(ended.output.find(line), std::string::npos) << ended.output;
    EXPECT_FALSE(fs::exists(at("runs")));
}

TEST_F(SearchCommand, a_trial_that_fails_is_a_row_and_the_rest_goes_on) {
    put_file(at("e.json"), searched(R"("sweep": {"over": {"optimizer.momentum.lr": [0.1, 1e38, 0.01]}})"));
    Ended ended = weft({"sweep", "e.json", "--out", "s", "--jobs", "2"});
    ASSERT_EQ(ended.status, 0) << ended.output;
    EXPECT_NE(ended.output.find("\n2\t1e+38\t"), std::string::npos) << ended.output;
    EXPECT_NE(ended.output.find("\ttrain.loss is not finite from epoch 1 on"), std::string::npos) << ended.output;
    EXPECT_NE(ended.output.find("best    s/trials/00"), std::string::npos) << ended.output;
    std::string page = contents(at("s") / "sweep.html"), log = contents(at("s") / "sweep.jsonl");
    EXPECT_NE(page.find("<circle"), std::string::npos);
    EXPECT_EQ(page.find("http"), std::string::npos);
    EXPECT_EQ(weft({"sweep", "e.json", "--out", "s", "--table"}).output.substr(0, 6), "trial\t");
    // Started again, it has nothing to do; another sweep does not go on here.
    EXPECT_EQ(weft({"sweep", "e.json", "--out", "s", "--quiet"}).status, 0);
    EXPECT_EQ(contents(at("s") / "sweep.jsonl"), log);
    EXPECT_EQ(weft({"sweep", "e.json", "--out", "s", "--seed", "4"}).status, 2);
    Ended plain = weft({"train", "e.json", "--out", "plain", "--quiet", "--set", "optimizer.momentum.lr=0.01"});
    ASSERT_EQ(plain.status, 0) << plain.output;
    for (const char* file : {"best/model.safetensors", "last/state.safetensors", "last/state.json", "config.yaml"})
        EXPECT_TRUE(contents(at("plain") / file) == contents(at("s/trials/003") / file)) << file;
}

TEST_F(SearchCommand, killed_and_started_again_halving_ends_as_it_would_have) {
    put_file(at("e.json"),
             searched(R"("checkpoint": {"steps": 4}, "sweep": {"method": "halving", "runs": 6, "factor": 2,
        "over": {"optimizer.momentum.lr": {"log_uniform": [0.001, 1]}}})"));
    Ended whole = weft({"sweep", "e.json", "--out", "whole", "--quiet"});
    ASSERT_EQ(whole.status, 0) << whole.output;
    EXPECT_EQ(lines("whole/sweep.jsonl"), 6u + 3 + 1 + 1);
    int kills = 0;
    for (int turn = 0; turn < 3; ++turn) {
        Process program(folder_.folder(), {"sweep", "e.json", "--out", "cut", "--quiet", "--jobs", "2"});
        // As soon as two more have ended: in the middle of others.
        std::size_t before = fs::exists(at("cut/sweep.jsonl")) ? lines("cut/sweep.jsonl") : 0;
        for (int i = 0; i < 2000 && lines("cut/sweep.jsonl") < before + 2; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        program.signal(turn == 1 ? SIGTERM : SIGKILL);
        kills += program.wait() != 0;
    }
    EXPECT_GE(kills, 1);
    Ended again = weft({"sweep", "e.json", "--out", "cut", "--quiet"});
    ASSERT_EQ(again.status, 0) << again.output;
    EXPECT_EQ(results(at("cut/sweep.jsonl")), results(at("whole/sweep.jsonl")));
    Json best;
    std::istringstream all(contents(at("whole/sweep.jsonl")));
    for (std::string line; std::getline(all, line);) best = parse_json(line);
    std::string run = text("trials/00", best.at("trial").as_integer());
    for (const char* file : {"best/model.safetensors", "last/state.safetensors", "last/state.json", "config.yaml"})
        EXPECT_TRUE(contents(at("whole") / run / file) == contents(at("cut") / run / file)) << file;
    // The rungs of a run are one run: the same bytes as in one go.
    Ended plain = weft({"train", at("whole") / (run + ".json"), "--out", "plain", "--quiet"});
    ASSERT_EQ(plain.status, 0) << plain.output;
    for (const char* file : {"best/model.safetensors", "best/state.json", "last/state.safetensors", "last/state.json"})
        EXPECT_TRUE(contents(at("plain") / file) == contents(at("whole") / run / file)) << file;
}

TEST_F(SearchCommand, each_fold_is_prepared_by_its_own_training_part_alone) {
    std::string rows;
    for (int k = 0; k < 24; ++k) rows += text(k * k % 17, ",", k % 5 + 0.5, ",", k % 3, "\n");
    put_file(at("t.csv"), rows);
    put_file(at("e.json"),
             R"({"data": {"train": {"csv": {"path": "t.csv"}}, "prepare": ["standardize"]}, "model": [{"linear": 3}],
"cost": "cross_entropy", "optimizer": {"sgd": {"lr": 0.1}}, "batch_size": 8, "stop_when": {"epochs": 2}})");
    Ended ended = weft({"cv", "e.json", "--out", "c", "--folds", "4", "--repeats", "2"});
    ASSERT_EQ(ended.status, 0) << ended.output;
    EXPECT_NE(ended.output.find("trial\trepeat\tfold\ttest.error\ttest.loss\t"), std::string::npos) << ended.output;
    EXPECT_NE(ended.output.find("\nmean\t\t\t"), std::string::npos) << ended.output;
    EXPECT_EQ(lines("c/cv.jsonl"), 9u);
    data::Dataset whole = data::csv(at("t.csv"));
    for (std::int64_t repeat : {1, 2}) {
        std::vector<std::int64_t> folds = data::folds_of(whole, {4, true, static_cast<std::uint64_t>(repeat)});
        for (std::int64_t fold = 0; fold < 4; ++fold) {
            double sum = 0, count = 0;
            for (std::size_t row = 0; row < folds.size(); ++row)
                if (folds[row] != fold) sum += static_cast<double>(whole.x.data<float>()[2 * row]), ++count;
            fs::path state = at(text("c/trials/00", 4 * (repeat - 1) + fold + 1, "/last/state.safetensors"));
            Array mean = io::load_safetensors(state).arrays.find("prepare.0.standardize.mean")->second;
            EXPECT_NEAR(mean.data<double>()[0], sum / count, 1e-12);
        }
    }
    Json last;
    std::istringstream all(contents(at("c/cv.jsonl")));
    double sum = 0;
    for (std::string line; std::getline(all, line);) {
        last = parse_json(line);
        if (!last.find("final")) sum += last.at("figures").at("test.loss").as_number();
    }
    EXPECT_NEAR(last.at("test.loss").at("mean").as_number(), sum / 8, 1e-12);
    EXPECT_EQ(weft({"cv", "e.json", "--out", "c", "--folds", "3"}).status, 2);
}

}  // namespace
}  // namespace weft
