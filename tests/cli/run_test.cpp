// Runs from outside: the same bytes for any number of threads, stopped or not, killed or not; and nothing lost when things go wrong.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/base/json.h"
#include "weft/io/npy.h"
#include "weft/io/safetensors.h"
#include "weft/train/log.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* small = R"({
"data": {"train": {"digits": {"size": 600}}, "valid": {"digits": {"split": "valid", "size": 100}},
         "test": {"digits": {"split": "test", "size": 100}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"model": {"sequential": [{"dropout": 0.1}, {"linear": 32}, "batch_norm", "relu", {"linear": 10}]},
"cost": ["cross_entropy", {"weight_decay": 1.0e-4}],
"optimizer": {"momentum": {"lr": {"linear": {"from": 0.1, "to": 0.01, "epochs": [1, 4]}}}},
"batch_size": 50, "stop_when": {"epochs": 4}, "keep_best": {"of": "valid.error"}, "monitor": {"every": "step"},
"checkpoint": {"steps": 5}, "seed": 3})";

// A state that goes on from step to step, of a text whose rows go on likewise.
constexpr const char* carried = R"({
"data": {"train": {"text": {"path": "letters.txt", "length": 8, "lanes": 4}},
         "valid": {"text": {"path": "letters.txt", "length": 8, "split": "valid"}}, "shuffle": false},
"model": [{"embedding": {"count": 8, "units": 6}}, {"lstm": {"units": 6, "layers": 2, "carry": true, "dropout": 0.1}},
          {"gru": {"units": 6, "carry": true}}, {"linear": 8}, "transpose"],
"cost": "cross_entropy", "optimizer": {"adam": {"lr": 0.01}}, "batch_size": 4, "checkpoint": {"steps": 5}, "seed": 3,
"stop_when": {"epochs": 3}, "keep_best": {"of": "valid.loss"}})";

// Three phases: the first keeps its best model, the second has another model, other data and frozen layers, the third trains it all until
// it is as good as the first one was.
constexpr const char* phased = R"({
"data": {"train": {"digits": {"size": 400}}, "valid": {"digits": {"split": "valid", "size": 100}},
         "prepare": ["standardize", "flatten"]},
"model": {"sequential": [{"dropout": 0.1}, {"linear": {"units": 32, "name": "hidden"}}, "batch_norm", "relu", {"linear": 10}]},
"cost": "cross_entropy", "optimizer": {"momentum": {"lr": 0.05}}, "batch_size": 50, "checkpoint": {"steps": 5}, "seed": 3,
"phases": [
  {"name": "pretrain", "stop_when": {"epochs": 3}, "keep_best": {"of": "valid.loss"}},
  {"name": "head", "data": {"train": {"digits": {"size": 300, "seed": 2}}}, "freeze": ["hidden.*"], "optimizer": {"adam": {"lr": 0.003}},
   "model": {"sequential": [{"linear": {"units": 32, "name": "hidden"}}, "relu", {"dropout": 0.2},
                            {"residual": [{"linear": 32}, "tanh"]}, {"linear": {"units": 10, "name": "head"}}]},
   "stop_when": {"epochs": 2}},
  {"name": "finetune", "optimizer": {"rmsprop": {"lr": 0.001}}, "keep_best": {"of": "valid.loss"},
   "model": {"sequential": [{"linear": {"units": 32, "name": "hidden"}}, "relu", {"dropout": 0.2},
                            {"residual": [{"linear": 32}, "tanh"]}, {"linear": {"units": 10, "name": "head"}}]},
   "stop_when": {"any": [{"epochs": 4}, {"match": {"of": "train.loss", "phase": "pretrain"}}]}}]})";

