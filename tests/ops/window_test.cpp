#include "weft/ops/window.h"

#include <gtest/gtest.h>

#include "ops/expected.h"
#include "ops/refusal.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/creation.h"
#include "weft/ops/einsum.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

using Floats = std::vector<float>;

// Sizes are those of torch.nn.functional.
TEST(Window, sizes_are_pytorchs) {
    Tensor x = input("x", {"n", 4, 9, 10}), w = input("w", {6, 2, 3, 3});
    EXPECT_EQ(conv2d(x, w, {}, {.stride = {2}, .padding = {1}, .groups = 2}).shape(), shape({"n", 6, 5, 5}));
    EXPECT_EQ(conv_transpose2d(input("x", {2, 6, 5, 5}), input("w", {6, 4, 3, 3}), {},
                               {.stride = {2}, .padding = {1}, .output_padding = {1}})
                  .shape(),
              shape({2, 4, 10, 10}));
    EXPECT_EQ(max_pool2d(x, {3}, {.stride = {2}}).shape(), shape({"n", 4, 4, 4}));
    EXPECT_EQ(max_pool2d(x, {3}, {.stride = {2}, .ceil_mode = true}).shape(), shape({"n", 4, 4, 5}));
    EXPECT_EQ(avg_pool2d(input("x", {4, 9, 10}), {2}).shape(), shape({4, 4, 5}));
}

TEST(Window, a_convolution_of_known_numbers) {
    Tensor x = Tensor::of<float>({1, 2, 3, 4}, {1, 1, 4}), w = Tensor::of<float>({1, 10}, {1, 1, 2});
    EXPECT_EQ(conv1d(x, w).to_vector<float>(), (Floats{21, 32, 43}));
    EXPECT_EQ(conv1d(x, w, Tensor::of<float>({0.5f}), {.stride = {2}, .padding = {1}}).to_vector<float>(),
              (Floats{10.5f, 32.5f, 4.5f}));
    EXPECT_EQ(conv_transpose1d(x, w).to_vector<float>(), (Floats{1, 12, 23, 34, 40}));
}

TEST(Window, gradients_of_pools_go_to_the_first_maximum_and_to_all_alike) {
    Tensor x = Tensor::of<float>({1, 3, 3, 2}, {1, 1, 4});
    EXPECT_EQ(gradient(sum(max_pool1d(x, {2})), x).to_vector<float>(), (Floats{0, 1, 1, 0}));
    EXPECT_EQ(gradient(sum(max_pool1d(x, {3}, {.stride = {1}})), x).to_vector<float>(), (Floats{0, 2, 0, 0}));
    EXPECT_EQ(gradient(sum(avg_pool1d(x, {2}, {.stride = {1}})), x).to_vector<float>(), (Floats{0.5f, 1, 1, 0.5f}));
}

TEST(Window, parts_of_an_axis_are_as_even_as_they_can_be) {
    Tensor x = Tensor::of<float>({1, 5, 2, 8, 3}, {1, 1, 5});  // parts [0, 2), [1, 4), [3, 5)
    EXPECT_EQ(avg_pool_of_parts(x, {3}).to_vector<float>(), (Floats{3, 5, 5.5f}));
    EXPECT_EQ(gradient(sum(avg_pool_of_parts(x, {2})), x).to_vector<float>(),
              (Floats{1 / 3.0f, 1 / 3.0f, 2 / 3.0f, 1 / 3.0f, 1 / 3.0f}));
    EXPECT_EQ(gradient(sum(avg_pool_of_parts(x, {0})), x).to_vector<float>(), (Floats{0, 0, 0, 0, 0}));
    EXPECT_THROW(avg_pool_of_parts(x, {2, 2}), ShapeError);
    EXPECT_THROW(avg_pool_of_parts(x, {-1}), ShapeError);
    EXPECT_THROW(avg_pool_of_parts(zeros({1, 1, 0}), {1}), ShapeError);
    EXPECT_THROW(avg_pool_of_parts(input("x", {1, 1, "n"}), {1}), ShapeError);
}

TEST(Window, the_gradient_of_a_convolution_is_the_transposed_one) {
    Tensor x = input("x", {2, 3, 5, 5}), w = input("w", {4, 3, 3, 3});
    Tensor loss = sum(square(conv2d(x, w, {}, {.padding = {1}})));
    Tensor leaves[] = {x, w};
    std::vector<Tensor> gradients = gradient(loss, leaves);
    EXPECT_EQ(gradients[0].shape(), x.shape());
    EXPECT_EQ(gradients[1].shape(), w.shape());
}

