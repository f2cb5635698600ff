// Losses against their formulas in double, their derivatives where a closed form is known, and what they refuse.
#include "weft/nn/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "message.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/transform.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft::nn {
namespace {

using Values = std::vector<double>;
const Values logits_values = {1.5, -0.5, 0.25, -2, 3, 0.5, 0.1, 0.2, 0.3, 100, -100, 0};  // (4, 3)
const std::vector<std::int64_t> label_values = {0, 2, 1, 0};

Tensor logits() { return Tensor::of(logits_values, {4, 3}); }
Tensor labels() { return Tensor::of(label_values, {4}); }

/// log softmax of row i at class c
double log_probability(std::size_t i, std::size_t c) {
    double largest = -1e300, sum = 0;
    for (std::size_t k = 0; k < 3; ++k) largest = std::max(largest, logits_values[3 * i + k]);
    for (std::size_t k = 0; k < 3; ++k) sum += std::exp(logits_values[3 * i + k] - largest);
    return logits_values[3 * i + c] - largest - std::log(sum);
}
double nll(std::size_t i) { return -log_probability(i, static_cast<std::size_t>(label_values[i])); }

double mean_over(std::size_t n, const std::function<double(std::size_t)>& term) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += term(i);
    return sum / static_cast<double>(n);
}

TEST(CrossEntropy, is_the_mean_of_minus_the_log_probability_of_the_label) {
    EXPECT_NEAR(cross_entropy(logits(), labels()).item<double>(), mean_over(4, nll), 1e-12);
    EXPECT_NEAR(cross_entropy(logits(), labels(), {.reduction = LossReduction::sum}).item<double>(),
                4 * mean_over(4, nll), 1e-12);
    Values each = cross_entropy(logits(), labels(), {.reduction = LossReduction::none}).to_vector<double>();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(each[i], nll(i), 1e-12);
}

TEST(CrossEntropy, spreads_a_part_of_the_target_with_label_smoothing) {
    double expected = mean_over(4, [](std::size_t i) {
        double spread = -(log_probability(i, 0) + log_probability(i, 1) + log_probability(i, 2)) / 3;
        return 0.8 * nll(i) + 0.2 * spread;
    });
    EXPECT_NEAR(cross_entropy(logits(), labels(), {.label_smoothing = 0.2}).item<double>(), expected, 1e-12);
}

TEST(CrossEntropy, weights_classes_and_their_mean) {
    Values weight = {1, 2, 0.5};
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        double w = weight[static_cast<std::size_t>(label_values[i])];
        sum += w * nll(i), total += w;
    }
    EXPECT_NEAR(cross_entropy(logits(), labels(), {.weight = Tensor::of(weight, {3})}).item<double>(), sum / total,
                1e-12);
}

TEST(CrossEntropy, leaves_out_ignored_labels) {
    Tensor some = Tensor::of<std::int64_t>({0, -100, 1, -100});
    EXPECT_NEAR(cross_entropy(logits(), some, {.ignore_index = -100}).item<double>(), (nll(0) + nll(2)) / 2, 1e-12);
}

TEST(CrossEntropy, takes_probabilities_of_the_logits_shape) {
    Tensor targets = astype(one_hot(labels(), 3), DType::float64);
    EXPECT_NEAR(cross_entropy(logits(), targets).item<double>(), mean_over(4, nll), 1e-12);
    EXPECT_NEAR(cross_entropy(logits(), targets, {.label_smoothing = 0.2}).item<double>(),
                cross_entropy(logits(), labels(), {.label_smoothing = 0.2}).item<double>(), 1e-12);
}

TEST(CrossEntropy, has_classes_along_the_second_axis_of_pictures) {
    Tensor pictures = permute_dims(reshape(logits(), {2, 2, 3}), {0, 2, 1});  // (N, C, d)
    EXPECT_NEAR(cross_entropy(pictures, reshape(labels(), {2, 2})).item<double>(), mean_over(4, nll), 1e-12);
}

TEST(CrossEntropy, derivative_is_softmax_minus_one_hot) {
    KeepPending keep;
    Tensor x = fresh(logits());
    Values slope = gradient(cross_entropy(x, labels()), x).to_vector<double>();
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
            double expected = (std::exp(log_probability(i, c)) - (label_values[i] == static_cast<std::int64_t>(c))) / 4;
            EXPECT_NEAR(slope[3 * i + c], expected, 1e-12);
        }
    }
}