// Methods with line searches, whose noise is held fixed within a step, and all that is done around steps.
constexpr const char* methods = R"({
"data": {"train": {"digits": {"size": 400}}, "valid": {"digits": {"split": "valid", "size": 100}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"model": {"sequential": [{"dropout": 0.1}, {"linear": 16}, "batch_norm", "tanh", {"linear": 10}]},
"cost": ["cross_entropy", {"weight_decay": 1.0e-4}], "batch_size": 200, "checkpoint": {"steps": 1}, "seed": 3,
"stop_when": {"epochs": 2}, "keep_best": {"of": "valid.loss"},
"phases": [
  {"optimizer": {"conjugate_gradient": {"iterations": 4}}},
  {"optimizer": {"lbfgs": {"iterations": 4, "history": 3, "across_batches": true}}},
  {"optimizer": {"batch_gradient_descent": {"iterations": 2}}},
  {"optimizer": {"nadam": {"lr": {"warm_up": {"steps": 3, "after": {"plateau": {"from": 0.01, "of": "train.loss", "patience": 0}}}},
    "accumulate": 3, "clip_norm": 0.5, "average": {"decay": 0.9}, "constraints": [{"match": "1.weight", "max_col_norm": 1}]}},
   "batch_size": 40, "stop_when": {"epochs": 4}}]})";

// Rows read from a file by two threads, shuffled in a window, prepared and augmented as they come.
constexpr const char* streamed = R"({
"data": {"train": {"npy": {"x": "x.npy", "y": "y.npy", "stream": true}}, "window": 100, "readers": 2,
         "prepare": [{"scale": [0, 1]}, "gcn", {"zca": {"bias": 0.1}}],
         "augment": [{"crop": {"padding": 1}}, "flip", {"affine": {"rotate": 5}}, {"noise": {"deviation": 0.1}}]},
"model": ["flatten", {"linear": 16}, "relu", {"linear": 10}], "cost": "cross_entropy", "optimizer": {"momentum": {"lr": 0.05}},
"batch_size": 30, "stop_when": {"epochs": 3}, "keep_best": {"of": "train.loss"}, "checkpoint": {"steps": 4}, "seed": 3})";

// Costs that carry state: chains that go on from step to step; two networks against each other, each with an optimizer of its own.
constexpr const char* chains = R"({
"data": {"train": {"digits": {"size": 400}}, "valid": {"digits": {"split": "valid", "size": 100}}, "prepare": [{"scale": [0, 1]}, {"binarize": {"draw": true}}, "flatten"]},
"model": [{"rbm": {"units": 24, "chains": 10, "steps": 2, "name": "first"}}],
"cost": ["of_layers", {"weight_decay": {"factor": 0, "groups": [{"match": "*.weight", "factor": 1.0e-3}]}}],
"optimizer": {"momentum": {"lr": 0.05}}, "batch_size": 40, "checkpoint": {"steps": 3}, "seed": 3,
"stop_when": {"epochs": 3}, "keep_best": {"of": "valid.loss"},
"phases": [{"name": "one"}, {"name": "two", "model": {"dbm": {"hidden": [24, 12], "chains": 10, "steps": 2, "mean_field": 3}}}]})";

// Layers without gradients: what has passed in an epoch is part of checkpoints; the second phase looks through the first one's axes.
constexpr const char* clusters = R"({
"data": {"train": {"digits": {"size": 400}}, "valid": {"digits": {"split": "valid", "size": 100}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"model": [{"slice": {"range": [294, 490]}}, {"pca": {"components": 12, "name": "axes"}}], "cost": "of_layers", "optimizer": "of_layers",
"batch_size": 30, "checkpoint": {"steps": 9}, "seed": 3, "stop_when": {"epochs": 1}, "keep_best": {"of": "valid.loss"},
"monitor": {"channels": ["loss", "explained_variance"]},
"phases": [{"name": "one"}, {"name": "two", "stop_when": {"epochs": 4}, "monitor": {"channels": ["loss"]},
            "model": [{"slice": {"range": [294, 490]}}, {"pca": {"components": 12, "name": "axes", "freeze": true}}, {"kmeans": {"clusters": 7, "name": "groups"}}]}]})";
