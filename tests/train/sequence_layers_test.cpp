// Layers of sequences in files: what they give for sequences of a known shape, what they carry, what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/scratch.h"
#include "message.h"
#include "train/model.h"
#include "weft/base/error.h"
#include "weft/io/safetensors.h"
#include "weft/nn/functional/recurrent.h"
#include "weft/nn/training.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/train/run.h"

namespace weft::train {
namespace {

// A picture of the digits as a sequence of its 28 rows.
constexpr const char* as_rows = R"({"reshape": [28, 28]})";

Tensor sequences(std::int64_t count) { return reshape(pictures(count), {count, 28, 28}); }
double most_apart(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item<double>(); }
Tensor places(const Tensor& x, std::int64_t first, std::int64_t count) {
    return slice(x, {0, first, 0}, {x.shape()[0], count, x.shape()[2]});
}
std::string refused(const std::string& layers, const char* prepare = as_rows) {
    return message<ConfigError>([&] { Model model(layers, "\"cross_entropy\"", prepare); });
}

TEST(SequenceLayers, recurrent_ones_give_each_step_or_the_last_of_both_directions) {
    for (const char* kind : {"rnn", "gru", "lstm"}) {
        Model all(text(R"([{")", kind, R"(": {"units": 5, "bidirectional": true}}, "flatten", {"linear": 10}])"),
                  "\"cross_entropy\"", as_rows);
        EXPECT_EQ(str(all.network.layers[0].gives), "(batch, 28, 10)") << kind;
        Model last(text(R"([{")", kind, R"(": {"units": 5, "bidirectional": true, "last": true}}, {"linear": 10}])"),
                   "\"cross_entropy\"", as_rows);
        EXPECT_EQ(str(last.network.layers[0].gives), "(batch, 10)") << kind;
        Tensor x = sequences(2), steps = (*all.network.model.get<nn::Sequential>())[0](x);
        Tensor ends = concatenate(
            {squeeze(slice(steps, {0, 27, 0}, {2, 1, 5}), {1}), squeeze(slice(steps, {0, 0, 5}, {2, 1, 5}), {1})}, -1);
        EXPECT_EQ(most_apart((*last.network.model.get<nn::Sequential>())[0](x), ends), 0) << kind;
    }
}

TEST(SequenceLayers, what_is_carried_makes_one_sequence_of_the_windows_of_steps) {
    Model model(R"([{"lstm": {"units": 5, "layers": 2, "carry": true}}, "flatten", {"linear": 10}])",
                R"("cross_entropy")", as_rows);
    const nn::Module& layer = (*model.network.model.get<nn::Sequential>())[0];
    std::int64_t rows = model.phase().batch_size;
    EXPECT_EQ(str(model.cell("0.carried_c").shape()), text("(2, ", rows, ", 5)"));
    Tensor x = sequences(rows), whole = layer(x).eval();
    Tensor first, second;
    {
        nn::Training training;
        first = layer(places(x, 0, 14)).eval(), second = layer(places(x, 14, 14)).eval();
    }
    EXPECT_LT(most_apart(concatenate({first, second}, 1), whole), 1e-6);
    Tensor state = model.cell("0.carried_h").eval();
    EXPECT_GT(max(abs(state)).item<double>(), 0);
    // Evaluation begins at 0, and leaves the state alone.
    EXPECT_EQ(most_apart(layer(x), whole), 0);
    EXPECT_EQ(most_apart(model.cell("0.carried_h"), state), 0);
    for (const Parameter& cell : nn::parameters(model.network.model))
        EXPECT_EQ(cell.name().find("carried"), std::string::npos);
    nn::Training training;
    EXPECT_THAT(message<ShapeError>([&] { (void)layer(sequences(3)); }),
                testing::StartsWith(
                    text("carry: the state of ", rows, " rows goes on from step to step, but this batch has 3;")));
}

TEST(SequenceLayers, with_causal_attention_no_place_sees_a_later_one) {
    for (bool causal : {true, false}) {
        Model model(text(R"([{"attention": {"heads": 4, "causal": )", causal ? "true" : "false",
                         R"(}}, "flatten", {"linear": 10}])"),
                    "\"cross_entropy\"", as_rows);
        const nn::Module& layer = (*model.network.model.get<nn::Sequential>())[0];
        EXPECT_EQ(model.network.layers[0].parameters, 4 * 28 * 28 + 4 * 28);
        Tensor x = sequences(2), changed = concatenate({places(x, 0, 20), places(x, 20, 8) + 1.0f}, 1);
        EXPECT_EQ(most_apart(places(layer(x), 0, 20), places(layer(changed), 0, 20)) < 1e-6, causal);
        EXPECT_GT(most_apart(places(layer(x), 20, 8), places(layer(changed), 20, 8)), 1e-3);
    }
}

TEST(SequenceLayers, position_adds_what_was_learned_or_sines) {
    Model learned(R"(["position", "flatten", {"linear": 10}])", "\"cross_entropy\"", as_rows);
    Model fixed(R"([{"position": "sinusoidal"}, "flatten", {"linear": 10}])", "\"cross_entropy\"", as_rows);
    EXPECT_EQ(learned.network.layers[0].parameters, 28 * 28);
    EXPECT_EQ(fixed.network.layers[0].parameters, 0);
    Tensor x = sequences(2);
    EXPECT_EQ(most_apart((*learned.network.model.get<nn::Sequential>())[0](x) - x,
                         learned.cell("0.weight") + zeros_like(x)) < 1e-6,
              true);
    std::vector<float> added = ((*fixed.network.model.get<nn::Sequential>())[0](zeros_like(x))).to_vector<float>();
    for (int place : {0, 1, 27}) {
        for (int feature : {0, 1, 6, 27}) {
            double angle = place / std::pow(10000.0, (feature - feature % 2) / 28.0);
            EXPECT_NEAR(added[static_cast<std::size_t>(place * 28 + feature)],
                        feature % 2 ? std::cos(angle) : std::sin(angle), 1e-5);
        }
    }
}

TEST(SequenceLayers, transpose_orders_the_axes_of_each_example) {
    Model model(R"([{"reshape": [2, 14, 28]}, "transpose", {"transpose": [1, 2, 0]}, "flatten", {"linear": 10}])",
                "\"cross_entropy\"", as_rows);
    EXPECT_EQ(str(model.network.layers[1].gives), "(batch, 28, 14, 2)");
    EXPECT_EQ(str(model.network.layers[2].gives), "(batch, 14, 2, 28)");
    Tensor x = sequences(2);
    nn::Sequential& all = *model.network.model.get<nn::Sequential>();
    EXPECT_EQ(most_apart(all[2](all[1](all[0](x))), permute_dims(reshape(x, {2, 2, 14, 28}), {0, 2, 1, 3})), 0);
}

TEST(SequenceLayers, mistakes_name_the_layer_and_what_to_do) {
    EXPECT_EQ(
        refused(R"([{"gru": 5}, {"linear": 10}])", "\"flatten\""),
        "f.json:1:102: gru (layer 0): gru takes sequences, examples of shape (time, features); what reaches it has "
        "shape (784,); embedding makes vectors of symbols, reshape rows of a vector");
    EXPECT_THAT(refused(R"([{"attention": {"heads": 5}}])"),
                testing::HasSubstr("5 heads cannot share the 28 features"));
    EXPECT_THAT(refused(R"([{"transpose": [0, 0]}])"), testing::HasSubstr("are 0 to 1, each named once"));
    EXPECT_THAT(refused(R"([{"transpose": [1]}])"), testing::HasSubstr("name each"));
    EXPECT_THAT(refused(R"([{"lstm": {"units": 5, "carry": true, "bidirectional": true}}])"),
                testing::HasSubstr("leave `carry` or `bidirectional` out"));
}

/// What is left of a carried state behind the last epoch of a run.
double carried_behind(const char* options) {
    Scratch folder;
    put_file(folder / "letters.txt", std::string(60, 'a') + std::string(60, 'b'));
    std::string file = text(R"({"data": {"train": {"text": {"path": ")", (folder / "letters.txt").string(),
                            R"(", "length": 8, "lanes": 2}}, "shuffle": false}, "batch_size": 2, "last": "drop",
        "model": [{"embedding": {"count": 2, "units": 3}}, {"gru": {"units": 4, )",
                            options,
                            R"(}}, {"linear": 2}, "transpose"],
        "cost": "cross_entropy", "optimizer": "sgd", "stop_when": {"epochs": 2}})");
    Run run = Run::create(folder / "run", Experiment(parse_config(file, "f.json")));
    Watcher silent;
    (void)run.train(silent, [] { return false; });
    double most = 0;
    io::NamedArrays state = io::load_safetensors(folder / "run" / "last" / "model.safetensors");
    for (const auto& [name, array] : state.arrays) {
        if (name.find("carried_h") == name.npos) continue;
        for (std::int64_t i = 0; i < array.size(); ++i) most = std::max(most, std::abs(1.0 * array.data<float>()[i]));
        return most;
    }
    ADD_FAILURE() << "no carried state";
    return -1;
}

TEST(Carry, begins_at_zeros_with_each_epoch_where_that_is_asked_for) {
    EXPECT_EQ(carried_behind(R"("carry": true, "restart": true)"), 0);
    EXPECT_GT(carried_behind(R"("carry": true)"), 0);
    EXPECT_THAT(refused(R"([{"lstm": {"units": 5, "restart": true}}])"), testing::HasSubstr("add `carry: true`"));
}

}  // namespace
}  // namespace weft::train
