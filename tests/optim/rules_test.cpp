// The rules that came after Adam, each against plain double arithmetic written from the paper's formula as PyTorch states it.
#include "message.h"
#include "trajectory.h"
#include "weft/ops/elementwise.h"
#include "weft/optim/adam.h"
#include "weft/optim/adaptive.h"
#include "weft/optim/lion.h"
#include "weft/optim/muon.h"
#include "weft/optim/sgd.h"

namespace weft::optim {
namespace {

TEST(Adadelta, steps_by_the_size_of_past_steps_over_that_of_past_gradients) {
    expect_trajectory([] { return Adadelta({.lr = 0.7, .rho = 0.8, .eps = 1e-3, .weight_decay = 0.1}); },
                      reference([](double& v, double g, int, auto& s) {
                          g += 0.1 * v;
                          s[0] = 0.8 * s[0] + 0.2 * g * g;
                          double delta = std::sqrt(s[1] + 1e-3) / std::sqrt(s[0] + 1e-3) * g;
                          s[1] = 0.8 * s[1] + 0.2 * delta * delta;
                          v -= 0.7 * delta;
                      }));
}

TEST(Adam, divides_by_the_largest_mean_of_squares_with_amsgrad) {
    expect_trajectory([] { return Adam({.lr = 0.02, .beta2 = 0.7, .amsgrad = true}); },
                      reference([](double& v, double g, int t, auto& s) {
                          s[0] = 0.9 * s[0] + 0.1 * g;
                          s[1] = 0.7 * s[1] + 0.3 * g * g;
                          s[2] = std::max(s[2], s[1]);
                          v -= 0.02 * (s[0] / (1 - std::pow(0.9, t))) /
                               (std::sqrt(s[2] / (1 - std::pow(0.7, t))) + 1e-8);
                      }));
}

TEST(NAdam, looks_ahead_with_a_momentum_that_grows) {
    for (bool decoupled : {false, true}) {
        auto rule = [=](double& v, double g, int t, auto& s) {
            if (decoupled)
                v *= 1 - 0.02 * 0.1;
            else
                g += 0.1 * v;
            auto mu = [](int n) { return 0.9 * (1 - 0.5 * std::pow(0.96, n * 0.05)); };
            double product = 1;
            for (int n = 1; n <= t; ++n) product *= mu(n);
            s[0] = 0.9 * s[0] + 0.1 * g;
            s[1] = 0.99 * s[1] + 0.01 * g * g;
            double divisor = std::sqrt(s[1] / (1 - std::pow(0.99, t))) + 1e-8;
            v -= 0.02 * (1 - mu(t)) / (1 - product) * g / divisor;
            v -= 0.02 * mu(t + 1) / (1 - product * mu(t + 1)) * s[0] / divisor;
        };
        auto make = [=] {
            return NAdam({.lr = 0.02,
                          .beta2 = 0.99,
                          .weight_decay = 0.1,
                          .momentum_decay = 0.05,
                          .decoupled_weight_decay = decoupled});
        };
        expect_trajectory(make, reference(rule));
    }
}

TEST(RAdam, trusts_the_squares_only_when_they_are_enough) {
    double beta2 = 0.95, most = 2 / (1 - beta2) - 1;
    expect_trajectory(
        [=] { return RAdam({.lr = 0.02, .beta2 = beta2}); }, reference([=](double& v, double g, int t, auto& s) {
            s[0] = 0.9 * s[0] + 0.1 * g;
            s[1] = beta2 * s[1] + (1 - beta2) * g * g;
            double step = 0.02 * s[0] / (1 - std::pow(0.9, t)), correction = 1 - std::pow(beta2, t);
            double length = most - 2 * t * std::pow(beta2, t) / correction;
            if (length > 5) {
                step *= std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) *
                        std::sqrt(correction) / (std::sqrt(s[1]) + 1e-8);
            }
            v -= step;
        }));
}

TEST(Adamax, divides_by_the_largest_gradient) {
    expect_trajectory([] { return Adamax({.lr = 0.02, .beta2 = 0.9, .weight_decay = 0.1}); },
                      reference([](double& v, double g, int t, auto& s) {
                          g += 0.1 * v;
                          s[0] = 0.9 * s[0] + 0.1 * g;
                          s[1] = std::max(0.9 * s[1], std::abs(g) + 1e-8);
                          v -= 0.02 / (1 - std::pow(0.9, t)) * s[0] / s[1];
                      }));
}

TEST(Lion, moves_every_number_by_the_rate) {
    expect_trajectory([] { return Lion({.lr = 0.02, .weight_decay = 0.1}); },
                      reference([](double& v, double g, int, auto& s) {
                          double c = 0.9 * s[0] + 0.1 * g, sign = (c > 0) - (c < 0);
                          v -= 0.02 * (sign + 0.1 * v);
                          s[0] = 0.99 * s[0] + 0.01 * g;
                      }));
}

TEST(SGD, climbs_when_asked_to_maximize) {
    auto climbing = [] {
        SGD sgd({.lr = 0.1, .weight_decay = 0.1});
        sgd.configure({.maximize = true});
        return sgd;
    };
    expect_trajectory(climbing, reference([](double& v, double g, int, auto&) { v -= 0.1 * (-g + 0.1 * v); }));
}

using Matrix = std::vector<std::vector<double>>;

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c(a.size(), std::vector<double>(b[0].size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b[0].size(); ++j)
            for (std::size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}

Matrix transposed(const Matrix& a) {
    Matrix t(a[0].size(), std::vector<double>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[0].size(); ++j) t[j][i] = a[i][j];
    return t;
}

/// Newton and Schulz's iteration as it stands in the paper, without turning the matrix.
Matrix nearly_orthogonal(Matrix x) {
    double norm = 0;
    for (const auto& row : x)
        for (double value : row) norm += value * value;
    for (auto& row : x)
        for (double& value : row) value /= std::sqrt(norm);
    for (int step = 0; step < 5; ++step) {
        Matrix gram = product(x, transposed(x)), once = product(gram, x), twice = product(gram, once);
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = 0; j < x[0].size(); ++j)
                x[i][j] = 3.4445 * x[i][j] - 4.775 * once[i][j] + 2.0315 * twice[i][j];
    }
    return x;
}

TEST(Muon, makes_the_velocity_of_a_matrix_orthogonal) {
    constexpr int rows = 3, columns = 2;
    Matrix value(rows, std::vector<double>(columns, 0.5)), velocity(rows, std::vector<double>(columns));
    Parameter weight(Tensor::of(std::vector<double>(6, 0.5), {rows, columns}), "weight");
    Muon muon({.lr = 0.1, .weight_decay = 0.2});
    for (int t = 1; t <= 5; ++t) {
        std::vector<double> flat;
        Matrix ahead = value;
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                double g = gradient_at(t, static_cast<std::size_t>(i * columns + j));
                flat.push_back(g);
                velocity[i][j] = 0.95 * velocity[i][j] + 0.05 * g;
                ahead[i][j] = 0.05 * g + 0.95 * velocity[i][j];
            }
        }
        ahead = nearly_orthogonal(ahead);
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j)
                value[i][j] = value[i][j] * (1 - 0.1 * 0.2) - 0.1 * std::sqrt(1.5) * ahead[i][j];
        }
        muon.step(std::vector<Parameter>{weight}, std::vector<Tensor>{Tensor::of(flat, {rows, columns})});
    }
    std::vector<double> found = weight.value().to_vector<double>();
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            EXPECT_NEAR(found[static_cast<std::size_t>(i * columns + j)], value[i][j], 1e-12);
}