constexpr const char* adversaries = R"({
"data": {"train": {"digits": {"size": 400}}, "valid": {"digits": {"split": "valid", "size": 100}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"model": {"adversarial": {"latent": 8, "margin": 0.1, "generator": [{"linear": 32}, "batch_norm", "relu", {"linear": 784}, "sigmoid"],
    "discriminator": [{"linear": 32}, {"leaky_relu": 0.2}, {"dropout": 0.3}, {"linear": 1}]}},
"cost": "of_layers",
"optimizer": {"by_name": {"parts": {"generator.*": {"adam": {"lr": {"cosine": {"from": 0.01, "epochs": 5}}, "skip_zero": true}},
                                    "*": {"rmsprop": {"lr": 0.001, "skip_zero": true}}}}},
"batch_size": 40, "checkpoint": {"steps": 3}, "seed": 3, "stop_when": {"epochs": 5}, "keep_best": {"of": "valid.loss"}})";

// All that the monitor gathers within epochs, and a rule that ends the run in the middle of one.
constexpr const char* watched = R"({
"data": {"train": {"digits": {"size": 600}}, "valid": {"digits": {"split": "valid", "size": 100}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"model": {"sequential": [{"dropout": 0.1}, {"linear": 32}, "relu", {"linear": 10}]}, "cost": ["cross_entropy", {"weight_decay": 1.0e-4}],
"optimizer": {"adam": {"lr": 0.003}}, "batch_size": 50, "checkpoint": {"steps": 5}, "seed": 3, "stop_when": {"steps": 41},
"keep_best": {"of": "valid.f1"}, "monitor": {"every": 7, "channels": ["loss", "error", "cost", "f1", "auc", {"top_k": 3},
  {"gradient_norm": "*"}, "update_ratio", "activations"]}})";

// Lines in buckets of near lengths, with a state that heeds them; two inputs and two outputs.
constexpr const char* buckets = R"({
"data": {"train": {"text": {"path": "lines.txt", "lines": true}}, "valid": {"text": {"path": "lines.txt", "lines": true, "split": "valid"}},
         "buckets": 3, "readers": 2},
"model": [{"embedding": {"count": 9, "units": 5}}, {"gru": {"units": 6, "bidirectional": true}}, {"linear": 9}, "transpose"],
"cost": "cross_entropy", "optimizer": {"adam": {"lr": 0.01}}, "batch_size": 6, "checkpoint": {"steps": 5}, "seed": 3,
"stop_when": {"epochs": 3}, "keep_best": {"of": "valid.loss"}})";
constexpr const char* fields = R"({
"data": {"train": {"pairs": {"of": {"digits": {"size": 300}}, "count": 400}},
         "valid": {"pairs": {"of": {"digits": {"split": "valid", "size": 100}}, "count": 100}},
         "prepare": ["standardize", "flatten"], "augment": [{"noise": {"deviation": 0.1}}]},
"model": {"graph": {"nodes": {"a": {"linear": {"units": 16, "share": "s", "from": "left"}},
  "b": {"linear": {"units": 16, "share": "s", "from": "right"}}, "same": {"linear": {"units": 1, "from": ["a", "b"]}},
  "digit": {"linear": {"units": 10, "from": "a"}}}, "output": ["same", "digit"]}},
"cost": ["binary_cross_entropy", {"cross_entropy": {"of": "digit", "target": "left_class"}}], "optimizer": {"momentum": {"lr": 0.05}},
"batch_size": 40, "stop_when": {"epochs": 3}, "keep_best": {"of": "valid.loss"}, "checkpoint": {"steps": 4}, "seed": 3})";

/// The log without what depends on time.
std::string timeless(const fs::path& run) {
    std::istringstream lines(contents(run / "log.jsonl"));
    std::string all;
    for (std::string line; std::getline(lines, line);) {
        Json fields = parse_json(line);
        for (const Json::Member& member : fields.members()) {
            if (member.key != "seconds") all += member.key + "=" + json_text(member.value) + " ";
        }
        all += "\n";
    }
    return all;
}

