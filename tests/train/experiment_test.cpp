// What a file may say, and the exact words with which the rest is refused.
#include "weft/train/experiment.h"

#include <gtest/gtest.h>

#include "train/example_data.h"
#include "weft/base/error.h"
#include "weft/found.h"
#include "weft/io/file.h"
#include "weft/ops/matmul_precision.h"
#include "weft/train/assignment.h"
#include "weft/train/compose.h"
#include "weft/train/config.h"
#include "weft/train/dry_run.h"
#include "weft/train/keys.h"
#include "weft/train/objective.h"

namespace weft::train {
namespace {

constexpr const char* good = R"({
"data": {"train": {"digits": {"size": 100}}, "valid": {"digits": {"split": "valid", "size": 50}}, "prepare": [{"scale": [0, 1]}, "flatten"]},
"model": {"sequential": [{"linear": {"units": 8, "init": {"sparse": 15}}}, "relu", {"linear": 10}]},
"cost": "cross_entropy",
"optimizer": {"momentum": {"lr": 0.01}},
"stop_when": {"epochs": 2}
})";

Json tree_with(std::initializer_list<std::string> assignments) {
    Json tree = parse_config(good, "good.json");
    for (const std::string& assignment : assignments) tree = with_assignment(tree, assignment);
    return tree;
}

