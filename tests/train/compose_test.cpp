// A description put together: includes, what is laid over what, --set, variables.
#include "weft/train/compose.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "io/scratch.h"
#include "weft/base/error.h"
#include "weft/train/config.h"
#include "weft/train/keys.h"

namespace weft::train {
namespace {

class Compose : public testing::Test {
  protected:
    void write(const std::string& name, const std::string& content) {
        std::ofstream(folder_.folder() / name) << content;
    }
    Json file(const std::string& name, const std::vector<std::string>& assignments = {}) {
        return compose_file(folder_.folder() / name, assignments);
    }
    std::string error_of(const std::string& name) {
        try {
            (void)file(name);
        } catch (const ConfigError& error) {
            std::string what = error.what(), folder = folder_.folder().string() + "/";
            for (std::size_t at; (at = what.find(folder)) != what.npos;) what.erase(at, folder.size());
            return what;
        }
        return "no error";
    }
    Scratch folder_;
};

Json json(const char* source) { return parse_config(source, "f.json"); }

TEST_F(Compose, variables_take_values_with_their_types_and_leave_no_trace) {
    write(
        "e.json",
        R"({"let": {"width": 300, "half": "${width // 2}", "net": {"rate": 0.1}, "list": [1, "${width}"], "word": "${env:WEFT_NONE:-sgd}"},
        "a": "${width * 2}", "b": "w${half}-${net.rate}", "c": ["${list}", true], "d": "$${kept}", "e": "${net}", "f": "${word}", "g": "${env:WEFT_NONE:-1.5}"})");
    EXPECT_EQ(
        json_text(file("e.json")),
        R"({"a": 600, "b": "w150-0.1", "c": [[1, 300], true], "d": "${kept}", "e": {"rate": 0.1}, "f": "sgd", "g": 1.5})");
}

TEST_F(Compose, the_environment_gives_values_with_the_types_of_yaml) {
    ::setenv("WEFT_TEST_LR", "2.5e-1", 1);
    write("e.json", R"({"lr": "${env:WEFT_TEST_LR}", "text": "lr=${env:WEFT_TEST_LR}"})");
    EXPECT_EQ(json_text(file("e.json")), R"({"lr": 0.25, "text": "lr=0.25"})");
    ::unsetenv("WEFT_TEST_LR");
    EXPECT_EQ(
        error_of("e.json"),
        "e.json:1:8: '${env:WEFT_TEST_LR}': the environment has no variable WEFT_TEST_LR; set it, or give what holds "
        "without it: ${env:WEFT_TEST_LR:-value}");
}

TEST_F(Compose, set_reaches_variables_lists_and_new_keys_before_variables_have_values) {
    write("e.json", R"({"let": {"width": 5}, "model": {"sequential": [{"linear": {"units": "${width}"}}, "relu"]}})");
    Json made = file("e.json", {"let.width=7", "model.sequential.1=tanh", "batch_size=${width * 10}"});
    EXPECT_EQ(json_text(made), R"({"model": {"sequential": [{"linear": {"units": 7}}, "tanh"]}, "batch_size": 70})");
}

TEST_F(Compose, a_file_is_laid_over_what_it_includes) {
    std::filesystem::create_directories(folder_.folder() / "parts");
    write("parts/deep.json", R"({"seed": 3, "batch_size": 10})");
    write("parts/base.json", R"({"include": "deep.json", "let": {"a": 1, "b": 2}, "batch_size": 20,
        "data": {"train": {"digits": {"size": 5, "seed": 4}}, "valid": "digits", "prepare": ["flatten"]},
        "optimizer": {"momentum": {"lr": {"linear": {"from": 1, "to": 0, "epochs": [1, 2]}}, "momentum": 0.5}}, "cost": ["mse"]})");
    write("e.json", R"({"include": "parts/base.json", "let": {"b": 3},
        "data": {"train": {"digits": {"size": 6}}, "valid": null, "prepare": []}, "optimizer": {"momentum": {"lr": 0.1}}, "cost": "l1",
        "x": ["${a}", "${b}"]})");
    EXPECT_EQ(
        json_text(file("e.json")),
        R"({"seed": 3, "batch_size": 20, "data": {"train": {"digits": {"size": 6, "seed": 4}}, "valid": null, "prepare": []}, )"
        R"("optimizer": {"momentum": {"lr": 0.1, "momentum": 0.5}}, "cost": "l1", "x": [1, 3]})");
}