class RunFolder : public testing::Test {
  protected:
    void SetUp() override {
        std::ofstream(folder_.folder() / "small.json") << small;
        std::ofstream(folder_.folder() / "phased.json") << phased;
        std::ofstream(folder_.folder() / "methods.json") << methods;
        std::ofstream(folder_.folder() / "chains.json") << chains;
        std::ofstream(folder_.folder() / "adversaries.json") << adversaries;
        std::ofstream(folder_.folder() / "clusters.json") << clusters;
        std::ofstream(folder_.folder() / "watched.json") << watched;
        std::ofstream(folder_.folder() / "carried.json") << carried;
        std::ofstream letters(folder_.folder() / "letters.txt");
        for (int i = 0; i < 2000; ++i) letters << "abcdefgh"[(i * i + i / 7) % 8];
    }
    Ended weft(const std::vector<std::string>& words, const std::vector<std::string>& settings = {}) {
        return run(folder_.folder(), words, settings);
    }
    fs::path at(const std::string& name) const { return folder_.folder() / name; }
    void expect_same(const std::string& a, const std::string& b) {
        for (const char* folder : {"last", "best"}) {
            for (const char* file : {"model.safetensors", "state.safetensors", "state.json"}) {
                std::string one = contents(at(a) / folder / file), other = contents(at(b) / folder / file);
                EXPECT_FALSE(one.empty()) << a << "/" << folder << "/" << file;
                EXPECT_TRUE(one == other) << folder << "/" << file << " of " << a << " and " << b << " differ";
            }
        }
        EXPECT_EQ(timeless(at(a)), timeless(at(b)));
        EXPECT_EQ(contents(at(a) / "config.yaml"), contents(at(b) / "config.yaml"));
    }
    /// Killed three times at random moments and resumed, again and again: always the same run.
    void expect_resumes(const std::string& file, int trials, unsigned seed) {
        auto begun = std::chrono::steady_clock::now();
        Ended uninterrupted = weft({"train", file, "--out", "whole", "--quiet"});
        ASSERT_EQ(uninterrupted.status, 0) << uninterrupted.output;
        double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        std::mt19937 random(seed);  // of moments; what must hold does not depend on them
        for (int trial = 0; trial < trials; ++trial) {
            std::string out = "killed" + std::to_string(trial);
            std::vector<std::string> words{"train", file, "--out", out, "--quiet"};
            for (int kill = 0; kill < 3; ++kill) {
                Process program(folder_.folder(), words);
                std::this_thread::sleep_for(
                    std::chrono::duration<double>(whole * std::uniform_real_distribution<>(0.05, 0.95)(random)));
                program.signal(SIGKILL);
                program.wait();
                if (fs::exists(at(out) / "config.yaml"))
                    words = {"resume", out, "--quiet"};
                else
                    fs::remove_all(at(out));
            }
            Ended ended = weft(words);
            ASSERT_EQ(ended.status, 0) << ended.output;
            expect_same("whole", out);
        }
    }
    Scratch folder_;
};

TEST_F(RunFolder, the_same_run_gives_the_same_bytes_with_one_thread_and_with_two) {
    for (const char* out : {"one", "again"})
        EXPECT_EQ(weft({"train", "small.json", "--out", out, "--threads", "1"}).status, 0);
    Ended two = weft({"train", "small.json", "--out", "two", "--threads", "2"});
    EXPECT_EQ(two.status, 0) << two.output;
    expect_same("one", "again");
    expect_same("one", "two");
    for (const char* file : {"config.yaml", "model.yaml", "log.jsonl", "report.html"})
        EXPECT_TRUE(fs::exists(at("one") / file)) << file;
    Json last;
    std::istringstream lines(contents(at("one") / "log.jsonl"));
    for (std::string line; std::getline(lines, line);) last = parse_json(line);
    EXPECT_TRUE(last.at("final").as_bool());
    EXPECT_GE(last.at("test.error").as_number(), 0);
    EXPECT_NE(weft({"eval", "one"}).output.find("test.error"), std::string::npos);
    EXPECT_EQ(weft({"show", "one"}).output, "one/report.html\n");
}

