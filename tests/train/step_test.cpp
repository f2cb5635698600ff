// A training step as one program: it learns, hands back what it should, names the layer that fails, and equals steps written by hand.
#include "weft/train/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "message.h"
#include "weft/autodiff/derivative.h"
#include "weft/nn/dropout.h"
#include "weft/nn/evaluate.h"
#include "weft/nn/linear.h"
#include "weft/nn/loss.h"
#include "weft/nn/normalization.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/optim/adam.h"
#include "weft/optim/sgd.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

struct Mlp {
    nn::Linear hidden{2, 16, {.key = random::key(1)}}, output{16, 2, {.key = random::key(2)}};
    Tensor operator()(const Tensor& x) const { return output(tanh(hidden(x))); }
    template <class Visitor>
    void members(Visitor& visit) {
        visit("hidden", hidden), visit("output", output);
    }
};

// Points in four corners: class 1 where the signs of both coordinates differ.
struct Corners {
    Tensor x, labels;
    explicit Corners(std::int64_t n) {
        std::vector<float> points;
        std::vector<std::int64_t> classes;
        for (std::int64_t i = 0; i < n; ++i) {
            bool right = i % 2, up = i / 2 % 2;
            float jitter = 0.05f * static_cast<float>(i % 7);
            points.push_back((right ? 1.0f : -1.0f) + jitter), points.push_back((up ? 1.0f : -1.0f) - jitter);
            classes.push_back(right != up);
        }
        x = Tensor::of(points, {n, 2}), labels = Tensor::of(classes, {n});
    }
};

auto classify = [](const Mlp& net, const Tensor& x, const Tensor& labels) { return nn::cross_entropy(net(x), labels); };

TEST(TrainStep, learns_what_no_line_can_divide) {
    Corners data(64);
    Mlp model;
    optim::Adam adam({.lr = 0.05});
    auto step = train_step(model, adam, classify);
    float first = step(data.x, data.labels).item<float>(), last = 0;
    for (int i = 0; i < 100; ++i) last = step(data.x, data.labels).item<float>();
    EXPECT_GT(first, 0.5f);
    EXPECT_LT(last, 0.02f);
    EXPECT_EQ(nn::error_rate(model, data.x, data.labels), 0);
    EXPECT_EQ(nn::error_rate(model, data.x, data.labels, 10), 0);  // slices that do not divide the rows
    EXPECT_EQ(nn::error_rate(model, data.x, 1 - data.labels), 1);
}

TEST(TrainStep, equals_a_step_written_by_hand) {
    Corners data(8);
    Mlp compiled, plain;
    optim::SGD one({.lr = 0.1, .momentum = 0.9}), other({.lr = 0.1, .momentum = 0.9});
    auto step = train_step(compiled, one, classify);
    std::vector<Parameter> parameters = nn::parameters(plain);
    for (int i = 0; i < 5; ++i) {
        Tensor loss = step(data.x, data.labels);
        std::vector<Tensor> values;
        for (const Parameter& parameter : parameters) values.push_back(parameter.value());
        Tensor expected = classify(plain, data.x, data.labels);
        other.step(parameters, gradient(expected, values));
        EXPECT_NEAR(loss.item<float>(), expected.item<float>(), 1e-6);
    }
    std::vector<float> a = compiled.hidden.weight.value().to_vector<float>(),
                       b = plain.hidden.weight.value().to_vector<float>();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(TrainStep, takes_batches_of_any_size_and_keeps_losses_that_were_handed_out) {
    Mlp model;
    optim::Adam adam;
    auto step = train_step(model, adam, classify);
    Corners large(8), small(5);
    Tensor first = step(large.x, large.labels), second = step(small.x, small.labels),
           third = step(large.x, large.labels);
    EXPECT_NE(first.item<float>(), third.item<float>());
    EXPECT_EQ(adam.state()[1].value().item<float>(), 3);  // "step"
}

TEST(TrainStep, hands_back_all_that_the_loss_function_gives) {
    Corners data(8);
    Mlp model;
    optim::Adam adam;
    auto step = train_step(model, adam, [](const Mlp& net, const Tensor& x, const Tensor& labels) {
        Tensor scores = net(x);
        return std::vector<Tensor>{nn::cross_entropy(scores, labels), nn::error_rate(scores, labels)};
    });
    std::vector<Tensor> results = step(data.x, data.labels);
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[1].dtype(), DType::float32);
}

TEST(TrainStep, runs_in_training_mode_and_leaves_frozen_parameters_alone) {
    struct Net {
        nn::BatchNorm1d norm{2};
        nn::Linear out{2, 2};
        Tensor operator()(const Tensor& x) const { return out(norm(x)); }
        void members(nn::Visitor& visit) { visit("norm", norm), visit("out", out); }
    } model;
    model.out.weight.freeze();
    std::vector<float> before = model.out.weight.value().to_vector<float>();
    optim::SGD sgd({.lr = 0.5});
    Corners data(8);
    auto step = train_step(model, sgd, [](const Net& net, const Tensor& x, const Tensor& labels) {
        return nn::cross_entropy(net(x), labels);
    });
    step(data.x, data.labels), step(data.x, data.labels);
    EXPECT_EQ(model.norm.num_batches_tracked->value().item<std::int64_t>(), 2);
    EXPECT_EQ(model.out.weight.value().to_vector<float>(), before);
    EXPECT_NE(model.out.bias->value().to_vector<float>()[0], 0);
}

TEST(TrainStep, the_same_key_and_steps_give_the_same_bits) {
    auto run = [] {
        Corners data(16);
        Mlp model;
        random::seed(5);
        optim::Adam adam({.lr = 0.01});
        nn::Dropout drop(0.3);
        auto step = train_step(model, adam, [&](const Mlp& net, const Tensor& x, const Tensor& labels) {
            return nn::cross_entropy(net(drop(x)), labels);
        });
        for (int i = 0; i < 10; ++i) step(data.x, data.labels);
        return model.hidden.weight.value().to_vector<float>();
    };
    EXPECT_EQ(run(), run());
}

TEST(TrainStep, names_model_and_layer_when_shapes_do_not_fit) {
    Mlp model;
    optim::Adam adam;
    auto step = train_step(model, adam, classify);
    EXPECT_THAT(
        message<ShapeError>([&] {
            step(ones({4, 3}), zeros({4}, DType::int64));
        }),
        HasSubstr("Linear: the input has shape (4, 3), but its last axis must hold 2 features\n  in Mlp / hidden\n"));
    auto whole = train_step(model, adam, [](const Mlp& net, const Tensor& x) { return net(x); });
    EXPECT_EQ(first_line<ShapeError>([&] {
                  whole(ones({4, 2}));
              }),
              "train_step: the loss has shape (4, 2), but must be a single number; take its mean or sum");
    struct Empty {
        void members(nn::Visitor&) {}
    } nothing;
    auto none = train_step(nothing, adam, [](const Empty&, const Tensor& x) { return x; });
    EXPECT_EQ(message<ValueError>([&] { none(ones({})); }),
              "train_step: Empty has no parameter to train; name its parts in members(), and freeze not all of them");
}

}  // namespace
}  // namespace weft
