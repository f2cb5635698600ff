// What models give back of examples, by their own parameters written out; points in the plane that keep the distances of flat data.
#include "weft/train/reconstruct.h"

#include <gtest/gtest.h>

#include "train/model.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft::train {
namespace {

data::Dataset as_set(const Tensor& x) {
    data::Dataset set;
    set.x = contiguous(x.array()), set.y = Array::zeros(DType::int64, {x.shape()[0].value()});
    return set;
}

/// The greatest difference of two arrays of float32.
double farthest(const Array& a, const Tensor& b) {
    Array other = contiguous(b.array());
    double most = a.size() == other.size() ? 0 : 1e9;
    for (std::int64_t i = 0; i < std::min(a.size(), other.size()); ++i)
        most = std::max(most, std::abs(static_cast<double>(a.data<float>()[i]) - other.data<float>()[i]));
    return most;
}

TEST(Reconstruct, an_autoencoder_gives_back_probabilities_without_its_noise) {
    Model model(R"([{"masking_noise": 0.5}, {"linear": {"units": 6, "name": "a"}}, "sigmoid", {"tied": "a"}])",
                R"({"bernoulli": {"target": "input"}})");
    Tensor x = pictures();
    auto found = reconstructed(model.phase(), model.network, as_set(x));
    ASSERT_TRUE(found);
    Tensor code = sigmoid(matmul(x, model.cell("a.weight").T()) + model.cell("a.bias"));
    EXPECT_LT(farthest(found->given, sigmoid(matmul(code, model.cell("a.weight")) + model.cell("3.bias"))), 1e-5);
    EXPECT_EQ(farthest(found->wanted, x), 0);
}

TEST(Reconstruct, a_boltzmann_machine_goes_up_and_down_by_its_means) {
    Model model(R"([{"rbm": {"units": 5, "name": "first"}}])", R"("of_layers")");
    Tensor x = pictures(),
           hidden = sigmoid(matmul(x, model.cell("first.weight").T()) + model.cell("first.hidden_bias"));
    auto found = reconstructed(model.phase(), model.network, as_set(x));
    ASSERT_TRUE(found);
    EXPECT_LT(
        farthest(found->given, sigmoid(matmul(hidden, model.cell("first.weight")) + model.cell("first.visible_bias"))),
        1e-5);
}

TEST(Reconstruct, a_classifier_gives_nothing_back) {
    Model model(R"([{"linear": 10}])");
    EXPECT_FALSE(reconstructed(model.phase(), model.network, as_set(pictures())));
}

TEST(Reconstruct, points_of_a_plane_in_space_keep_their_distances) {
    std::vector<float> numbers;
    for (int i = 0; i < 20; ++i) {
        double u = std::sin(i * 1.3), v = std::cos(i * 2.1);
        for (double number : {u + v, u - v, 2 * u, 5.0}) numbers.push_back(static_cast<float>(number));
    }
    Array points = in_the_plane(Array::from(numbers, {20, 4}));
    ASSERT_EQ(points.dims, (Dims{20, 2}));
    for (int i = 1; i < 20; ++i) {
        double before = 0, after = 0;
        for (int k = 0; k < 4; ++k) before += std::pow(numbers[4 * i + k] - numbers[k], 2);
        for (int k = 0; k < 2; ++k) after += std::pow(points.data<float>()[2 * i + k] - points.data<float>()[k], 2);
        EXPECT_NEAR(std::sqrt(before), std::sqrt(after), 1e-5);
    }
}

}  // namespace
}  // namespace weft::train
