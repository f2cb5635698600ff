#include "weft/train/config.h"

#include <gtest/gtest.h>

#include <functional>

#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/train/assignment.h"

namespace weft::train {
namespace {

std::string error_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

#if WEFT_HAVE_YAML
TEST(Config, yaml_scalars_are_those_of_the_core_schema) {
    Json tree =
        parse_config("a: 1\nb: 1.5e-3\nc: yes\nd: true\ne: ~\nf: '1'\ng: -.inf\nh: 1e5\ni: 007x\nj: +3\n", "f.yaml");
    EXPECT_TRUE(tree.at("a").is_integer());
    EXPECT_EQ(tree.at("b").as_number(), 1.5e-3);
    EXPECT_EQ(tree.at("c").as_string(), "yes");
    EXPECT_TRUE(tree.at("d").as_bool());
    EXPECT_TRUE(tree.at("e").is_null());
    EXPECT_EQ(tree.at("f").as_string(), "1");
    EXPECT_LT(tree.at("g").as_number(), -1e300);
    EXPECT_EQ(tree.at("h").as_number(), 1e5);
    EXPECT_EQ(tree.at("i").as_string(), "007x");
    EXPECT_EQ(tree.at("j").as_integer(), 3);
}

TEST(Config, every_value_and_key_knows_its_place) {
    Json tree = parse_config("a: 1\nb:\n  - {c: x}\n", "f.yaml");
    EXPECT_EQ(tree.at("a").where().str(), "f.yaml:1:4");
    EXPECT_EQ(tree.members()[1].where.str(), "f.yaml:2:1");
    EXPECT_EQ(tree.at("b").items()[0].at("c").where().str(), "f.yaml:3:9");
}

TEST(Config, mistakes_of_yaml_are_refused_with_their_place) {
    EXPECT_EQ(error_of([] { parse_config("a: 1\nb: 2\na: 3\n", "f.yaml"); }),
              "f.yaml:3:1: 'a' stands twice; first at f.yaml:1:1");
    EXPECT_EQ(error_of([] { parse_config("a: [1, 2\n", "f.yaml"); }),
              "f.yaml:2:1: end of sequence flow not found; a ']' is missing, or a quote, or ${...} inside [...] is not "
              "in quotes");
    EXPECT_EQ(error_of([] { parse_config("a: !!python/object 1\n", "f.yaml"); }),
              "f.yaml:1:4: the tag 'tag:yaml.org,2002:python/object' is not taken: a file holds data, never code");
    EXPECT_EQ(error_of([] { parse_config("[1]: 2\n", "f.yaml"); }),
              "f.yaml:1:1: a key is a plain name, not a list or a mapping (perhaps a bracket is not closed)");
    EXPECT_EQ(error_of([] { parse_config("a: 1\n---\nb: 2\n", "f.yaml"); }),
              "f.yaml:2:1: a second document begins; a file holds one, so leave out the '---'");
}

TEST(Config, aliases_that_would_fill_the_memory_are_refused) {
    std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 12; ++i) {
        std::string before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) bomb += (k ? ", " : "") + before;
        bomb += "]\n";
    }
    EXPECT_NE(error_of([&] { parse_config(bomb, "f.yaml"); }).find("more than 1000000 values"), std::string::npos);
}
#else
TEST(Config, yaml_without_yaml_cpp_says_how_to_get_it) {
    EXPECT_NE(error_of([] { parse_config("a: 1\n", "f.yaml"); }).find("install libyaml-cpp-dev"), std::string::npos);
}
#endif

TEST(Config, json_is_read_by_every_build_whatever_its_name_ends_in) {
    EXPECT_EQ(parse_config(R"({"a": [1, 2.5]})", "f.yaml"), parse_config(R"({"a": [1, 2.5]})", "f.json"));
    EXPECT_EQ(error_of([] { parse_config(R"({"a": 1, "a": 2})", "f.json"); }).substr(0, 7), "f.json:");
}

TEST(Config, text_reads_back_as_the_same_tree) {
    Json tree =
        parse_config(R"({"a": {"b": [1, 2.0, 5e-05, 1e22, true, null, "x"]}, "c": [], "d": {}, "e": "007"})", "f.json");
    EXPECT_EQ(parse_config(config_text(tree), "f.json"), tree);
    EXPECT_NE(config_text(tree).find("5.0e-05"), std::string::npos);  // YAML 1.1 would read 5e-05 as a string
}

