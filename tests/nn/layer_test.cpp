// Layers against their formulas written out in loops, their first values, modes, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "message.h"
#include "weft/nn/activation.h"
#include "weft/nn/convolution.h"
#include "weft/nn/dropout.h"
#include "weft/nn/linear.h"
#include "weft/nn/normalization.h"
#include "weft/nn/pooling.h"
#include "weft/nn/training.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft::nn {
namespace {

using Floats = std::vector<float>;

Tensor ramp(const Shape& shape) {
    return sin(reshape(astype(iota(element_count(shape)), DType::float32), shape) * 0.7).eval();
}

TEST(Linear, multiplies_by_the_transposed_weight_and_adds_the_bias) {
    Linear linear(3, 2);
    linear.weight.set(Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
    linear.bias->set(Tensor::of<float>({10, 20}));
    EXPECT_EQ(linear(Tensor::of<float>({1, 0, -1, 2, 1, 0}, {2, 3})).to_vector<float>(), (Floats{8, 18, 14, 33}));
    EXPECT_EQ(linear(ones({5, 4, 3})).shape(), (Shape{5, 4, 2}));
    EXPECT_EQ(linear(ones({3})).shape(), (Shape{2}));
    EXPECT_FALSE(Linear(3, 2, {.bias = false}).bias.has_value());
}

TEST(Linear, first_values_fill_the_interval_of_PyTorch_and_follow_the_key) {
    Linear linear(400, 100, {.key = random::key(7)});
    double bound = 1 / std::sqrt(400.0), largest = 0;
    for (float v : linear.weight.value().to_vector<float>())
        largest = std::max(largest, static_cast<double>(std::abs(v)));
    EXPECT_LE(largest, bound);
    EXPECT_GT(largest, 0.999 * bound);
    for (float v : linear.bias->value().to_vector<float>()) EXPECT_LE(std::abs(v), bound);
    EXPECT_EQ(Linear(400, 100, {.key = random::key(7)}).weight.value().to_vector<float>(),
              linear.weight.value().to_vector<float>());
    EXPECT_NE(Linear(400, 100, {.key = random::key(8)}).weight.value().to_vector<float>(),
              linear.weight.value().to_vector<float>());
}

TEST(Linear, refuses_sizes_and_inputs_that_do_not_fit) {
    EXPECT_EQ(message<ValueError>([] { Linear(0, 2); }), "Linear: in_features is 0; it must be at least 1");
    EXPECT_EQ(first_line<ShapeError>([] {
                  Linear(3, 2)(ones({5, 4}));
              }),
              "Linear: the input has shape (5, 4), but its last axis must hold 3 features");
}

TEST(Convolution, slides_its_kernels_over_the_input) {
    Conv2d conv(2, 3, 3, {.stride = 2, .padding = 1});
    Tensor x = ramp({2, 2, 5, 6});
    Floats w = conv.weight.value().to_vector<float>(), b = conv.bias->value().to_vector<float>(),
           in = x.to_vector<float>();
    Tensor y = conv(x);
    ASSERT_EQ(y.shape(), (Shape{2, 3, 3, 3}));
    Floats out = y.to_vector<float>();
    std::size_t at = 0;
    for (int n = 0; n < 2; ++n)
        for (int o = 0; o < 3; ++o)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j, ++at) {
                    double sum = b[static_cast<std::size_t>(o)];
                    for (int c = 0; c < 2; ++c)
                        for (int k = 0; k < 3; ++k)
                            for (int l = 0; l < 3; ++l) {
                                int r = 2 * i + k - 1, s = 2 * j + l - 1;
                                if (r < 0 || r >= 5 || s < 0 || s >= 6) continue;
                                sum += double(in[static_cast<std::size_t>(((n * 2 + c) * 5 + r) * 6 + s)]) *
                                       w[static_cast<std::size_t>(((o * 2 + c) * 3 + k) * 3 + l)];
                            }
                    EXPECT_NEAR(out[at], sum, 1e-5);
                }
}

TEST(Convolution, shapes_are_PyTorchs) {
    EXPECT_EQ(Conv1d(4, 6, 3, {.groups = 2}).weight.shape(), (Shape{6, 2, 3}));
    EXPECT_EQ(Conv3d(1, 2, {3, 2, 1}).weight.shape(), (Shape{2, 1, 3, 2, 1}));
    EXPECT_EQ(ConvTranspose2d(4, 6, 3, {.groups = 2}).weight.shape(), (Shape{4, 3, 3, 3}));
    EXPECT_EQ(Conv1d(4, 6, 3)(ones({2, 4, 9})).shape(), (Shape{2, 6, 7}));
    EXPECT_EQ(Conv2d(4, 6, {3, 5}, {.same = true})(ones({2, 4, 9, 8})).shape(), (Shape{2, 6, 9, 8}));
    EXPECT_EQ(Conv2d(4, 6, 3)(ones({4, 9, 8})).shape(), (Shape{6, 7, 6}));  // without a batch
    EXPECT_EQ(Conv3d(1, 2, 2)(ones({1, 1, 3, 3, 3})).shape(), (Shape{1, 2, 2, 2, 2}));
    EXPECT_EQ(ConvTranspose2d(3, 5, 3, {.stride = 2, .padding = 1, .output_padding = 1})(ones({2, 3, 4, 4})).shape(),
              (Shape{2, 5, 8, 8}));
}

TEST(Convolution, refuses_what_does_not_fit) {
    EXPECT_EQ(message<ValueError>([] { Conv2d(3, 4, 3, {.groups = 2}); }),
              "Conv2d: in_channels 3 and out_channels 4 must be multiples of groups, which is 2");
    EXPECT_EQ(first_line<ShapeError>([] {
                  Conv2d(3, 4, 3)(ones({2, 4, 5, 5}));
              }),
              "Conv2d: the input has shape (2, 4, 5, 5), but its second axis must hold 3 channels");
    EXPECT_EQ(first_line<ShapeError>([] {
                  Conv2d(3, 4, 3)(ones({5, 5}));
              }),
              "Conv2d: the input has shape (5, 5), but must be (N, C, H, W) or (C, H, W)");
    EXPECT_EQ(message<ValueError>([] { Conv1d(3, 4, 3, {.stride = 2, .same = true}); }),
              "Conv1d: padding that keeps sizes (same) needs stride 1, not (2,)");
}

TEST(Pooling, takes_the_largest_and_the_mean_of_windows) {
    Tensor x = reshape(astype(iota(16), DType::float32), {1, 1, 4, 4});
    EXPECT_EQ(MaxPool2d(2)(x).to_vector<float>(), (Floats{5, 7, 13, 15}));
    EXPECT_EQ(AvgPool2d(2)(x).to_vector<float>(), (Floats{2.5, 4.5, 10.5, 12.5}));
    EXPECT_EQ(MaxPool2d(3, {.stride = 1})(x).to_vector<float>(), (Floats{10, 11, 14, 15}));
    EXPECT_EQ(GlobalAvgPool()(x).to_vector<float>(), (Floats{7.5}));
    EXPECT_EQ(MaxPool1d(2)(ones({3, 8})).shape(), (Shape{3, 4}));
    EXPECT_EQ(AvgPool3d(2)(ones({1, 3, 4, 4, 4})).shape(), (Shape{1, 3, 2, 2, 2}));
    EXPECT_EQ(first_line<ShapeError>([] { MaxPool2d(2)(ones({3})); }),
              "MaxPool2d: the input has shape (3,), but must be (N, C, H, W) or (C, H, W)");
}

TEST(Dropout, is_the_identity_in_evaluation_and_keeps_the_mean_in_training) {
    Tensor x = ones({100, 100});
    EXPECT_TRUE(Dropout(0.5)(x).is(x));
    Training training;
    random::seed(3);
    Floats y = Dropout(0.25)(x).to_vector<float>();
    std::size_t dropped = 0;
    for (float v : y) {
        if (v == 0)
            ++dropped;
        else
            EXPECT_FLOAT_EQ(v, 1 / 0.75f);
    }
    EXPECT_NEAR(static_cast<double>(dropped), 2500, 4 * std::sqrt(10000 * 0.25 * 0.75));  // four deviations
    EXPECT_EQ(message<ValueError>([] { Dropout(1.5); }), "Dropout: p is 1.5; it is a probability, between 0 and 1");
}

TEST(Dropout, draws_anew_at_each_call_of_a_compiled_function) {
    CompiledFunction drop([](std::span<const Tensor> x) {
        Training training;
        return std::vector<Tensor>{Dropout(0.5)(x[0])};
    });
    const Tensor x[] = {ones({64}).eval()};
    EXPECT_NE(drop(x)[0].to_vector<float>(), drop(x)[0].to_vector<float>());
}

TEST(BatchNorm, normalises_by_the_batch_and_moves_the_running_estimates_in_training) {
    BatchNorm1d norm(2);
    Tensor x = Tensor::of<float>({1, 10, 3, 20, 8, 60}, {3, 2});
    double mean = 4, biased = (9 + 1 + 16) / 3.0, unbiased = (9 + 1 + 16) / 2.0;
    {
        Training training;
        EXPECT_NEAR(norm(x).to_vector<float>()[0], (1 - mean) / std::sqrt(biased + 1e-5), 1e-6);
    }
    EXPECT_NEAR(norm.running_mean->value().to_vector<float>()[0], 0.1 * mean, 1e-6);
    EXPECT_NEAR(norm.running_var->value().to_vector<float>()[0], 0.9 + 0.1 * unbiased, 1e-6);
    EXPECT_EQ(norm.num_batches_tracked->value().item<std::int64_t>(), 1);
    norm.weight->set(Tensor::of<float>({2, 2}));
    norm.bias->set(Tensor::of<float>({1, 1}));
    EXPECT_NEAR(norm(x).to_vector<float>()[0], (1 - 0.1 * mean) / std::sqrt(0.9 + 0.1 * unbiased + 1e-5) * 2 + 1,
                1e-5);  // evaluation
    EXPECT_EQ(norm.num_batches_tracked->value().item<std::int64_t>(), 1);
}

TEST(BatchNorm, averages_all_batches_without_a_momentum) {
    BatchNorm1d norm(1, {.momentum = std::nullopt});
    Training training;
    norm(Tensor::of<float>({1, 3}, {2, 1}));
    norm(Tensor::of<float>({5, 5}, {2, 1}));
    EXPECT_NEAR(norm.running_mean->value().to_vector<float>()[0], (2 + 5) / 2.0, 1e-6);
    EXPECT_NEAR(norm.running_var->value().to_vector<float>()[0], (2 + 0) / 2.0, 1e-6);
}

TEST(BatchNorm, takes_moments_over_all_but_the_channels) {
    BatchNorm2d norm(3, {.affine = false, .track_running_stats = false});
    Tensor y = norm(ramp({4, 3, 5, 5}));
    for (float v : mean(y, {0, 2, 3}).to_vector<float>()) EXPECT_NEAR(v, 0, 1e-6);
    for (float v : var(y, {0, 2, 3}).to_vector<float>()) EXPECT_NEAR(v, 1, 1e-3);
    EXPECT_EQ(first_line<ShapeError>([&] {
                  norm(ones({2, 4, 5, 5}));
              }),
              "BatchNorm2d: the input has shape (2, 4, 5, 5), but its second axis must hold 3 channels");
    Training training;
    EXPECT_EQ(
        first_line<ShapeError>([] {
            BatchNorm1d(2)(ones({1, 2}));
        }),
        "BatchNorm1d: the input has shape (1, 2), one number a channel, whose variance says nothing; train with more");
}

TEST(BatchNorm, keeps_its_estimates_in_a_compiled_function) {
    BatchNorm1d norm(2);
    CompiledFunction step([&](std::span<const Tensor> x) {
        Training training;
        return std::vector<Tensor>{norm(x[0])};
    });
    const Tensor x[] = {Tensor::of<float>({1, 10, 3, 20, 8, 60}, {3, 2})};
    for (int i = 0; i < 3; ++i) step(x);
    EXPECT_NEAR(norm.running_mean->value().to_vector<float>()[0], 4 * (1 - 0.9 * 0.9 * 0.9), 1e-5);
    EXPECT_EQ(norm.num_batches_tracked->value().item<std::int64_t>(), 3);
}

TEST(LayerNorm, normalises_each_example) {
    LayerNorm norm(4);
    norm.weight->set(full({4}, 2.0f).eval());
    Tensor x = Tensor::of<float>({1, 2, 3, 4, 10, 10, 10, 10}, {2, 4});
    Floats y = norm(x).to_vector<float>();
    EXPECT_NEAR(y[0], 2 * -1.5 / std::sqrt(1.25 + 1e-5), 1e-5);
    EXPECT_EQ(y[4], 0);
    EXPECT_EQ(LayerNorm({3, 2}, {.bias = false}).weight->shape(), (Shape{3, 2}));
    EXPECT_EQ(first_line<ShapeError>([&] {
                  norm(ones({2, 3}));
              }),
              "LayerNorm: the input has shape (2, 3), but its last axes must be (4,)");
}

TEST(GroupNorm, normalises_groups_of_channels) {
    GroupNorm norm(2, 4);
    Tensor y = norm(ramp({3, 4, 2, 5}));
    EXPECT_EQ(y.shape(), (Shape{3, 4, 2, 5}));
    Tensor groups = reshape(y, {3, 2, 20});
    for (float v : mean(groups, 2).to_vector<float>()) EXPECT_NEAR(v, 0, 1e-6);
    for (float v : var(groups, {2}).to_vector<float>()) EXPECT_NEAR(v, 1, 1e-3);
    EXPECT_EQ(message<ValueError>([] { GroupNorm(3, 4); }),
              "GroupNorm: num_channels 4 must be a multiple of num_groups, which is 3");
}

TEST(Embedding, picks_rows_and_keeps_the_padding_row_zero) {
    Embedding embedding(5, 3, {.padding_idx = -1});
    Floats rows = embedding.weight.value().to_vector<float>();
    Tensor y = embedding(Tensor::of<std::int64_t>({1, 4, 1}));
    EXPECT_EQ(y.to_vector<float>(), (Floats{rows[3], rows[4], rows[5], 0, 0, 0, rows[3], rows[4], rows[5]}));
    EXPECT_EQ(first_line<DTypeError>([&] { embedding(ones({2})); }),
              "Embedding: the indices are float32; rows are numbered by integers");
    EXPECT_EQ(message<IndexError>([] { Embedding(5, 3, {.padding_idx = 5}); }),
              "Embedding: padding_idx 5 is not one of 5 rows");
}

TEST(Flatten, joins_all_axes_but_the_first) { EXPECT_EQ(Flatten()(ones({2, 3, 4})).shape(), (Shape{2, 12})); }

TEST(PReLU, learns_its_slope_a_channel) {
    PReLU one, many(2);
    EXPECT_EQ(one(Tensor::of<float>({-4, 4})).to_vector<float>(), (Floats{-1, 4}));
    many.weight.set(Tensor::of<float>({0.5, 0.25}));
    EXPECT_EQ(many(Tensor::of<float>({-4, -4}, {1, 2})).to_vector<float>(), (Floats{-2, -1}));
}

}  // namespace
}  // namespace weft::nn
