// Layers of channels and sizes: their values beside the operations that they stand for, and pictures made larger beside the same
// written out by hand.
#include <gtest/gtest.h>

#include "train/model.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/error.h"
#include "weft/nn/resample.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft::train {
namespace {

constexpr const char* as_picture = R"({"reshape": [1, 28, 28]})";

std::string layers_of(const std::string& first) { return "[" + first + R"(, "flatten", {"linear": 10}])"; }

TEST(ImageLayers, a_transposed_convolution_is_its_operation_with_every_option) {
    Model model(layers_of(R"({"conv_transpose2d": {"channels": 3, "kernel_size": [4, 3], "stride": 2, "padding": 1,
                              "output_padding": [0, 1], "init": {"normal": 0.1}}})"),
                "\"cross_entropy\"", as_picture);
    EXPECT_EQ(str(model.network.layers[0].gives), "(batch, 3, 56, 56)");
    EXPECT_EQ(model.network.layers[0].parameters, 1 * 3 * 4 * 3 + 3);
    EXPECT_EQ(max(abs(model.cell("0.bias"))).item<double>(), 0);
    Tensor x = reshape(pictures(), {3, 1, 28, 28});
    Tensor wanted =
        conv_transpose2d(x, model.cell("0.weight"), {}, {.stride = {2}, .padding = {1}, .output_padding = {0, 1}});
    Tensor scores = model.network.model(x);
    Tensor by_hand = matmul(reshape(wanted, {3, 3 * 56 * 56}), model.cell("2.weight").T()) + model.cell("2.bias");
    EXPECT_LT(max(abs(scores - by_hand)).item<double>(), 1e-4);
}

TEST(ImageLayers, transposed_convolutions_of_1_and_3_axes_follow_the_shape_that_reaches_them) {
    EXPECT_EQ(str(Model(layers_of(R"({"conv_transpose1d": {"channels": 2, "kernel_size": 5, "stride": 3}})"),
                        "\"cross_entropy\"", R"({"reshape": [4, 196]})")
                      .network.layers[0]
                      .gives),
              "(batch, 2, 590)");
    EXPECT_EQ(str(Model(layers_of(R"({"conv_transpose3d": {"channels": 2, "kernel_size": 2, "stride": [1, 2, 2]}})"),
                        "\"cross_entropy\"", R"({"reshape": [1, 4, 14, 14]})")
                      .network.layers[0]
                      .gives),
              "(batch, 2, 5, 28, 28)");
}

TEST(ImageLayers, upsample_repeats_pixels_and_hands_back_the_sum_of_what_they_became) {
    Tensor x = reshape(pictures(2), {2, 4, 14, 14});
    Tensor large = nn::Upsample({2, 3})(x);
    ASSERT_EQ(str(large.shape()), "(2, 4, 28, 42)");
    for (std::int64_t row : {0, 13, 27})
        for (std::int64_t column : {0, 20, 41}) {
            Tensor one = slice(large, {0, 0, row, column}, {2, 4, 1, 1});
            EXPECT_EQ(max(abs(one - slice(x, {0, 0, row / 2, column / 3}, {2, 4, 1, 1}))).item<double>(), 0);
        }
    Tensor weights = reshape(pictures(12), {2, 4, 28, 42});
    Tensor slope = gradient(sum(large * weights), x);
    Tensor sums = sum(reshape(weights, {2, 4, 14, 2, 14, 3}), {3, 5});
    EXPECT_LT(max(abs(slope - sums)).item<double>(), 1e-6);
}

TEST(ImageLayers, upsample_has_the_modes_of_interpolate) {
    Tensor ramp = Tensor::of(std::vector<float>{0, 1, 2, 3}, {1, 1, 1, 4});
    Tensor smooth = nn::Upsample({1, 2}, "bilinear")(ramp);
    std::vector<float> wanted = {0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3};
    EXPECT_EQ(max(abs(smooth - Tensor::of(wanted, {1, 1, 1, 8}))).item<double>(), 0);
    Model model(layers_of(R"({"upsample": {"scale_factor": [2, 1], "mode": "bilinear"}})"), "\"cross_entropy\"",
                as_picture);
    EXPECT_EQ(str(model.network.layers[0].gives), "(batch, 1, 56, 28)");
}

TEST(ImageLayers, pixel_shuffle_moves_channels_into_pixels) {
    Model model(layers_of(R"({"pixel_shuffle": 2})"), "\"cross_entropy\"", R"({"reshape": [4, 14, 14]})");
    EXPECT_EQ(str(model.network.layers[0].gives), "(batch, 1, 28, 28)");
    Tensor x = reshape(pictures(1), {1, 4, 14, 14});
    Tensor large = nn::PixelShuffle(2)(x);
    for (std::int64_t channel = 0; channel < 4; ++channel) {
        Tensor there = slice(large, {0, 0, 6 + channel / 2, 4 + channel % 2}, {1, 1, 1, 1});
        EXPECT_EQ((there - slice(x, {0, channel, 3, 2}, {1, 1, 1, 1})).item<float>(), 0);
    }
}

}  // namespace
}  // namespace weft::train