TEST(Assignment, replaces_a_value_anywhere_and_makes_what_is_missing) {
    Json tree = parse_config(
        R"({"optimizer": {"momentum": {"lr": 0.01}}, "list": [{"linear": {"units": 5}}], "cost": "mse"})", "f.json");
    tree = with_assignment(tree, "optimizer.momentum.lr=0.02");
    tree = with_assignment(tree, "list.0.linear.units=7");
    tree = with_assignment(tree, "cost.mse.factor=2");
    tree = with_assignment(tree, "new.thing=[1, 2]");
    EXPECT_EQ(tree.at("optimizer").at("momentum").at("lr").as_number(), 0.02);
    EXPECT_EQ(tree.at("list").items()[0].at("linear").at("units").as_integer(), 7);
    EXPECT_EQ(tree.at("cost").at("mse").at("factor").as_integer(), 2);
    EXPECT_EQ(tree.at("new").at("thing").size(), 2u);
    tree = with_assignment(tree, "list.1=relu");
    EXPECT_EQ(tree.at("list").items()[1].as_string(), "relu");
}

TEST(Assignment, through_a_part_names_the_part_that_is_there) {
    Json tree = parse_config(
        R"({"optimizer": "adam", "model": [{"residual": {"linear": 10}}, {"residual": {"layers": [{"linear": {"units": 5}}]}}],
            "data": {"prepare": {"left": ["flatten"]}}, "let": {"momentum": {"lr": 1}}})",
        "f.json");
    auto refused = [&](const char* assignment) { return error_of([&] { with_assignment(tree, assignment); }); };
    EXPECT_EQ(refused("optimizer.adm.lr=1"),
              "--set optimizer.adm.lr=1: the path says 'adm' where 'adam' stands; did you mean 'adam'?");
    EXPECT_EQ(refused("optimizer.sdg.lr=1"),
              "--set optimizer.sdg.lr=1: the path says 'sdg' where 'adam' stands; did you mean 'sgd'?");
    EXPECT_EQ(
        refused("model.0.residual.liner.units=5"),
        "--set model.0.residual.liner.units=5: the path says 'liner' where 'linear' stands; did you mean 'linear'?");
    EXPECT_EQ(refused("model.1.residual.layers.0.liner.units=5").substr(47),
              "the path says 'liner' where 'linear' stands; did you mean 'linear'?");
    EXPECT_EQ(refused("data.prepare.left.0.flaten.x=5").substr(38),
              "the path says 'flaten' where 'flatten' stands; did you mean 'flatten'?");
    // An option beside a value that stands alone.
    EXPECT_EQ(refused("model.0.residual.linear.bias=false"),
              "--set model.0.residual.linear.bias=false: 'linear' stands there with a value alone, 10, which would be "
              "lost: say "
              "{linear: {units: 10, bias: ...}}");
    EXPECT_NO_THROW(with_assignment(tree, "model.0.residual.linear.units=20"));
    EXPECT_NO_THROW(with_assignment(tree, "model.0.residual.linear=20"));
    // Another part as a whole, and what is no part.
    EXPECT_NO_THROW(with_assignment(tree, "optimizer={\"sgd\": {\"lr\": 1}}"));
    EXPECT_NO_THROW(with_assignment(tree, "optimizer.adam.lr=1"));
    EXPECT_NO_THROW(with_assignment(tree, "model.1.residual.join=add"));
    EXPECT_NO_THROW(with_assignment(tree, "let.sgd.lr=1"));
}

TEST(Assignment, that_cannot_be_made_names_itself) {
    Json tree = parse_config(R"({"list": [1], "a": {"b": 1}})", "f.json");
    EXPECT_EQ(error_of([&] { with_assignment(tree, "list.3=1"); }),
              "--set list.3=1: '3' is no place in a list of 1 (counted from 0; 1 adds one)");
    EXPECT_EQ(error_of([&] { with_assignment(tree, "lr"); }), "--set lr: expected path.to.value=VALUE");
    EXPECT_EQ(error_of([&] { with_assignment(tree, "a..b=1"); }), "--set a..b=1: a name is missing beside a '.'");
}

}  // namespace
}  // namespace weft::train