TEST_F(Compose, values_keep_the_place_in_the_file_that_wrote_them) {
    write("base.json", "{\n\"batch_size\": 20}");
    write("e.json", R"({"include": ["base.json"], "seed": 1})");
    Json made = file("e.json");
    EXPECT_EQ(made.at("batch_size").where().str(), (folder_.folder() / "base.json").string() + ":2:15");
    EXPECT_EQ(made.at("seed").where().str(), (folder_.folder() / "e.json").string() + ":1:36");
}

TEST_F(Compose, circles_of_files_are_refused_and_diamonds_are_not) {
    write("shared.json", R"({"seed": 1})");
    write("a.json", R"({"include": "shared.json"})");
    write("b.json", R"({"include": "shared.json"})");
    write("e.json", R"({"include": ["a.json", "./b.json"]})");
    EXPECT_EQ(error_of("e.json"), "no error");
    write("b.json", R"({"include": "./e.json"})");
    EXPECT_EQ(error_of("e.json"),
              "./b.json:1:13: files include each other in a circle: e.json -> b.json -> e.json; what they share "
              "belongs into a "
              "file of its own");
}

TEST_F(Compose, variables_cannot_fill_the_memory) {
    std::string bomb = R"({"let": {"a0": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1])";
    for (int i = 1; i < 12; ++i) {
        std::string before = "\"${a" + std::to_string(i - 1) + "}\"";
        bomb += ", \"a" + std::to_string(i) + "\": [" + before;
        for (int k = 1; k < 10; ++k) bomb += ", " + before;
        bomb += "]";
    }
    write("e.json", bomb + "}}");
    EXPECT_NE(error_of("e.json").find("variables make more than 1000000 values"), std::string::npos);
}

TEST(LaidOver, another_part_takes_the_place_and_the_same_one_gets_the_options) {
    auto both = [](const char* under, const char* over) {
        return json_text(laid_over(json(under), json(over), phase_keys()));
    };
    EXPECT_EQ(both(R"({"optimizer": {"adam": {"lr": 1, "eps": 2}}})", R"({"optimizer": {"adam": {"lr": 3}}})"),
              R"({"optimizer": {"adam": {"lr": 3, "eps": 2}}})");
    EXPECT_EQ(both(R"({"optimizer": {"adam": {"lr": 1}}})", R"({"optimizer": {"sgd": {"lr": 3}}})"),
              R"({"optimizer": {"sgd": {"lr": 3}}})");
    EXPECT_EQ(both(R"({"optimizer": {"adam": {"lr": {"step": {"from": 1, "every": 2}}}}})",
                   R"({"optimizer": {"adam": {"lr": {"cosine": {"from": 1}}}}})"),
              R"({"optimizer": {"adam": {"lr": {"cosine": {"from": 1}}}}})");
    EXPECT_EQ(both(R"({"monitor": {"every": "step"}})", R"({"monitor": {"on": ["train"]}})"),
              R"({"monitor": {"every": "step", "on": ["train"]}})");
    EXPECT_EQ(both(R"({"stop_when": {"any": [1, 2]}})", R"({"stop_when": {"any": [3]}})"),
              R"({"stop_when": {"any": [3]}})");
    EXPECT_EQ(both(R"({"stop_when": {"epochs": 1}})", R"({"stop_when": {"target": 3}})"),
              R"({"stop_when": {"target": 3}})");
}

}  // namespace
}  // namespace weft::train