TEST_F(RunFolder, killed_at_any_moment_and_resumed_it_gives_the_bytes_of_an_uninterrupted_run) {
    expect_resumes("small.json", 6, 7);
}

TEST_F(RunFolder, chains_and_adversaries_go_on_to_the_same_bytes) {
    expect_resumes("chains.json", 2, 5);
    Ended said = weft({"likelihood", "whole", "--chains", "10", "--temperatures", "50", "--reverse"});
    EXPECT_EQ(said.status, 0) << said.output;
    EXPECT_EQ(said.output.substr(0, 20), "valid.log_likelihood") << said.output;
    for (const char* part : {"a bound from below", "by annealed importance sampling", "the other way round", "exactly"})
        EXPECT_EQ(said.output.find(part) == std::string::npos, part == std::string("exactly")) << part << said.output;
    for (const char* out : {"whole", "killed0", "killed1"}) fs::remove_all(at(out));
    expect_resumes("adversaries.json", 2, 6);
    said = weft({"likelihood", "whole"});
    EXPECT_EQ(said.status, 2) << said.output;
    EXPECT_NE(said.output.find("nothing says how probable data are"), std::string::npos) << said.output;
}

TEST_F(RunFolder, what_learns_without_gradients_goes_on_to_the_same_bytes_for_any_number_of_threads) {
    expect_resumes("clusters.json", 2, 8);
    ASSERT_EQ(weft({"train", "clusters.json", "--out", "one", "--quiet", "--threads", "1"}).status, 0);
    ASSERT_EQ(weft({"train", "clusters.json", "--out", "three", "--quiet", "--threads", "3"}).status, 0);
    expect_same("one", "whole"), expect_same("one", "three");
    std::vector<double> losses, explained;
    for (const Json& line : train::read_log(at("one") / "log.jsonl")) {
        if (line.find("final")) continue;
        if (const Json* part = line.find("valid.explained_variance"))
            explained.push_back(part->as_number());
        else
            losses.push_back(line.at("train.loss").as_number());
    }
    ASSERT_EQ(explained.size(), 1u);
    EXPECT_GT(explained[0], 0.5);
    EXPECT_LT(explained[0], 1);
    ASSERT_EQ(losses.size(), 4u);  // Lloyd's method never makes the mean squared distance greater
    for (std::size_t i = 1; i < losses.size(); ++i) EXPECT_LE(losses[i], losses[i - 1] * (1 + 1e-6));
    io::save_npy(at("x.npy"), Array::zeros(DType::float32, {5, 28, 28}));
    Ended said = weft({"predict", "one", "--input", "x.npy"});
    EXPECT_EQ(said.status, 0) << said.output;
    ASSERT_EQ(said.output.size(), 10u) << said.output;  // a cluster a line, of examples that are alike the same
    EXPECT_EQ(said.output.substr(0, 8), said.output.substr(2)) << said.output;
    EXPECT_TRUE(said.output[0] >= '0' && said.output[0] < '7') << said.output;
}

TEST_F(RunFolder, a_state_that_is_carried_goes_on_to_the_same_bytes) { expect_resumes("carried.json", 2, 8); }

TEST_F(RunFolder, sequences_in_buckets_go_on_to_the_same_bytes) {
    std::string lines;
    for (int i = 0; i < 120; ++i)
        lines += std::string("abcdefghabcdefgh", static_cast<std::size_t>(1 + i * i % 14)) + "\n";
    put_file(at("lines.txt"), lines);
    put_file(at("buckets.json"), buckets);
    expect_resumes("buckets.json", 2, 8);
}

TEST_F(RunFolder, several_inputs_and_outputs_go_on_to_the_same_bytes) {
    put_file(at("fields.json"), fields);
    expect_resumes("fields.json", 2, 10);
    Json model = parse_json(contents(at("whole") / "model.yaml"));
    EXPECT_EQ(json_text(model.at("inputs")), R"({"left": [784], "right": [784]})");
    Ended taken = weft({"train", "whole/model.yaml"});
    EXPECT_EQ(taken.status, 2);
    EXPECT_NE(taken.output.find("'whole/config.yaml'"), std::string::npos) << taken.output;
}

