// What is done around every step: clipping, accumulation, constraints, means; eager and traced alike, state in cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "message.h"
#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/optim/adam.h"
#include "weft/optim/sgd.h"
#include "weft/runtime/function.h"

namespace weft::optim {
namespace {

using ::testing::ElementsAre;

/// Values of a parameter after each call of step(), by a traced step and by one that is computed at once.
template <class Make>
std::vector<std::vector<double>> values_after(Make make, std::vector<double> start,
                                              std::vector<std::vector<double>> gradients, bool traced, Dims dims = {}) {
    if (dims.empty()) dims = {static_cast<std::int64_t>(start.size())};
    Parameter weight(Tensor::of(start, dims), "weight");
    auto optimizer = make();
    CompiledFunction step([&](std::span<const Tensor> g) {
        optimizer.step(std::vector<Parameter>{weight}, g);
        return std::vector<Tensor>{zeros({})};
    });
    std::vector<std::vector<double>> all;
    for (const std::vector<double>& gradient : gradients) {
        std::vector<Tensor> given{Tensor::of(gradient, dims)};
        if (traced)
            step(given);
        else
            optimizer.step(std::vector<Parameter>{weight}, given);
        all.push_back(weight.value().to_vector<double>());
    }
    return all;
}

template <class Rule>
auto with(Rule make, StepOptions options) {
    return [=] {
        auto optimizer = make();
        optimizer.configure(options);
        return optimizer;
    };
}

auto plain = [] { return SGD({.lr = 1}); };

TEST(StepOptions, clip_by_value_by_each_norm_and_by_all) {
    EXPECT_THAT(values_after(with(plain, {.clip_value = 2}), {0, 0}, {{3, -1}}, true)[0], ElementsAre(-2, 1));
    std::vector<Parameter> two{Parameter(zeros({2}, DType::float64).eval(), "a"),
                               Parameter(zeros({1}, DType::float64).eval(), "b")};
    std::vector<Tensor> gradients{Tensor::of<double>({3, 4}), Tensor::of<double>({0.5})};
    auto optimizer = with(plain, {.clip_each_norm = 1})();
    optimizer.step(two, gradients);
    EXPECT_NEAR(two[0].value().to_vector<double>()[1], -0.8, 1e-6);
    EXPECT_EQ(two[1].value().item<double>(), -0.5);
    EXPECT_NEAR(
        clip_norm(std::vector<Tensor>{Tensor::of<double>({3, 0}), Tensor::of<double>({4})}, 1)[1].item<double>(), 0.8,
        1e-6);
    auto joint = with(plain, {.clip_norm = 1})();
    for (Parameter& p : two) p.set(zeros(p.shape(), DType::float64));
    joint.step(two, gradients);
    EXPECT_NEAR(two[1].value().item<double>(), -0.5 / std::sqrt(25.25), 1e-6);
    EXPECT_EQ(message<ValueError>([&] { (void)clip_value(gradients, 0); }),
              "clip_value: the largest value is 0; it must be above 0");
    EXPECT_EQ(message<ValueError>([&] { (void)clip_each_norm(gradients, -1); }),
              "clip_each_norm: the largest norm is -1; it must be above 0");
}

TEST(StepOptions, accumulated_gradients_make_one_step_of_their_mean) {
    auto adam = [] { return Adam({.lr = 0.1, .weight_decay = 0.1}); };
    std::vector<std::vector<double>> small{{1, 2}, {3, -2}, {-1, 0.5}, {2, 2.5}}, means{{2, 0}, {0.5, 1.5}};
    for (bool traced : {false, true}) {
        auto found = values_after(with(adam, {.accumulate = 2}), {0.5, -1}, small, traced);
        auto expected = values_after(adam, {0.5, -1}, means, traced);
        EXPECT_THAT(found[0], ElementsAre(0.5, -1));
        for (std::size_t i : {0u, 1u}) {
            EXPECT_NEAR(found[1][i], expected[0][i], 1e-15);
            EXPECT_EQ(found[2][i], found[1][i]);
            EXPECT_NEAR(found[3][i], expected[1][i], 1e-15);
        }
    }
}

TEST(StepOptions, constraints_hold_after_every_step_and_leave_alone_what_is_within) {
    auto one = [](Constraint constraint) { return with(plain, {.constraints = {constraint}}); };
    std::vector<double> start{3, 4, 0.1, 0.2}, still{0, 0, 0, 0};
    auto cut = [&](Constraint constraint, Dims dims) {
        return values_after(one(constraint), start, {still}, true, dims)[0];
    };
    std::vector<double> columns = cut({.max_col_norm = 1}, {2, 2});
    EXPECT_NEAR(columns[0], 0.6, 1e-15);
    EXPECT_NEAR(columns[1], 0.8, 1e-15);
    EXPECT_EQ(columns[2], 0.1);
    EXPECT_EQ(columns[3], 0.2);
    std::vector<double> rows = cut({.max_row_norm = 1}, {2, 2});
    EXPECT_NEAR(std::hypot(rows[0], rows[2]), 1, 1e-15);
    EXPECT_NEAR(rows[0] / rows[2], 30, 1e-12);
    std::vector<double> kernels = cut({.max_kernel_norm = 1}, {1, 2, 2, 1});
    EXPECT_NEAR(kernels[1], 0.8, 1e-15);
    EXPECT_EQ(kernels[3], 0.2);
    std::vector<double> least = cut({.max_col_norm = 5, .min_col_norm = 1}, {2, 2});
    EXPECT_EQ(least[1], 4);
    EXPECT_NEAR(std::hypot(least[2], least[3]), 1, 1e-15);
    EXPECT_THAT(values_after(one({.non_negative = true}), {1, 1}, {{2, 0.5}}, true)[0], ElementsAre(0, 0.5));
    EXPECT_THAT(values_after(one({.max_abs = 0.5}), {1, 1}, {{3, 0.75}}, true)[0], ElementsAre(-0.5, 0.25));
    std::vector<Parameter> bias{Parameter(zeros({2}).eval(), "fc.bias")};
    EXPECT_EQ(message<ShapeError>([&] { one({.max_col_norm = 1})().prepare(bias); }),
              "constraint '*': max_col_norm needs a parameter of 2 axes or more; 'fc.bias' has shape (2,). Give a glob "
              "that leaves it out");
    EXPECT_EQ(message<ValueError>([&] { one({.match = "fc.bas", .non_negative = true})().prepare(bias); }),
              "SGD: the constraint 'fc.bas' matches no parameter; did you mean 'fc.bias'?");
}

TEST(StepOptions, means_are_of_all_steps_alike_or_exponential) {
    std::vector<double> values{10, 7, 6, 2};  // of the parameter after each step
    std::vector<std::vector<double>> gradients{{-10}, {3}, {1}, {4}};
    auto mean_after = [&](Averaging averaging, bool traced) {
        Parameter weight(zeros({1}, DType::float64).eval(), "weight");
        SGD sgd = with(plain, {.average = averaging})();
        CompiledFunction step([&](std::span<const Tensor> g) {
            sgd.step(std::vector<Parameter>{weight}, g);
            return std::vector<Tensor>{zeros({})};
        });
        for (const auto& gradient : gradients) {
            std::vector<Tensor> given{Tensor::of(gradient, {1})};
            if (traced)
                step(given);
            else
                sgd.step(std::vector<Parameter>{weight}, given);
        }
        sgd.use_averages(true), sgd.use_averages(true);
        double mean = weight.value().item<double>();
        sgd.use_averages(false);
        EXPECT_EQ(weight.value().item<double>(), 2);
        return mean;
    };
    double exponential = values[0];
    for (std::size_t i = 1; i < 4; ++i) exponential = 0.75 * exponential + 0.25 * values[i];
    for (bool traced : {false, true}) {
        EXPECT_DOUBLE_EQ(mean_after({}, traced), 25.0 / 4);
        EXPECT_DOUBLE_EQ(mean_after({.start = 2}, traced), (6.0 + 2) / 2);
        EXPECT_DOUBLE_EQ(mean_after({.decay = 0.75}, traced), exponential);
    }
}

TEST(StepOptions, all_state_is_in_cells_so_another_optimizer_goes_on_to_the_bit) {
    StepOptions options{.accumulate = 3, .clip_norm = 0.5, .average = Averaging{.decay = 0.9}};
    auto make = [&] { return with([] { return NAdam({.lr = 0.1}); }, options)(); };
    auto gradient = [](int t) {
        return std::vector<Tensor>{Tensor::of<float>({std::sin(1.0f * t), std::cos(2.0f * t)})};
    };
    auto fresh = [] { return std::vector<Parameter>{Parameter(ones({2}).eval(), "w")}; };
    std::vector<Parameter> whole = fresh(), parts = fresh();
    NAdam uninterrupted = make(), first = make(), second = make();
    for (int t = 0; t < 20; ++t) uninterrupted.step(whole, gradient(t));
    for (int t = 0; t < 10; ++t) first.step(parts, gradient(t));
    second.prepare(parts);
    std::vector<Parameter> from = first.state(), to = second.state();
    for (std::size_t i = 0; i < from.size(); ++i) to[i].set(from[i].value().eval());
    for (int t = 10; t < 20; ++t) second.step(parts, gradient(t));
    EXPECT_EQ(whole[0].value().to_vector<float>(), parts[0].value().to_vector<float>());
    from = uninterrupted.state(), to = second.state();
    for (std::size_t i = 0; i < from.size(); ++i)
        EXPECT_EQ(from[i].value().astype(DType::float64).to_vector<double>(),
                  to[i].value().astype(DType::float64).to_vector<double>())
            << from[i].name();
}

TEST(StepOptions, what_makes_no_sense_is_refused) {
    EXPECT_EQ(message<ValueError>([] { SGD().configure({.accumulate = 0}); }),
              "SGD: accumulate is 0; it must be at least 1");
    EXPECT_EQ(message<ValueError>([] { SGD().configure({.clip_norm = -1}); }),
              "SGD: clip_norm is -1; it must be above 0, or 0 for no clipping");
    EXPECT_EQ(message<ValueError>([] { SGD().configure({.average = Averaging{.decay = 1}}); }),
              "SGD: the average's decay is 1; it must be at least 0 and below 1");
    SGD sgd;
    sgd.prepare(std::vector<Parameter>{Parameter(ones({2}).eval(), "w")});
    EXPECT_EQ(message<ValueError>([&] { sgd.configure({}); }),
              "SGD: what is done around steps is set before the first one");
    std::vector<Parameter> half{Parameter(ones({1}, DType::bfloat16).eval(), "h")};
    SGD averaging;
    averaging.configure({.average = Averaging{}});
    EXPECT_EQ(message<DTypeError>([&] { averaging.prepare(half); }),
              "SGD: the parameter 'h' holds bfloat16, in which a mean over steps would not move; average parameters of "
              "float32 or float64");
}

}  // namespace
}  // namespace weft::optim
