// The program from outside: exit statuses, messages, help.
#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/scratch.h"
#include "weft/base/json.h"

namespace weft {
namespace {

class Command : public testing::Test {
  protected:
    Ended weft(const std::vector<std::string>& words) { return run(folder_.folder(), words); }
    void write(const std::string& name, const std::string& content) {
        std::ofstream(folder_.folder() / name) << content;
    }
    Scratch folder_;
};

TEST_F(Command, version_and_help_end_well) {
    EXPECT_EQ(weft({"--version"}).status, 0);
    Ended help = weft({"help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.output.find("weft train FILE"), std::string::npos);
    EXPECT_NE(weft({"help", "model", "linear"}).output.find("units"), std::string::npos);
    std::string data = weft({"help", "data"}).output;  // a command, and a kind
    EXPECT_TRUE(data.find("list | info") != data.npos && data.find("\n  mnist ") != data.npos) << data;
    EXPECT_NE(weft({"help", "predict"}).output.find(".h5"), std::string::npos);
    EXPECT_NE(weft({"train", "--help"}).output.find("--dry-run"), std::string::npos);
    EXPECT_EQ(weft({"doctor"}).status, 0);
    std::string as_zen4 = run(folder_.folder(), {"doctor"}, {"WEFT_PROCESSOR=zen4"}).output;
    EXPECT_NE(as_zen4.find("kernels chosen as for zen4"), as_zen4.npos) << as_zen4;
    EXPECT_NE(weft({"data", "list"}).output.find("mnist"), std::string::npos);
}

TEST_F(Command, libraries_of_rare_files_are_opened_when_such_a_file_is_read) {
    std::string loaded = run(folder_.folder(), {"help"}, {"LD_TRACE_LOADED_OBJECTS=1"}).output;  // what ldd asks
    EXPECT_NE(loaded.find("libc.so"), loaded.npos) << loaded;
    for (const char* name : {"hdf5", "matio", "curl"}) EXPECT_EQ(loaded.find(name), loaded.npos) << loaded;
}

TEST_F(Command, misspelt_commands_options_and_topics_name_the_nearest) {
    Ended typo = weft({"trian", "x"});
    EXPECT_EQ(typo.status, 2);
    EXPECT_EQ(typo.output, "weft: unknown command 'trian'; did you mean 'train'?\n");
    EXPECT_EQ(weft({"train", "x.json", "--quite"}).output,
              "weft train: unknown option '--quite'; did you mean '--quiet'?\n");
    EXPECT_EQ(weft({"help", "modle"}).output, "weft help: unknown topic 'modle'; did you mean 'model'?\n");
    EXPECT_EQ(weft({"train"}).status, 2);
    EXPECT_EQ(weft({"train", "a", "b"}).status, 2);
    EXPECT_EQ(weft({"train", "x.json", "--threads", "no"}).output,
              "--threads: expected an integer of 1 or more, found 'no'\n");
}

TEST_F(Command, a_missing_file_device_or_run_is_the_users_mistake) {
    Ended missing = weft({"train", "nowhere.json"});
    EXPECT_EQ(missing.status, 2);
    EXPECT_EQ(missing.output, "'nowhere.json' cannot be read: No such file or directory\n");
    Ended device = weft({"train", "nowhere.json", "--device", "cuda:0"});
    EXPECT_EQ(device.status, 2);
    EXPECT_EQ(device.output,
              "there is no device 'cuda:0': this version of weft computes on the CPU alone (cpu); "
              "its backends for CUDA and OpenCL are not built yet\n");
    EXPECT_EQ(weft({"resume", "nowhere"}).output, "'nowhere' holds no run: there is no config.yaml in it\n");
}

TEST_F(Command, a_wrong_variable_is_the_users_mistake_and_said_before_any_work) {
    std::vector<std::string> words{"train", WEFT_SOURCE_DIR "/examples/digits.json", "--dry-run"};
    for (auto [setting, message] :
         {std::pair{"WEFT_THREADS=abc", "WEFT_THREADS is 'abc', but must be a whole number of at least 1\n"},
          {"WEFT_EMITTER=maybe", "WEFT_EMITTER is 'maybe'; it may be on, off or always\n"},
          {"WEFT_AMX=maybe", "WEFT_AMX is 'maybe'; it may be on or off\n"}}) {
        Ended ended = run(folder_.folder(), words, {setting});
        EXPECT_EQ(ended.status, 2);
        EXPECT_EQ(ended.output, message);
    }
    EXPECT_EQ(run(folder_.folder(), words, {"WEFT_ISA=mmx"}).status, 2);
}

TEST_F(Command, explain_shows_how_a_step_runs) {
    write("small.json", R"({"data": {"train": {"digits": {"split": "train", "size": 64}}, "prepare": ["flatten"]},
        "batch_size": 32, "model": {"sequential": [{"linear": {"units": 20}}, "relu", {"linear": {"units": 10}}]},
        "cost": "cross_entropy", "optimizer": {"sgd": {"lr": 0.1}}, "stop_when": {"epochs": 1}})");
    Ended shown = weft({"explain", "small.json"});
    EXPECT_EQ(shown.status, 0) << shown.output;
    for (const char* part :
         {"-- graph", "-- rewrites", "-- plan", "-- kernels", "-- memory", "-- timings", "GFLOP/s", "matmul"})
        EXPECT_NE(shown.output.find(part), std::string::npos) << part;
    EXPECT_EQ(weft({"explain", "small.json", "--html", "step.html"}).output, "step.html\n");
    std::string page = contents(folder_.folder() / "step.html");
    EXPECT_NE(page.find("<svg"), std::string::npos);
    EXPECT_EQ(page.find("http"), std::string::npos) << "the page asks the network";
    EXPECT_FALSE(std::filesystem::exists(folder_.folder() / "runs"));
}

TEST_F(Command, dry_run_shows_shapes_and_counts_and_writes_nothing) {
    Ended dry = weft({"train", WEFT_SOURCE_DIR "/examples/digits.json", "--dry-run"});
    EXPECT_EQ(dry.status, 0) << dry.output;
    EXPECT_NE(dry.output.find("(batch, 10)"), std::string::npos) << dry.output;
    EXPECT_FALSE(std::filesystem::exists(folder_.folder() / "runs"));
}

TEST_F(Command, help_says_types_ranges_and_defaults) {
    std::string linear = weft({"help", "model", "linear"}).output;
    EXPECT_NE(linear.find("units      how many outputs (integer >= 1; required)"), std::string::npos) << linear;
    EXPECT_NE(linear.find("bias       whether something is added (true or false; default true)"), std::string::npos)
        << linear;
    std::string adam = weft({"help", "optimizer", "adam"}).output;
    EXPECT_NE(adam.find("the learning rate (number >= 0 or schedule; default 0.001)"), std::string::npos) << adam;
    std::string file = weft({"help", "experiment"}).output;
    EXPECT_NE(file.find("(keep, drop or pad; default \"keep\")"), std::string::npos) << file;
}

TEST_F(Command, schema_prints_one_json_document) {
    Ended ended = weft({"schema"});
    EXPECT_EQ(ended.status, 0);
    Json schema = parse_json(ended.output);
    EXPECT_TRUE(schema.at("properties").find("phases"));
    EXPECT_TRUE(schema.at("$defs").at("model").find("anyOf"));
}

TEST_F(Command, a_mistake_in_the_file_is_named_before_anything_is_made) {
    write(
        "bad.json",
        R"({"data": {"train": "digits"}, "model": {"sequential": [{"linear": {"unts": 10}}]}, "cost": "mse", "optimizer": "sgd"})");
    Ended bad = weft({"train", "bad.json", "--out", "run"});
    EXPECT_EQ(bad.status, 2);
    EXPECT_EQ(bad.output, "bad.json:1:68: unknown key 'unts' in linear; did you mean 'units'?\n");
    EXPECT_FALSE(std::filesystem::exists(folder_.folder() / "run"));
}

}  // namespace
}  // namespace weft
