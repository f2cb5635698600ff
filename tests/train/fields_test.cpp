// Networks with several inputs and outputs, and with sequences that differ in length: what reaches layers and costs, and that padding does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/scratch.h"
#include "message.h"
#include "weft/data/folds.h"
#include "weft/train/config.h"
#include "weft/train/dry_run.h"
#include "weft/train/objective.h"

namespace weft::train {
namespace {

using testing::HasSubstr;

constexpr const char* two_inputs =
    R"({"graph": {"nodes": {"a": {"linear": {"units": 6, "share": "one", "from": "left"}},
        "b": {"linear": {"units": 6, "share": "one", "from": "right"}}, "same": {"linear": {"units": 1, "from": ["a", "b"]}},
        "digit": {"linear": {"units": 10, "from": "a"}}}, "output": ["same", "digit"]}})";
constexpr const char* two_costs =
    R"(["binary_cross_entropy", {"cross_entropy": {"of": "digit", "target": "left_class", "factor": 0.5}}])";

Phase phase_of(const std::string& data, const std::string& model, const std::string& cost, const char* more = "") {
    return Phase(parse_config(
        text(R"({"data": {)", data, R"(}, "optimizer": "sgd", "model": )", model, ", \"cost\": ", cost, more, "}"),
        "f.json"));
}
Phase of_pairs(const std::string& model, const std::string& cost) {
    return phase_of(
        R"("train": {"pairs": {"of": {"digits": {"size": 40}}, "count": 30}}, "prepare": [{"scale": [0, 1]}, "flatten"])",
        model, cost, R"(, "monitor": {"channels": ["loss", "error", "f1", "cost"]})");
}
data::Dataset training_data(const Phase& phase) {
    return data::Preparation(phase.prepare).fit(phase.set("train")->load());
}

TEST(SeveralFields, reach_the_nodes_and_the_costs_that_name_them) {
    Phase phase = of_pairs(two_inputs, two_costs);
    data::Dataset set = training_data(phase);
    Network network = make_network(phase, set);
    EXPECT_EQ(network.parameters(), 785 * 6 + 13 + 70);
    EXPECT_THAT(dry_run(Experiment(phase.config)), HasSubstr("input right  (batch, 784)"));
    Objective objective(phase, network);
    Gathered gathered(phase.monitor, objective.names(), {Gathered::Of::set});
    (void)objective.evaluate(set, [&](const Judged& batch) { gathered.add(batch); });
    Json line;
    gathered.write(line, phase.monitor, Gathered::Of::set, "train");
    double loss = line.at("train.loss").as_number();
    EXPECT_NEAR(
        line.at("train.cost.binary_cross_entropy").as_number() + line.at("train.cost.cross_entropy.digit").as_number(),
        loss, 1e-6);
    // Two pictures changed places: all that is said of both together may differ, what is said of the left one is that of the right one.
    data::Dataset turned = set;
    std::swap(turned.x, turned.fields[1].data.x), std::swap(turned.fields[0].data, turned.fields[2].data);
    Gathered other(phase.monitor, objective.names(), {Gathered::Of::set});
    (void)objective.evaluate(turned, [&](const Judged& batch) { other.add(batch); });
    Json second;
    other.write(second, phase.monitor, Gathered::Of::set, "train");
    EXPECT_NE(second.at("train.error.digit").as_number() + second.at("train.cost.cross_entropy.digit").as_number(),
              line.at("train.error.digit").as_number() + line.at("train.cost.cross_entropy.digit").as_number());
}

TEST(SeveralFields, are_both_learned_from) {
    Phase phase = of_pairs(two_inputs, two_costs);
    data::Dataset set = training_data(phase);
    Network network = make_network(phase, set);
    Objective objective(phase, network);
    auto batch = set.batches(30).at(0);
    double before = objective.evaluate(set).loss;
    for (int i = 0; i < 5; ++i) objective.step(batch, {i, 1});
    EXPECT_LT(objective.evaluate(set).loss, before);
}