TEST(CrossEntropy, refuses_labels_that_are_no_classes) {
    EXPECT_EQ(first_line<IndexError>([] {
                  cross_entropy(logits(), Tensor::of<std::int64_t>({0, 1, 3, 0}));
              }),
              "cross_entropy: label 3 at position 2 is not one of 3 classes (0 to 2)");
    CompiledFunction loss([](std::span<const Tensor> x) { return std::vector<Tensor>{cross_entropy(x[0], x[1])}; });
    EXPECT_TRUE(
        std::isnan(loss(std::vector<Tensor>{logits(), Tensor::of<std::int64_t>({0, 1, 3, 0})})[0].item<double>()));
    EXPECT_NEAR(loss(std::vector<Tensor>{logits(), labels()})[0].item<double>(), mean_over(4, nll), 1e-12);
}

TEST(CrossEntropy, names_both_shapes_when_they_do_not_fit) {
    EXPECT_EQ(first_line<ShapeError>([] {
                  cross_entropy(logits(), Tensor::of<std::int64_t>({0, 1}));
              }),
              "cross_entropy: scores of shape (4, 3) need labels of shape (4,) (a class number for each example), the "
              "labels have shape (2,)");
    EXPECT_EQ(first_line<DTypeError>([] { cross_entropy(logits(), zeros({4})); }),
              "cross_entropy: the labels are float32; class numbers must be integers (convert them with astype)");
    EXPECT_EQ(first_line<ShapeError>([] {
                  cross_entropy(logits(), zeros({4, 2}));
              }),
              "cross_entropy: the prediction has shape (4, 3), the target (4, 2); a loss does not broadcast, so "
              "reshape one of them");
    EXPECT_EQ(first_line<ValueError>([] { cross_entropy(logits(), labels(), {.label_smoothing = 2}); }),
              "cross_entropy: label_smoothing is 2; it must be between 0 and 1");
}

TEST(NllLoss, picks_the_label_of_log_probabilities) {
    Values logs;
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t c = 0; c < 3; ++c) logs.push_back(log_probability(i, c));
    }
    EXPECT_NEAR(nll_loss(Tensor::of(logs, {4, 3}), labels()).item<double>(), mean_over(4, nll), 1e-12);
}

const Values p = {0.5, -2, 1.25, 3}, t = {0.25, 1, 1, -4};

/// The mean of formula(prediction, target) is what `loss` gives.
template <class Loss, class Formula>
void expect_mean(Loss loss, const Values& prediction, const Values& target, Formula formula) {
    auto n = static_cast<std::int64_t>(prediction.size());
    double expected = mean_over(prediction.size(), [&](std::size_t i) { return formula(prediction[i], target[i]); });
    EXPECT_NEAR(loss(Tensor::of(prediction, {n}), Tensor::of(target, {n})).template item<double>(), expected, 1e-12);
}

TEST(Regression, losses_follow_their_formulas) {
    expect_mean([](auto a, auto b) { return mse_loss(a, b); }, p, t,
                [](double x, double y) { return (x - y) * (x - y); });
    expect_mean([](auto a, auto b) { return l1_loss(a, b); }, p, t, [](double x, double y) { return std::abs(x - y); });
    expect_mean([](auto a, auto b) { return smooth_l1_loss(a, b, {.beta = 2}); }, p, t,
                [](double x, double y) {
                    double d = std::abs(x - y);
                    return d < 2 ? d * d / 4 : d - 1;
                });
    expect_mean([](auto a, auto b) { return huber_loss(a, b, {.delta = 2}); }, p, t,
                [](double x, double y) {
                    double d = std::abs(x - y);
                    return d <= 2 ? d * d / 2 : 2 * (d - 1);
                });
    expect_mean([](auto a, auto b) { return poisson_nll_loss(a, b); }, p, t,
                [](double x, double y) { return std::exp(x) - y * x; });
}

TEST(Regression, losses_refuse_to_broadcast) {
    EXPECT_EQ(first_line<ShapeError>([] {
                  mse_loss(zeros({8, 1}), zeros({8}));
              }),
              "mse_loss: the prediction has shape (8, 1), the target (8,); a loss does not broadcast, so reshape one "
              "of them");
    EXPECT_EQ(first_line<ValueError>([] { huber_loss(zeros({2}), zeros({2}), {.delta = 0}); }),
              "huber_loss: delta is 0; it must be above 0");
}