TEST_F(RunFolder, killed_in_any_of_its_phases_it_goes_on_there_to_the_same_bytes) {
    expect_resumes("phased.json", 4, 11);
    for (const char* file : {"model.safetensors", "state.safetensors", "state.json"}) {
        std::string kept = contents(at("whole") / "phases" / "pretrain" / file);
        EXPECT_FALSE(kept.empty()) << file;
        EXPECT_TRUE(kept == contents(at("killed0") / "phases" / "pretrain" / file)) << file;
    }
    std::string log = contents(at("whole") / "log.jsonl");
    for (const char* line : {R"({"phase": "pretrain", "epoch": 3, )", R"({"phase": "head", "epoch": 1, )",
                             R"({"phase": "finetune", "epoch": 1, )", R"({"phase": "finetune", "final": true, )"})
        EXPECT_NE(log.find(line), std::string::npos) << line;
}

TEST_F(RunFolder, killed_while_it_streams_and_augments_it_goes_on_to_the_same_bytes) {
    Array x = Array::empty(DType::uint8, {400, 1, 8, 8}), y = Array::empty(DType::int64, {400});
    for (std::int64_t i = 0; i < x.size(); ++i) x.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * i % 251);
    for (std::int64_t i = 0; i < 400; ++i) y.data<std::int64_t>()[i] = i % 10;
    io::save_npy(at("x.npy"), x), io::save_npy(at("y.npy"), y);
    put_file(at("streamed.json"), streamed);
    expect_resumes("streamed.json", 3, 13);
}

TEST_F(RunFolder, killed_under_any_method_it_goes_on_to_the_same_bytes) { expect_resumes("methods.json", 3, 5); }

TEST_F(RunFolder, killed_within_an_epoch_it_goes_on_with_what_its_channels_had_gathered) {
    expect_resumes("watched.json", 3, 9);
}

/// The means over the steps are what is evaluated and kept, by whoever uses the run's folder.
TEST_F(RunFolder, a_mean_of_the_parameters_is_what_is_kept_and_evaluated) {
    std::string average = R"(optimizer={"momentum": {"lr": 0.05, "average": {}}})";
    for (const char* keep : {"keep_best=null", "seed=3"}) {
        std::string out = std::string("averaged") + keep[0];
        Ended ended = weft({"train", "small.json", "--out", out, "--quiet", "--set", average, "--set", keep});
        ASSERT_EQ(ended.status, 0) << ended.output;
        Json last;
        std::istringstream lines(contents(at(out) / "log.jsonl"));
        for (std::string line; std::getline(lines, line);) last = parse_json(line);
        Ended evaluated = weft({"eval", out, "--data", "valid"});
        EXPECT_EQ(evaluated.status, 0) << evaluated.output;
        EXPECT_NE(evaluated.output.find(text(last.at("valid.loss").as_number()).substr(0, 5)), std::string::npos)
            << evaluated.output << json_text(last);
        io::NamedArrays state = io::load_safetensors(at(out) / "last" / "state.safetensors"),
                        model = io::load_safetensors(at(out) / "last" / "model.safetensors");
        const Array &raw = state.arrays.at("optimizer.1.weight.average"), &mean = model.arrays.at("1.weight");
        EXPECT_FALSE(std::equal(raw.data<float>(), raw.data<float>() + raw.size(), mean.data<float>()));
    }
}

