// What all optimizers share: rates that change without compiling, groups, state and its names, refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "message.h"
#include "weft/ops/creation.h"
#include "weft/optim/adam.h"
#include "weft/optim/adaptive.h"
#include "weft/optim/sgd.h"
#include "weft/runtime/function.h"

namespace weft::optim {
namespace {

using ::testing::ElementsAre;

Parameter parameter(std::string name, std::vector<float> values) {
    auto count = static_cast<std::int64_t>(values.size());
    return Parameter(Tensor::of(values, {count}), std::move(name));
}

std::vector<std::string> names(const std::vector<Parameter>& cells) {
    std::vector<std::string> result;
    for (const Parameter& cell : cells) result.push_back(cell.name());
    return result;
}

TEST(Optimizer, names_its_state_after_parameters) {
    Adam adam;
    std::vector<Parameter> parameters = {parameter("fc.weight", {1, 2}), parameter("fc.bias", {0})};
    adam.prepare(parameters);
    EXPECT_THAT(names(adam.state()), ElementsAre("lr", "step", "fc.weight.exp_avg", "fc.weight.exp_avg_sq",
                                                 "fc.bias.exp_avg", "fc.bias.exp_avg_sq"));
    SGD plain({.lr = 1});
    plain.prepare(parameters);
    EXPECT_THAT(names(plain.state()), ElementsAre("lr"));
    SGD momentum({.lr = 1, .momentum = 0.5});
    momentum.prepare(parameters);
    EXPECT_THAT(names(momentum.state()),
                ElementsAre("lr", "momentum", "fc.weight.momentum_buffer", "fc.bias.momentum_buffer"));
}

TEST(Optimizer, a_changed_rate_takes_effect_in_a_compiled_step) {
    SGD sgd({.lr = 1});
    Parameter weight = parameter("weight", {0});
    int traces = 0;
    CompiledFunction step([&](std::span<const Tensor> g) {
        ++traces;
        sgd.step(std::vector<Parameter>{weight}, g);
        return std::vector<Tensor>{zeros({})};
    });
    const Tensor gradient[] = {ones({1}).eval()};
    step(gradient);
    EXPECT_THAT(weight.value().to_vector<float>(), ElementsAre(-1));
    sgd.set_lr(0.25);
    EXPECT_EQ(sgd.lr(), 0.25);
    step(gradient);
    EXPECT_THAT(weight.value().to_vector<float>(), ElementsAre(-1.25f));
    EXPECT_EQ(traces, 1);
}

TEST(Optimizer, groups_set_rate_and_decay_by_name) {
    SGD sgd({.lr = 1,
             .weight_decay = 0.5,
             .groups = {{.match = "*.bias", .lr = 2, .weight_decay = 0}, {.match = "out.*", .lr = 0.5}}});
    std::vector<Parameter> parameters = {parameter("fc.weight", {2}), parameter("fc.bias", {2}),
                                         parameter("out.weight", {2})};
    Tensor one = ones({1});
    sgd.step(parameters, std::vector<Tensor>{one, one, one});
    EXPECT_THAT(parameters[0].value().to_vector<float>(), ElementsAre(2 - 1 * (1 + 0.5f * 2)));
    EXPECT_THAT(parameters[1].value().to_vector<float>(), ElementsAre(2 - 2 * 1));
    EXPECT_THAT(parameters[2].value().to_vector<float>(), ElementsAre(2 - 0.5f * (1 + 0.5f * 2)));
}

TEST(Optimizer, refuses_what_makes_no_sense) {
    EXPECT_EQ(message<ValueError>([] { SGD({.lr = -1}); }), "SGD: lr is -1; it must be at least 0");
    EXPECT_EQ(message<ValueError>([] { Adam({.beta1 = 1}); }), "Adam: beta1 is 1; it must be at least 0 and below 1");
    EXPECT_EQ(message<ValueError>([] { RMSprop({.weight_decay = -2}); }),
              "RMSprop: weight_decay is -2; it must be at least 0");
    EXPECT_EQ(message<ValueError>([] { SGD({.nesterov = true}); }),
              "SGD: nesterov needs a momentum above 0 and no dampening");
    EXPECT_EQ(message<ValueError>([] { Adam().set("lrr", 1); }), "Adam has no rate 'lrr'; did you mean 'lr'?");
    EXPECT_EQ(message<ValueError>([] { Adam().set("lr", -1); }), "Adam: lr is -1; it must be at least 0");
    Adam adam({.groups = {{.match = "fc.wieght"}}});
    std::vector<Parameter> parameters = {parameter("fc.weight", {1}), parameter("fc.bias", {1})};
    EXPECT_EQ(message<ValueError>([&] { adam.prepare(parameters); }),
              "Adam: the group 'fc.wieght' matches no parameter; did you mean 'fc.weight'?");
    EXPECT_EQ(message<ValueError>([&] { Adam().step(parameters, std::vector<Tensor>{zeros({1})}); }),
              "Adam: 2 parameters, but 1 gradients; there must be one for each");
    EXPECT_EQ(message<ShapeError>([&] {
                  Adam().step(parameters, std::vector<Tensor>{zeros({1}), zeros({2})});
              }),
              "Adam: the parameter 'fc.bias' has shape (1,), its gradient (2,)");
    std::vector<Parameter> twins = {parameter("w", {1}), parameter("w", {1})};
    EXPECT_EQ(message<ValueError>([&] { Adam().prepare(twins); }),
              "Adam: two parameters are named 'w'; their state would be mixed up, so rename one");
    std::vector<Parameter> integers = {Parameter(zeros({1}, DType::int32).eval(), "n")};
    EXPECT_EQ(message<DTypeError>([&] { Adam().prepare(integers); }),
              "Adam: the parameter 'n' holds int32; only real floating numbers are trained");
}

TEST(Optimizer, clip_norm_scales_all_gradients_by_one_factor) {
    std::vector<Tensor> gradients = {Tensor::of<float>({3, 0}), Tensor::of<float>({4})};
    std::vector<Tensor> clipped = clip_norm(gradients, 1);
    EXPECT_NEAR(clipped[0].to_vector<float>()[0], 0.6, 1e-6);
    EXPECT_NEAR(clipped[1].to_vector<float>()[0], 0.8, 1e-6);
    EXPECT_EQ(clip_norm(gradients, 10)[1].item<float>(), 4);
    EXPECT_EQ(message<ValueError>([&] { clip_norm(gradients, 0); }),
              "clip_norm: the largest norm is 0; it must be above 0");
}

TEST(Glob, stars_and_question_marks) {
    EXPECT_TRUE(glob_match("*.bias", "a.b.bias"));
    EXPECT_FALSE(glob_match("*.bias", "bias"));
    EXPECT_TRUE(glob_match("a*c*e", "abcde"));
    EXPECT_FALSE(glob_match("a*c*e", "abcdef"));
    EXPECT_TRUE(glob_match("conv?.weight", "conv1.weight"));
    EXPECT_TRUE(glob_match("*", ""));
    EXPECT_FALSE(glob_match("?", ""));
}

}  // namespace
}  // namespace weft::optim