TEST(SeveralFields, that_are_not_there_are_refused_with_the_nearest) {
    auto refused = [](std::string model, std::string cost, const char* from, const char* to) {
        for (std::string* text : {&model, &cost})
            if (auto at = text->find(from); at != text->npos) text->replace(at, std::string(from).size(), to);
        Phase phase = of_pairs(model, cost);
        return message<ConfigError>([&] { (void)make_network(phase, *sample_of(phase)); });
    };
    EXPECT_THAT(refused(two_inputs, two_costs, "\"right\"", "\"rigth\""),
                HasSubstr("no input of this name; did you mean 'right'?"));
    EXPECT_THAT(refused(two_inputs, two_costs, "left_class", "left_clas"),
                HasSubstr("the data have no field 'left_clas'"));
    EXPECT_THAT(refused(two_inputs, two_costs, "\"of\": \"digit\"", "\"of\": \"digti\""),
                HasSubstr("no layer of the network has the path 'digti'"));
    EXPECT_THAT(refused(two_inputs, two_costs, "\"units\": 10", "\"units\": 9"),
                HasSubstr("the data have 10 classes, the last layer gives 9 scores"));
    EXPECT_THAT(refused(two_inputs, two_costs, "[\"same\", \"digit\"]", "\"same\""),
                HasSubstr("nothing takes what node 'digit' gives"));
}

class Lines : public testing::Test {
  protected:
    void SetUp() override {
        std::string lines;
        for (int i = 0; i < 40; ++i)
            lines += std::string("abcabcabcabc")
                         .substr(static_cast<std::size_t>(i % 3), static_cast<std::size_t>(1 + i % 9)) +
                     "\n";
        put_file(scratch / "lines.txt", lines);
    }
    Phase phase(const char* layers, int buckets, const char* cost = "\"cross_entropy\"") {
        return phase_of(text(R"("train": {"text": {"path": ")", (scratch / "lines.txt").string(),
                             R"(", "lines": true, "parts": [1, 0, 0]}}, "buckets": )", buckets),
                        text(R"([{"embedding": {"count": 4, "units": 6}}, )", layers, "]"), cost,
                        R"(, "batch_size": 7)");
    }
    Scratch scratch;
};

constexpr const char* recurrent = R"({"gru": {"units": 5, "bidirectional": true}}, {"linear": 4}, "transpose")";

TEST_F(Lines, are_judged_alike_by_themselves_in_buckets_and_with_padding) {
    for (const char* layers : {recurrent, R"("position", {"attention": {"heads": 2}}, {"linear": 4}, "transpose")"}) {
        Phase whole = phase(layers, 1), cut = phase(layers, 4);
        data::Dataset set = training_data(whole);
        Network network = make_network(whole, set);
        Sums padded = Objective(whole, network).evaluate(set), buckets = Objective(cut, network).evaluate(set);
        EXPECT_NEAR(padded.loss, buckets.loss, 1e-4);
        EXPECT_NEAR(padded.errors, buckets.errors, 1e-4);
        double loss = 0, errors = 0;
        for (std::int64_t row = 0; row < set.size(); ++row) {  // each line by itself, without any padding
            Sums one = Objective(cut, network).evaluate(data::picked_rows(set, {row}));
            loss += one.loss, errors += one.errors;
            if (row == 5) break;
        }
        Sums first = Objective(whole, network).evaluate(set.rows(0, 6));
        EXPECT_NEAR(first.loss, loss, 1e-4);
        EXPECT_NEAR(first.errors, errors, 1e-4);
    }
}

TEST_F(Lines, that_differ_in_padding_alone_are_the_same) {
    Phase phase = this->phase(recurrent, 1);
    data::Dataset set = training_data(phase), other = set;
    Network network = make_network(phase, set);
    for (Array* values : {&other.x, &other.y}) {
        Array copy = Array::empty(DType::int64, values->dims);
        copy_elements(*values, copy);
        *values = copy;
    }
    for (std::int64_t row = 0; row < set.size(); ++row)
        for (std::int64_t k = set.lengths.data<std::int64_t>()[row]; k < 9; ++k)
            other.x.data<std::int64_t>()[row * 9 + k] = 3, other.y.data<std::int64_t>()[row * 9 + k] = 2;
    Objective objective(phase, network);
    EXPECT_EQ(objective.evaluate(set).loss, objective.evaluate(other).loss);
}

TEST_F(Lines, are_refused_by_networks_that_take_one_length_alone) {
    Phase fixed = phase(R"("flatten", {"linear": 4})", 3, R"({"cross_entropy": {"target": "y"}})");
    std::string said = message<ConfigError>([&] { (void)make_network(fixed, training_data(fixed)); });
    EXPECT_THAT(said, HasSubstr("f.json:1:"));
    Phase none = phase_of(R"("train": {"digits": {"size": 10}}, "buckets": 2, "prepare": ["flatten"])",
                          R"({"linear": 10})", "\"cross_entropy\"");
    EXPECT_THAT(message<ConfigError>([&] { (void)make_network(none, training_data(none)); }),
                HasSubstr("buckets: these data do not say how long each of their sequences is"));
}

}  // namespace
}  // namespace weft::train