TEST_F(RunFolder, killed_between_two_phases_it_does_not_take_the_best_model_of_the_one_before_for_its_own) {
    std::vector<std::string> words{"train", "phased.json", "--quiet", "--set", "phases.2.keep_best=~", "--out"};
    auto with = [&](const char* out) { return words.push_back(out), words; };
    ASSERT_EQ(weft(with("whole")).status, 0);
    words.pop_back();
    Process program(folder_.folder(), with("killed"));
    // As if it had been killed when a later phase's first checkpoint was there, and the first phase's best/ still, too.
    for (std::string state; state.find(R"("phase": 1)") == state.npos && state.find(R"("phase": 2)") == state.npos;)
        state = contents(at("killed") / "last" / "state.json");
    program.signal(SIGKILL);
    program.wait();
    fs::remove_all(at("killed") / "best");
    fs::copy(at("killed") / "phases" / "pretrain", at("killed") / "best", fs::copy_options::recursive);
    fs::copy(at("killed"), at("within"), fs::copy_options::recursive);
    fs::remove(at("within") / "best" / "state.json");  // killed while it was being removed
    for (const char* run : {"killed", "within"}) {
        ASSERT_EQ(weft({"resume", run, "--quiet"}).status, 0) << run;
        EXPECT_FALSE(fs::exists(at(run) / "best"));
        EXPECT_EQ(timeless(at("whole")), timeless(at(run)));
    }
}

TEST_F(RunFolder, a_phase_hands_on_its_best_model_and_leaves_frozen_parameters_as_they_are) {
    ASSERT_EQ(weft({"train", "phased.json", "--out", "run", "--quiet", "--set", "phases.2.optimizer.rmsprop.lr=0",
                    "--set", "phases.2.freeze=[\"*.bias\"]"})
                  .status,
              0);
    auto hidden = [&](const char* folder) {
        return io::load_safetensors(at("run") / folder / "model.safetensors").arrays.at("hidden.weight");
    };
    Array first = hidden("phases/pretrain"), second = hidden("phases/head"), last = hidden("last");
    auto bytes = [](const Array& array) {
        return std::string(static_cast<const char*>(array.address()), array.bytes());
    };
    EXPECT_EQ(bytes(first), bytes(second));
    EXPECT_EQ(bytes(second), bytes(last));
}

TEST_F(RunFolder, parameters_come_from_the_file_that_load_names) {
    ASSERT_EQ(weft({"train", "small.json", "--out", "first", "--quiet"}).status, 0);
    // One step at a rate of 0 changes nothing: what is saved is what was loaded.
    Ended ended =
        weft({"train", "small.json", "--out", "second", "--quiet", "--set", "optimizer.momentum.lr=0", "--set",
              "stop_when.epochs=1", "--set",
              R"(load={"file": "first/best/model.safetensors", "match": "1.*", "map": {"1.bias": "1.bias"}})"});
    ASSERT_EQ(ended.status, 0) << ended.output;
    auto weight = [&](const char* folder, const char* name) {
        Array array = io::load_safetensors(at(folder) / "best" / "model.safetensors").arrays.at(name);
        return std::string(static_cast<const char*>(array.address()), array.bytes());
    };
    EXPECT_EQ(weight("first", "1.weight"), weight("second", "1.weight"));
    EXPECT_NE(weight("first", "4.weight"), weight("second", "4.weight"));
    // The run goes on without the file.
    fs::remove_all(at("first"));
    EXPECT_EQ(weft({"resume", "second", "--quiet"}).status, 0);
}