TEST(Binary, losses_follow_their_formulas_without_overflow) {
    Values probabilities = {0.1, 0.9, 0.5, 1}, targets = {0, 1, 0.25, 1};
    expect_mean([](auto a, auto b) { return binary_cross_entropy(a, b); }, probabilities, targets,
                [](double x, double y) { return -(y * std::log(x) + (1 - y) * std::max(std::log1p(-x), -100.0)); });
    Values x = {0.5, -2, 1000, -1000}, y = {0, 1, 1, 0};
    auto formula = [](double a, double b) { return std::max(a, 0.0) - a * b + std::log1p(std::exp(-std::abs(a))); };
    expect_mean([](auto a, auto b) { return binary_cross_entropy_with_logits(a, b); }, x, y, formula);
    expect_mean(
        [](auto a, auto b) {
            return binary_cross_entropy_with_logits(a, b, {.pos_weight = Tensor(3.0, DType::float64)});
        },
        {0.5, -2}, {0, 1},
        [](double a, double b) {
            return -(3 * b * -std::log1p(std::exp(-a)) + (1 - b) * (-a - std::log1p(std::exp(-a))));
        });
}

TEST(Margin, losses_follow_their_formulas) {
    Values signs = {1, -1, 1, -1};
    expect_mean([](auto a, auto b) { return hinge_loss(a, b); }, p, signs,
                [](double x, double y) { return std::max(0.0, 1 - x * y); });
    expect_mean([](auto a, auto b) { return hinge_embedding_loss(a, b); }, p, signs,
                [](double x, double y) { return y == 1 ? x : std::max(0.0, 1 - x); });
    expect_mean([](auto a, auto b) { return soft_margin_loss(a, b); }, p, signs,
                [](double x, double y) { return std::log1p(std::exp(-x * y)); });
    double multi = mean_over(4, [](std::size_t i) {
        double sum = 0, right = logits_values[3 * i + static_cast<std::size_t>(label_values[i])];
        for (std::size_t c = 0; c < 3; ++c) {
            if (static_cast<std::int64_t>(c) != label_values[i])
                sum += std::max(0.0, 1 - right + logits_values[3 * i + c]);
        }
        return sum / 3;
    });
    EXPECT_NEAR(multi_margin_loss(logits(), labels()).item<double>(), multi, 1e-12);
}

TEST(Pairs, losses_follow_their_formulas) {
    Tensor a = Tensor::of<double>({3, 4, 1, 0}, {2, 2}), b = Tensor::of<double>({4, 3, 1, 1}, {2, 2}),
           signs = Tensor::of<double>({1, -1});
    double near = 24.0 / 25, far = 1 / std::sqrt(2.0);
    EXPECT_NEAR(cosine_embedding_loss(a, b, signs, {.margin = 0.5}).item<double>(), ((1 - near) + (far - 0.5)) / 2,
                1e-12);
    EXPECT_NEAR(margin_ranking_loss(Tensor::of<double>({2, 1}), Tensor::of<double>({1, 3}), signs, {.margin = 0.5})
                    .item<double>(),
                0, 1e-12);
    EXPECT_NEAR(margin_ranking_loss(Tensor::of<double>({1, 3}), Tensor::of<double>({2, 1}), signs, {.margin = 0.5})
                    .item<double>(),
                (1.5 + 2.5) / 2, 1e-12);
    double positive = std::sqrt(2.0), negative = std::sqrt(9.0 + 16);
    EXPECT_NEAR(triplet_margin_loss(Tensor::of<double>({3, 4}, {1, 2}), Tensor::of<double>({4, 3}, {1, 2}),
                                    zeros({1, 2}, DType::float64), {.margin = 4})
                    .item<double>(),
                std::max(0.0, positive - negative + 4), 1e-5);  // the distances carry PyTorch's eps of 1e-6
}

TEST(KlDiv, follows_its_formula_and_is_zero_where_the_target_is) {
    Tensor input = log(Tensor::of<double>({0.25, 0.75, 0.5, 0.5}, {2, 2})),
           target = Tensor::of<double>({0, 1, 0.3, 0.7}, {2, 2});
    double sum = std::log(1 / 0.75) + 0.3 * std::log(0.3 / 0.5) + 0.7 * std::log(0.7 / 0.5);
    EXPECT_NEAR(kl_div(input, target).item<double>(), sum / 4, 1e-12);
    EXPECT_NEAR(kl_div(input, target, {.reduction = KlDivOptions::Reduction::batchmean}).item<double>(), sum / 2,
                1e-12);
}

TEST(ErrorRate, counts_rows_whose_largest_score_is_elsewhere) {
    EXPECT_EQ(error_rate(logits(), labels()).item<float>(), 0.5f);
    EXPECT_EQ(accuracy(logits(), labels()).item<float>(), 0.5f);
    Tensor scores = Tensor::of<float>({2, -1, 0.5, -3}), truth = Tensor::of<std::int64_t>({1, 1, 1, 0});
    EXPECT_EQ(error_rate(scores, truth).item<float>(), 0.25f);
    EXPECT_EQ(error_rate(reshape(scores, {4, 1}), truth).item<float>(), 0.25f);
}

}  // namespace
}  // namespace weft::nn