TEST(Window, what_is_wrong_is_named) {
    Tensor x = zeros({2, 4, 9}), w = zeros({6, 4, 3});
    EXPECT_REFUSED(ShapeError, convolution(x, zeros({6, 3, 3})),
                   "convolution: x of shape (2, 4, 9) has 4 channels, weights of shape (6, 3, 3) in 1 group take 3");
    EXPECT_REFUSED(ShapeError, convolution(x, zeros({6, 4, 10})),
                   "convolution: along spatial axis 0 the kernel covers 10 elements, the padded input of shape (2, 4, "
                   "9) has only 9");
    EXPECT_REFUSED(ShapeError, conv2d(x, w), "conv2d: x has shape (2, 4, 9); it needs 4 axes (N, C, 2 spatial)");
    EXPECT_REFUSED(ValueError, convolution(x, w, {.stride = {1, 1}}),
                   "convolution: stride (1, 1) must hold one number, or one for each of the 1 spatial axes");
    EXPECT_REFUSED(ValueError, convolution(x, w, {.stride = {0}}), "convolution: stride (0,) must not be below 1");
    EXPECT_REFUSED(ShapeError, convolution(x, zeros({5, 2, 3}), {.groups = 2}),
                   "convolution: the first size of the weights' shape (5, 2, 3) is not a multiple of the 2 groups");
    EXPECT_REFUSED(ShapeError, conv1d(x, w, zeros({4})),
                   "conv1d: the bias has shape (4,); it needs one number for each of the 6 output channels");
    EXPECT_REFUSED(ValueError, max_pool1d(x, {2}, {.padding = {2}}),
                   "max_pool: padding (2,) must be at most half of the kernel (2,)");
    EXPECT_REFUSED(
        ShapeError, max_pool1d(x, {10}),
        "max_pool: along spatial axis 0 the window covers 10 elements, the padded input of shape (2, 4, 9) has only 9");
}

TEST(Einsum, what_is_wrong_is_named) {
    Tensor a = zeros({2, 3}), b = zeros({4, 5});
    EXPECT_REFUSED(ShapeError, einsum("ij,jk", {a, b}), "einsum: 'ij,jk': 'j' has size 3 in (2, 3) and 4 in (4, 5)");
    EXPECT_REFUSED(ValueError, einsum("ij", {a, b}), "einsum: 'ij' describes 1 operands, but 2 are given");
    EXPECT_REFUSED(ShapeError, einsum("ijk", {a}),
                   "einsum: 'ijk': 'ijk' names 3 axes, its operand of shape (2, 3) has 2");
    EXPECT_REFUSED(ValueError, einsum("ij->k", {a}), "einsum: 'ij->k': the result's 'k' stands in no operand");
    EXPECT_REFUSED(ValueError, einsum("ij->ii", {a}), "einsum: 'ij->ii': the result names 'i' twice");
    EXPECT_REFUSED(ValueError, einsum("i1", {a}), "einsum: 'i1': '1' in 'i1' is neither a letter nor one '...'");
    EXPECT_REFUSED(ShapeError, einsum("ii", {a}), "einsum: 'ii': 'i' names axes of sizes 2 and 3 of one operand");
}

TEST(Einsum, sums_of_known_numbers) {
    Tensor a = Tensor::of<float>({1, 2, 3, 4}, {2, 2}), b = Tensor::of<float>({1, 10, 100, 1000}, {2, 2});
    EXPECT_EQ(einsum("ij,jk->ik", {a, b}).to_vector<float>(), (Floats{201, 2010, 403, 4030}));
    EXPECT_EQ(einsum("ij,jk->ki", {a, b}).to_vector<float>(), (Floats{201, 403, 2010, 4030}));
    EXPECT_EQ(einsum("ii->i", {a}).to_vector<float>(), (Floats{1, 4}));
    EXPECT_EQ(einsum("ij,ij->", {a, b}).to_vector<float>(), (Floats{4321}));
    EXPECT_EQ(einsum("ij,ij,i->j", {a, b, Tensor::of<float>({1, 2})}).to_vector<float>(), (Floats{601, 8020}));
    EXPECT_EQ(einsum("ij->", {Tensor::of<std::int32_t>({1, 2, 3, 4}, {2, 2})}).to_vector<std::int32_t>(),
              (std::vector<std::int32_t>{10}));
}

}  // namespace
}  // namespace weft
