// Experiments that a program describes: the file's names and messages, written out as a file that reads back to the same.
#include "weft/train/described.h"

#include <gtest/gtest.h>

#include "io/scratch.h"
#include "train/example_data.h"
#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/io/file.h"
#include "weft/train/compose.h"
#include "weft/train/config.h"
#include "weft/train/run.h"
#include "weft/train/yaml.h"

namespace weft::train {
namespace {

Experiment small() {
    return Experiment(placed(
        keys({{"data", keys({{"train", part("data", "digits", keys({{"size", 100}}))},
                             {"prepare", Json::array({part("prepare", "scale", Json::array({0, 1})), "flatten"})}})},
              {"model", Json::array({part("model", "linear", 8), "relu", part("model", "linear", 10)})},
              {"cost", "cross_entropy"},
              {"optimizer", part("optimizer", "momentum", keys({{"lr", 0.1}}))},
              {"stop_when", part("stop", "epochs", 1)}})));
}

template <class F>
std::string refusal(F f) {
    try {
        f();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Described, a_mistake_names_the_line_of_the_program) {
    int line = __LINE__ + 1;
    std::string said = refusal([] { (void)part("model", "linear", keys({{"unts", 3}})); });
    EXPECT_NE(said.find(text("described_test.cpp:", line, ":")), said.npos) << said;
    EXPECT_NE(said.find("unknown key 'unts' in linear; did you mean 'units'?"), said.npos) << said;
    EXPECT_NE(refusal([] { (void)part("layer", "linear"); }).find("unknown kind 'layer'"), said.npos);
    EXPECT_NE(refusal([] { (void)part("augment", "flipp"); }).find("did you mean 'flip'?"), said.npos);
    EXPECT_NE(refusal([] { (void)part("prepare", "scale", 3); }).find("scale takes two numbers"), said.npos);
}

TEST(Described, the_run_of_a_program_has_the_bytes_of_the_run_of_the_file_that_it_writes) {
    Scratch folder;
    std::filesystem::path file = folder / (WEFT_HAVE_YAML ? "small.yaml" : "small.json");
    small().save(file);
    Watcher silent;
    train::Run one = train::Run::create(folder / "object", small()),
               other = train::Run::create(folder / "file", Experiment(compose_file(file)));
    for (train::Run* run : {&one, &other}) (void)run->train(silent, [] { return false; });
    for (const char* name : {"config.yaml", "last/model.safetensors", "last/state.safetensors"})
        EXPECT_EQ(io::read_file(one.folder() / name), io::read_file(other.folder() / name)) << name;
}

#if WEFT_HAVE_YAML
TEST(Yaml, what_is_written_reads_back_to_the_same_value) {
    for (const char* word : {"plain",      "valid.error", "*.weight",
                             "a b",        "yes",         "on",
                             "No",         "~",           "null",
                             "true",       "1e5",         "0x1f",
                             "1_000",      ".5",          "",
                             " a",         "a ",          "a: b",
                             "a #b",       "- a",         "[",
                             "{a}",        "!x",          "&x",
                             "%",          "@",           "`",
                             "'",          "\"",          "tab\t",
                             "line\nline", "${x}",        "photos/a-b.png",
                             "\xc3\xa9",   "2026-11-23",  "="}) {
        Json value = keys({{"key", word}, {"list", Json::array({word, keys({{word, word}})})}});
        EXPECT_EQ(parse_config(yaml_text(value), "f.yaml"), value) << yaml_text(value);
    }
    Json numbers = Json::array({1, -1, 1.0, 5e-5, 1e300, 0.1, true, nullptr, Json::array(), Json::object()});
    EXPECT_EQ(parse_config(yaml_text(keys({{"n", numbers}})), "f.yaml").at("n"), numbers);
    Json deep =
        keys({{"name", std::string(90, 'x')}, {"list", Json::array({Json::array({std::string(120, 'y'), 3})})}});
    for (int i = 0; i < 4; ++i) deep = keys({{"first", 1}, {"below", Json::array({deep, "word", deep})}});
    EXPECT_EQ(parse_config(yaml_text(deep), "f.yaml"), deep) << yaml_text(deep);
}

TEST(Yaml, experiments_are_written_as_a_person_writes_them) {
    EXPECT_EQ(small().yaml(), R"(data: {train: {digits: {size: 100}}, prepare: [{scale: [0, 1]}, flatten]}
model: [{linear: 8}, relu, {linear: 10}]
cost: cross_entropy
optimizer: {momentum: {lr: 0.1}}
stop_when: {epochs: 1}
)");
}

TEST(Yaml, the_examples_are_written_and_read_back) {
    ExampleData data;
    for (const auto& file : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/examples")) {
        if (file.path().extension() != ".yaml") continue;
        Experiment experiment(compose_file(file.path()));
        EXPECT_EQ(Experiment(parse_config(experiment.yaml(), "f.yaml")).config, experiment.config) << experiment.yaml();
    }
}
#endif

}  // namespace
}  // namespace weft::train