TEST_F(RunFolder, an_interrupted_run_writes_a_checkpoint_and_goes_on) {
    ASSERT_EQ(weft({"train", "small.json", "--out", "whole", "--quiet", "--set", "stop_when.epochs=40"}).status, 0);
    Process program(folder_.folder(), {"train", "small.json", "--out", "stopped", "--set", "stop_when.epochs=40"});
    while (!fs::exists(at("stopped") / "last")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    program.signal(SIGINT);
    int status = program.wait();
    EXPECT_EQ(status, 130) << program.output();
    EXPECT_NE(program.output().find("weft resume stopped"), std::string::npos);
    ASSERT_EQ(weft({"resume", "stopped", "--quiet"}).status, 0);
    expect_same("whole", "stopped");
}

TEST_F(RunFolder, a_folder_that_holds_something_is_refused_and_left_as_it_is) {
    ASSERT_EQ(weft({"train", "small.json", "--out", "run", "--quiet"}).status, 0);
    std::string before = contents(at("run") / "log.jsonl");
    Ended again = weft({"train", "small.json", "--out", "run"});
    EXPECT_EQ(again.status, 2);
    EXPECT_EQ(again.output,
              "'run' holds a run already; `weft resume run` (in Python Run(folder).resume()) goes on with it; or name "
              "another folder (--out)\n");
    Ended other = weft({"train", "small.json", "--out", "run", "--resume", "--set", "batch_size=20"});
    EXPECT_EQ(other.status, 2);
    EXPECT_NE(other.output.find("was begun with another 'batch_size'"), std::string::npos) << other.output;
    EXPECT_EQ(contents(at("run") / "log.jsonl"), before);
    // A run that is resumed when it has ended ends again, the same.
    ASSERT_EQ(weft({"train", "small.json", "--out", "same", "--quiet"}).status, 0);
    ASSERT_EQ(weft({"resume", "run", "--quiet"}).status, 0);
    expect_same("run", "same");
    // Later stopping is the one thing that may change.
    ASSERT_EQ(
        weft({"train", "small.json", "--out", "run", "--resume", "--quiet", "--set", "stop_when.epochs=5"}).status, 0);
    EXPECT_NE(timeless(at("run")), timeless(at("same")));
}

TEST_F(RunFolder, a_checkpoint_that_cannot_be_written_ends_the_run_and_leaves_the_one_before) {
    ASSERT_EQ(weft({"train", "small.json", "--out", "whole", "--quiet"}).status, 0);
    ASSERT_EQ(weft({"train", "small.json", "--out", "full", "--quiet", "--set", "stop_when.epochs=2"}).status, 0);
    std::string before = contents(at("full") / "last" / "model.safetensors");
    Ended full = run(folder_.folder(), {"train", "small.json", "--out", "full", "--resume", "--quiet"}, {},
                     64 << 10);  // as on a full disk
    EXPECT_EQ(full.status, 3);
    EXPECT_EQ(
        full.output,
        "'full/last.new/model.safetensors' cannot be written: File too large; what was there before is unchanged\n");
    EXPECT_EQ(contents(at("full") / "last" / "model.safetensors"), before);
    EXPECT_FALSE(fs::exists(at("full") / "last.new"));
    ASSERT_EQ(weft({"resume", "full", "--quiet"}).status, 0);
    expect_same("whole", "full");
}

TEST_F(RunFolder, a_folder_that_cannot_be_made_ends_with_one_clear_error) {
    std::ofstream(at("file")) << "x";
    Ended ended = weft({"train", "small.json", "--out", "file/run"});
    EXPECT_EQ(ended.status, 3);
    EXPECT_EQ(ended.output, "'file/run' cannot be made: Not a directory\n");
    EXPECT_EQ(contents(at("file")), "x");
}

TEST_F(RunFolder, without_out_each_run_has_a_folder_of_its_own) {
    ASSERT_EQ(weft({"train", "small.json", "--quiet", "--set", "stop_when.epochs=1"}).status, 0);
    ASSERT_EQ(weft({"train", "small.json", "--quiet", "--set", "stop_when.epochs=1"}).status, 0);
    EXPECT_TRUE(fs::exists(at("runs") / "small" / "log.jsonl"));
    EXPECT_TRUE(fs::exists(at("runs") / "small-2" / "log.jsonl"));
}

TEST_F(RunFolder, damaged_checkpoints_are_refused_by_name) {
    ASSERT_EQ(weft({"train", "small.json", "--out", "run", "--quiet"}).status, 0);
    fs::resize_file(at("run") / "last" / "model.safetensors", 100);
    Ended ended = weft({"resume", "run"});
    EXPECT_EQ(ended.status, 3);
    EXPECT_NE(ended.output.find("run/last/model.safetensors"), std::string::npos) << ended.output;
}

}  // namespace
}  // namespace weft