TEST(Muon, trains_what_is_no_matrix_by_adamw_or_refuses_it) {
    auto parameters = [] {
        return std::vector<Parameter>{Parameter(ones({2, 2}).eval(), "weight"), Parameter(ones({2}).eval(), "bias")};
    };
    std::vector<Parameter> one = parameters(), other = parameters();
    Muon muon({.weight_decay = 0.1, .others = MuonOthers{.lr = 0.03}});
    AdamW adamw({.lr = 0.03, .weight_decay = 0.1});
    for (int t = 1; t <= 4; ++t) {
        std::vector<Tensor> gradients{ones({2, 2}) * static_cast<float>(t),
                                      Tensor::of<float>({static_cast<float>(t), -2})};
        muon.step(one, gradients), adamw.step(other, gradients);
    }
    EXPECT_EQ(one[1].value().to_vector<float>(), other[1].value().to_vector<float>());
    EXPECT_NE(one[0].value().to_vector<float>(), other[0].value().to_vector<float>());
    EXPECT_EQ(message<ShapeError>([&] { Muon().prepare(parameters()); }),
              "Muon: the parameter 'bias' has shape (2,); only matrices are made orthogonal. Give `others`, with which "
              "AdamW trains the rest");
}

}  // namespace
}  // namespace weft::optim
