// Each optimizer against ten lines of plain double arithmetic, written from the published formulas as PyTorch states them.
#include "trajectory.h"

#include "weft/optim/adam.h"
#include "weft/optim/adaptive.h"
#include "weft/optim/sgd.h"

namespace weft::optim {
namespace {

TEST(SGD, follows_the_plain_formula) {
    expect_trajectory([] { return SGD({.lr = 0.1}); },
                      reference([](double& v, double g, int, auto&) { v -= 0.1 * g; }));
}

TEST(SGD, decays_weights_as_a_term_of_the_gradient) {
    expect_trajectory([] { return SGD({.lr = 0.1, .weight_decay = 0.01}); },
                      reference([](double& v, double g, int, auto&) { v -= 0.1 * (g + 0.01 * v); }));
}

TEST(SGD, keeps_a_velocity_with_momentum) {
    expect_trajectory([] { return SGD({.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01}); },
                      reference([](double& v, double g, int, auto& s) {
                          s[0] = 0.9 * s[0] + g + 0.01 * v;
                          v -= 0.1 * s[0];
                      }));
}

TEST(SGD, does_not_damp_the_first_velocity) {
    expect_trajectory([] { return SGD({.lr = 0.1, .momentum = 0.9, .dampening = 0.5}); },
                      reference([](double& v, double g, int t, auto& s) {
                          s[0] = t == 1 ? g : 0.9 * s[0] + 0.5 * g;
                          v -= 0.1 * s[0];
                      }));
}

TEST(SGD, looks_ahead_with_nesterov) {
    expect_trajectory([] { return SGD({.lr = 0.1, .momentum = 0.9, .nesterov = true}); },
                      reference([](double& v, double g, int, auto& s) {
                          s[0] = 0.9 * s[0] + g;
                          v -= 0.1 * (g + 0.9 * s[0]);
                      }));
}

TEST(RMSprop, divides_by_the_root_of_the_mean_square) {
    expect_trajectory([] { return RMSprop({.lr = 0.01, .weight_decay = 0.1}); },
                      reference([](double& v, double g, int, auto& s) {
                          g += 0.1 * v;
                          s[0] = 0.99 * s[0] + 0.01 * g * g;
                          v -= 0.01 * g / (std::sqrt(s[0]) + 1e-8);
                      }));
}

TEST(RMSprop, subtracts_the_mean_and_keeps_a_velocity_when_asked) {
    expect_trajectory(
        [] { return RMSprop({.lr = 0.01, .alpha = 0.9, .eps = 1e-2, .momentum = 0.8, .centered = true}); },
        reference([](double& v, double g, int, auto& s) {
            s[0] = 0.9 * s[0] + 0.1 * g * g;
            s[1] = 0.9 * s[1] + 0.1 * g;
            s[2] = 0.8 * s[2] + g / (std::sqrt(s[0] - s[1] * s[1]) + 1e-2);
            v -= 0.01 * s[2];
        }));
}

TEST(Adagrad, divides_by_the_root_of_the_sum_of_squares) {
    expect_trajectory(
        [] { return Adagrad({.lr = 0.1, .lr_decay = 0.05, .weight_decay = 0.01, .initial_accumulator_value = 0.3}); },
        reference(
            [](double& v, double g, int t, auto& s) {
                g += 0.01 * v;
                s[0] += g * g;
                v -= 0.1 / (1 + (t - 1) * 0.05) * g / (std::sqrt(s[0]) + 1e-10);
            },
            0.3));
}

auto adam_reference(double decay_in_gradient, double decay_of_weights) {
    return reference([=](double& v, double g, int t, auto& s) {
        g += decay_in_gradient * v;
        v *= 1 - 0.02 * decay_of_weights;
        s[0] = 0.9 * s[0] + 0.1 * g;
        s[1] = 0.999 * s[1] + 0.001 * g * g;
        v -= 0.02 * (s[0] / (1 - std::pow(0.9, t))) / (std::sqrt(s[1] / (1 - std::pow(0.999, t))) + 1e-8);
    });
}

TEST(Adam, corrects_its_averages_for_their_start_at_zero) {
    expect_trajectory([] { return Adam({.lr = 0.02}); }, adam_reference(0, 0));
}
TEST(Adam, decays_weights_as_a_term_of_the_gradient) {
    expect_trajectory([] { return Adam({.lr = 0.02, .weight_decay = 0.1}); }, adam_reference(0.1, 0));
}
TEST(AdamW, decays_weights_apart_from_the_gradient) {
    expect_trajectory([] { return AdamW({.lr = 0.02, .weight_decay = 0.1}); }, adam_reference(0, 0.1));
}

TEST(Optimizer, computes_half_types_with_a_state_of_float32) {
    Adam adam({.lr = 0.02});
    std::vector<double> values = run(adam, DType::bfloat16, true), expected = adam_reference(0, 0);
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], 0.02 * (1 + std::abs(expected[i])));
    EXPECT_EQ(adam.state().back().dtype(), DType::float32);
}

}  // namespace
}  // namespace weft::optim