/// The whole check, as `--dry-run` does it.
std::string mistake_in(const Json& tree) {
    try {
        (void)networks_of(Experiment(compose(tree)));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

std::string error_of_text(std::string from, std::string to) {
    std::string source = good;
    std::size_t at = source.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    source.replace(at, from.size(), to);
    return mistake_in(parse_config(source, "f.json"));
}

TEST(Experiment, a_good_one_is_completed_and_can_be_made_from_its_own_text_again) {
    EXPECT_EQ(mistake_in(parse_config(good, "f.json")), "no error");
    Experiment experiment(parse_config(good, "f.json"));
    Experiment again(parse_config(config_text(experiment.config), "config.yaml"));
    EXPECT_EQ(experiment.config, again.config);
    EXPECT_EQ(experiment.config.at("batch_size").as_integer(), 100);
    EXPECT_EQ(experiment.config.at("optimizer").at("momentum").at("momentum").as_number(), 0.9);
    EXPECT_EQ(experiment.phases[0].monitor.sets, (std::vector<std::string>{"train", "valid"}));
}

TEST(Experiment, misspelt_names_and_keys_are_refused_with_place_and_nearest_name) {
    EXPECT_EQ(error_of_text("\"units\"", "\"unts\""),
              "f.json:3:38: unknown key 'unts' in linear; did you mean 'units'?");
    EXPECT_EQ(error_of_text("\"optimizer\"", "\"optimiser\""),
              "f.json:5:1: unknown key 'optimiser' in the experiment; did you mean 'optimizer'?");
    EXPECT_EQ(error_of_text("\"relu\"", "\"rellu\""),
              "f.json:3:76: unknown name 'rellu' for a layer; did you mean 'relu'?");
    EXPECT_EQ(error_of_text("\"momentum\": {", "\"momentun\": {"),
              "f.json:5:15: unknown name 'momentun' for an optimizer; did you mean 'momentum'?");
    EXPECT_EQ(error_of_text("\"digits\"", "\"digit\""),
              "f.json:2:20: there is no data set named 'digit'; did you mean 'digits'?");
    EXPECT_EQ(error_of_text("\"sparse\"", "\"sparce\""),
              "f.json:3:59: unknown name 'sparce' for initial values; did you mean 'sparse'?");
}

TEST(Experiment, wrong_types_missing_keys_and_values_out_of_range_are_refused) {
    EXPECT_EQ(error_of_text("\"units\": 8", "\"units\": \"ten\""),
              "f.json:3:47: expected an integer, found the string 'ten' (linear, 'units': how many outputs)");
    EXPECT_EQ(error_of_text("\"units\": 8", "\"units\": 0"),
              "f.json:3:47: expected 1 or more, found 0 (linear, 'units': how many outputs)");
    EXPECT_EQ(error_of_text("\"units\": 8, ", ""), "f.json:3:37: linear needs the key 'units' (how many outputs)");
    EXPECT_EQ(error_of_text("\"cost\": \"cross_entropy\",\n", ""),
              "f.json:1:1: the experiment needs the key 'cost' (what is minimised: a cost, or a list whose sum it is)");
    EXPECT_EQ(error_of_text("\"cost\": \"cross_entropy\"", "\"cost\": {\"weight_decay\": 0.1}"),
              "f.json:4:9: no cost here depends on what the network says; add one, as in cross_entropy");
    EXPECT_EQ(error_of_text("\"relu\"", "{\"dropout\": 1.5}"),
              "f.json:3:88: expected 1 or less, found 1.5 (dropout, 'p': the probability)");
    EXPECT_EQ(error_of_text("0.01", "-1"),
              "f.json:5:34: expected 0 or more, found -1 (momentum, 'lr': the learning rate)");
}

TEST(Experiment, set_reaches_everything_and_its_mistakes_name_it) {
    Experiment experiment(tree_with({"optimizer.momentum.lr=0.5", "model.sequential.0.linear.units=3"}));
    EXPECT_EQ(experiment.config.at("optimizer").at("momentum").at("lr").as_number(), 0.5);
    EXPECT_EQ(mistake_in(tree_with({"batch_size=0"})),
              "--set batch_size=0: expected 1 or more, found 0 (the experiment, 'batch_size': examples a step)");
    EXPECT_EQ(
        mistake_in(tree_with({"keep_best.of=valid.eror"})),
        "--set keep_best.of=valid.eror: no figure of this run is called 'valid.eror'; did you mean 'valid.error'?");
    EXPECT_EQ(mistake_in(tree_with({R"(stop_when={"no_improvement": {"of": "test.error", "for": 3}})"})).substr(0, 6),
              "--set ");
}

TEST(Experiment, what_other_commands_read_is_checked_and_no_part_of_a_run) {
    EXPECT_EQ(error_of_text("\"cost\"", "\"cv\": {\"folds\": 1}, \"cost\""),
              "f.json:4:17: expected 2 or more, found 1 (cv, 'folds': parts of the training set, each held out once)");
    Experiment experiment(tree_with({R"(sweep={"over": {"seed": [1, 2]}})"}));
    EXPECT_EQ(experiment.config.find("sweep"), nullptr);
}

TEST(Experiment, shapes_are_checked_through_the_whole_network_before_data_are_touched) {
    std::string error = error_of_text("\"relu\"", "{\"conv2d\": {\"channels\": 4, \"kernel_size\": 3}}");
    EXPECT_EQ(error,
              "f.json:3:77: conv2d (layer 1): conv2d takes examples of shape (channels, height, width), what reaches "
              "it has shape (8,)");
    EXPECT_EQ(error_of_text("{\"linear\": 10}", "{\"linear\": 4}"),
              "f.json:4:9: cross_entropy: the data have 10 classes, the last layer gives 4 scores");
    EXPECT_EQ(error_of_text("\"relu\"", "{\"reshape\": [3, 3]}"),
              "f.json:3:77: reshape (layer 1): reshape to (3, 3) takes 9 numbers, what reaches it has shape (8,)");
}

TEST(Network, infers_widths_and_counts_parameters) {
    Json tree = load_config(WEFT_SOURCE_DIR "/examples/digits.json");
    tree = with_assignment(tree, R"(data.prepare=[{"reshape": [1, 28, 28]}])");
    tree = with_assignment(
        tree, R"(model.sequential=[{"conv2d": {"channels": 32, "kernel_size": 5}}, "relu", {"max_pool2d": 2},
        {"conv2d": {"channels": 64, "kernel_size": 5}}, "relu", {"max_pool2d": 2}, "flatten", {"dropout": 0.5}, {"linear": 512}, "relu",
        {"dropout": 0.5}, {"linear": 10}])");
    Experiment experiment(tree);
    Network network = *networks_of(experiment)[0];
    EXPECT_EQ(network.parameters(), 582026);  // 832 + 51,264 + 524,800 + 5,130
    EXPECT_EQ(str(network.layers[5].gives), "(batch, 64, 4, 4)");
}

TEST(Network, every_example_is_a_good_experiment_json_always_yaml_where_it_can_be_read) {
    ExampleData data;
    for (const auto& file : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/examples")) {
        bool yaml = file.path().extension() == ".yaml" && WEFT_HAVE_YAML;
        if (!yaml && file.path().extension() != ".json") continue;
        Json config = Experiment(compose_file(file.path())).config;
        EXPECT_EQ(mistake_in(config), "no error") << file.path();
        EXPECT_EQ(config_text(config).find("${"), std::string::npos) << file.path();
        EXPECT_EQ(Experiment(parse_config(config_text(config), "config.yaml")).config, config) << file.path();
    }
}

#if WEFT_HAVE_YAML
TEST(Experiment, every_piece_of_a_file_in_the_documentation_is_good) {
    ExampleData data;
    std::string page = io::read_file(WEFT_SOURCE_DIR "/docs/experiments.md");
    Json whole;
    int pieces = 0;
    for (std::size_t at = 0; (at = page.find("```yaml\n", at)) != page.npos; ++pieces) {
        std::size_t begin = at + 8, end = page.find("```", begin);
        Json piece = parse_config(page.substr(begin, end - begin), text("piece ", pieces));
        if (pieces == 0) whole = piece;
        EXPECT_NO_THROW(Experiment(compose(laid_over(whole, piece, file_keys())))) << pieces;
        at = end;
    }
    EXPECT_GE(pieces, 4);
    EXPECT_EQ(mistake_in(whole), "no error");
}
#endif

TEST(Registry, every_entry_of_every_kind_explains_itself) {
    for (const Kind& kind : kinds()) {
        EXPECT_FALSE(kind.entries.empty()) << kind.name;
        for (const Entry* entry : kind.entries) {
            std::string help = help_on_entry(kind, entry->name);
            EXPECT_FALSE(entry->doc.empty()) << kind.name << " " << entry->name;
            for (const Option& option : entry->options) EXPECT_NE(help.find(option.name), std::string::npos);
        }
    }
}

TEST(Experiment, products_are_made_in_the_precision_that_the_file_asks_for) {
    std::string refused = error_of_text("\"cost\"", "\"matmul_precision\": \"half\", \"cost\"");
    EXPECT_TRUE(refused.starts_with("f.json:4:21: ") && refused.find("float32") != refused.npos) << refused;
    std::vector<double> losses;
    for (std::string_view precision : MatmulPrecision::names) {
        Experiment experiment(
            tree_with({text("matmul_precision=", precision), "model.sequential.0.linear.units=64", "seed=3"}));
        const Phase& phase = experiment.phases[0];
        data::Dataset set = data::Preparation(phase.prepare).fit(phase.set("train")->load());
        losses.push_back(Objective(phase, make_network(phase, set)).evaluate(set).loss);
    }
    EXPECT_NE(losses[0], losses[1]);
    EXPECT_NEAR(losses[0] / losses[1], 1, 1e-2);
    for (std::size_t several : {2, 3}) EXPECT_NEAR(losses[0] / losses[several], 1, 1e-4);
}

TEST(Experiment, phases_are_laid_over_what_stands_beside_them) {
    Experiment experiment(
        tree_with({R"(phases=[{"name": "one", "stop_when": {"epochs": 1}}, {"optimizer": {"momentum": {"lr": 0.5}},
        "data": {"train": {"digits": {"size": 7}}, "valid": null}}])"}));
    ASSERT_EQ(experiment.phases.size(), 2u);
    EXPECT_EQ(experiment.phases[0].name, "one");
    EXPECT_EQ(experiment.phases[1].name, "2");
    EXPECT_EQ(experiment.phases[0].config.at("stop_when").at("epochs").as_integer(), 1);
    EXPECT_EQ(experiment.phases[1].config.at("stop_when").at("epochs").as_integer(), 2);
    EXPECT_EQ(experiment.phases[1].config.at("optimizer").at("momentum").at("lr").as_number(), 0.5);
    EXPECT_EQ(experiment.phases[1].set("train")->options().at("size").as_integer(), 7);
    EXPECT_EQ(experiment.phases[1].set("valid"), nullptr);
    EXPECT_EQ(Experiment(parse_config(config_text(experiment.config), "config.yaml")).config, experiment.config);
}

}  // namespace
}  // namespace weft::train
