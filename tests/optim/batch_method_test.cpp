// Methods with line searches: against the dense form of the same formula, against what must hold of quadratics, and to the bit across steps.
#include "weft/optim/batch_method.h"

#include <gtest/gtest.h>

#include <cmath>

#include "message.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/reduce.h"

namespace weft::optim {
namespace {

using Vector = std::vector<double>;

/// Rosenbrock's valley, as weft's operations.
Tensor rosenbrock(const Tensor& x) { return square(1.0 - x[0]) + 10.0 * square(x[1] - square(x[0])); }
double rosenbrock(const Vector& x, Vector& g) {
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    g = {-2 * a - 40 * b * x[0], 20 * b};
    return a * a + 10 * b * b;
}

BatchMethod::Measure measure_of(const Parameter& weight, Tensor (*loss)(const Tensor&)) {
    return [=](std::vector<Tensor>& gradients) {
        Tensor value = weight.value(), total = loss(value);
        gradients = {gradient(total, value)};
        return total.item<double>();
    };
}

/// BFGS with the inverse curvature as a matrix, rebuilt from the last pairs at every step.
Vector dense_bfgs(Vector x, int steps, std::size_t history) {
    std::vector<Vector> s, y;
    Vector g;
    rosenbrock(x, g);
    for (int k = 0; k < steps; ++k) {
        double scale = s.empty() ? 1
                                 : (s.back()[0] * y.back()[0] + s.back()[1] * y.back()[1]) /
                                       (y.back()[0] * y.back()[0] + y.back()[1] * y.back()[1]);
        double h[2][2] = {{scale, 0}, {0, scale}};
        for (std::size_t p = 0; p < s.size(); ++p) {
            double rho = 1 / (s[p][0] * y[p][0] + s[p][1] * y[p][1]), v[2][2], next[2][2];
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) v[i][j] = (i == j) - rho * y[p][i] * s[p][j];
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) {
                    next[i][j] = rho * s[p][i] * s[p][j];
                    for (int a = 0; a < 2; ++a)
                        for (int b = 0; b < 2; ++b) next[i][j] += v[a][i] * h[a][b] * v[b][j];
                }
            std::copy(&next[0][0], &next[0][0] + 4, &h[0][0]);
        }
        double rate = 0.1 * (k == 0 ? std::min(1.0, 1 / (std::abs(g[0]) + std::abs(g[1]))) : 1);
        Vector step{-rate * (h[0][0] * g[0] + h[0][1] * g[1]), -rate * (h[1][0] * g[0] + h[1][1] * g[1])}, before = g;
        x[0] += step[0], x[1] += step[1];
        rosenbrock(x, g);
        Vector change{g[0] - before[0], g[1] - before[1]};
        if (step[0] * change[0] + step[1] * change[1] <= 1e-10) continue;
        s.push_back(step), y.push_back(change);
        if (s.size() > history) s.erase(s.begin()), y.erase(y.begin());
    }
    return x;
}

TEST(LBFGS, follows_the_dense_formula) {
    Parameter weight(Tensor::of<double>({-1.2, 1}), "w");
    LBFGS method({.lr = 0.1, .max_iter = 4, .history_size = 3});
    for (int i = 0; i < 5; ++i) method.minimise(std::vector<Parameter>{weight}, measure_of(weight, rosenbrock));
    Vector expected = dense_bfgs({-1.2, 1}, 20, 3), found = weight.value().to_vector<double>();
    EXPECT_NEAR(found[0], expected[0], 1e-10);
    EXPECT_NEAR(found[1], expected[1], 1e-10);
}

TEST(LBFGS, finds_the_bottom_of_a_bent_valley) {
    for (LineSearch search : {strong_wolfe, armijo}) {
        Parameter weight(Tensor::of<double>({-1.2, 1}), "w");
        LBFGS method({.max_iter = 60, .line_search = search});
        method.minimise(std::vector<Parameter>{weight}, measure_of(weight, rosenbrock));
        EXPECT_NEAR(weight.value().to_vector<double>()[0], 1, 1e-4);  // the last step changed the loss by 1e-9
    }
}

/// Along a line a quadratic is a parabola, whose bottom two slopes tell.
std::optional<LinePoint> exact(const Along& along, const LinePoint& start, double) {
    return along(-start.slope / (along(1).slope - start.slope));
}

Tensor bowl(const Tensor& x) {
    Tensor widths = Tensor::of<double>({1, 2, 5, 10, 30}), bottom = Tensor::of<double>({1, -1, 2, 0.5, 3});
    Tensor from = x - bottom;
    return 0.5 * sum(widths * square(from)) + 0.3 * square(sum(from));
}

TEST(ConjugateGradient, is_at_the_bottom_of_a_quadratic_after_as_many_steps_as_dimensions) {
    for (Conjugate formula : {Conjugate::polak_ribiere, Conjugate::fletcher_reeves, Conjugate::none}) {
        Parameter weight(zeros({5}, DType::float64).eval(), "w");
        ConjugateGradient method({.formula = formula, .line_search = exact, .iterations = 3, .across_batches = true});
        for (int i = 0; i < 2; ++i) method.minimise(std::vector<Parameter>{weight}, measure_of(weight, bowl));
        double loss = bowl(weight.value()).item<double>();
        if (formula == Conjugate::none)
            EXPECT_GT(loss, 1e-3);  // steepest descent is far from it
        else
            EXPECT_LT(loss, 1e-18);
    }
}

TEST(ConjugateGradient, finds_the_bottom_of_a_bent_valley) {
    for (Conjugate formula : {Conjugate::polak_ribiere, Conjugate::fletcher_reeves}) {
        for (LineSearch search : {strict_wolfe, exhaustive}) {
            Parameter weight(Tensor::of<double>({-1.2, 1}), "w");
            ConjugateGradient method({.formula = formula, .line_search = search, .iterations = 200});
            double before = method.minimise(std::vector<Parameter>{weight}, measure_of(weight, rosenbrock));
            EXPECT_NEAR(before, 4.84 + 10 * 0.44 * 0.44, 1e-12);
            EXPECT_NEAR(weight.value().to_vector<double>()[0], 1, 1e-3);
        }
    }
}

/// f along a line, and how often it was asked.
Along line(double (*f)(double), double (*slope)(double), int& calls) {
    return [=, &calls](double t) {
        ++calls;
        return LinePoint{t, f(t), slope(t), {slope(t)}};
    };
}
double wavy(double t) { return std::cos(3 * t) - t + 0.1 * t * t; }
double wavy_slope(double t) { return -3 * std::sin(3 * t) - 1 + 0.2 * t; }
double barrier(double t) { return t < 2 ? -t - std::log(2 - t) * 0.1 : NAN; }
double barrier_slope(double t) { return -1 + 0.1 / (2 - t); }

TEST(LineSearch, gives_points_at_which_the_conditions_hold) {
    for (auto [f, slope] : {std::pair{&wavy, &wavy_slope}, std::pair{&barrier, &barrier_slope}}) {
        for (double first : {1e-4, 0.1, 1.0, 50.0}) {
            int calls = 0;
            LinePoint start{0, f(0), slope(0), {}};
            auto falls = [&](const LinePoint& p) { return p.value <= start.value + 1e-4 * p.step * start.slope; };
            std::optional<LinePoint> wolfe = strong_wolfe(line(f, slope, calls), start, first);
            ASSERT_TRUE(wolfe && falls(*wolfe)) << first;
            EXPECT_LE(std::abs(wolfe->slope), 0.9 * std::abs(start.slope)) << first;
            std::optional<LinePoint> strict = strict_wolfe(line(f, slope, calls), start, first);
            ASSERT_TRUE(strict && falls(*strict)) << first;
            EXPECT_LE(std::abs(strict->slope), 0.1 * std::abs(start.slope)) << first;
            std::optional<LinePoint> back = armijo(line(f, slope, calls), start, first);
            EXPECT_TRUE(back && falls(*back)) << first;
            std::optional<LinePoint> best = exhaustive(line(f, slope, calls), start, first);
            ASSERT_TRUE(best) << first;
            for (double beside : {0.9, 1.1}) EXPECT_FALSE(f(best->step * beside) < best->value) << first;
            EXPECT_LT(calls, 120) << first;
        }
    }
}

TEST(LineSearch, gives_nothing_where_the_function_does_not_fall) {
    int calls = 0;
    LinePoint start{0, 0, -1, {}};  // a slope that is a lie
    auto f = [](double t) { return t; };
    auto one = [](double) { return 1.0; };
    for (LineSearch search : {armijo, strong_wolfe, exhaustive}) EXPECT_FALSE(search(line(f, one, calls), start, 1));
    EXPECT_LT(calls, 120);
}

template <class Method, class Options>
void expect_to_go_on_to_the_bit(Options options) {
    auto fresh = [] { return std::vector<Parameter>{Parameter(Tensor::of<float>({-1.2f, 1}), "w")}; };
    std::vector<Parameter> whole = fresh(), parts = fresh();
    Method uninterrupted(options), first(options), second(options);
    for (int i = 0; i < 4; ++i) uninterrupted.minimise(whole, measure_of(whole[0], rosenbrock));
    for (int i = 0; i < 2; ++i) first.minimise(parts, measure_of(parts[0], rosenbrock));
    second.prepare(parts);
    std::vector<Parameter> from = first.state(), to = second.state();
    for (std::size_t i = 0; i < from.size(); ++i) to[i].set(from[i].value());
    for (int i = 0; i < 2; ++i) second.minimise(parts, measure_of(parts[0], rosenbrock));
    EXPECT_EQ(whole[0].value().to_vector<float>(), parts[0].value().to_vector<float>());
    EXPECT_NE(whole[0].value().to_vector<float>()[0], -1.2f);
}

TEST(BatchMethod, all_state_is_in_cells_so_another_goes_on_to_the_bit) {
    expect_to_go_on_to_the_bit<LBFGS>(LBFGSOptions{.max_iter = 3, .history_size = 4, .line_search = strong_wolfe});
    expect_to_go_on_to_the_bit<ConjugateGradient>(ConjugateGradientOptions{.iterations = 2, .across_batches = true});
    expect_to_go_on_to_the_bit<ConjugateGradient>(
        ConjugateGradientOptions{.formula = Conjugate::none, .line_search = exhaustive, .iterations = 2});
}

TEST(BatchMethod, parameters_stay_where_they_were_when_the_loss_throws) {
    std::vector<Parameter> weight{Parameter(Tensor::of<double>({-1.2, 1}), "w")};
    int calls = 0;
    auto fails_later = [&](std::vector<Tensor>& gradients) {
        if (++calls == 5) throw ValueError("enough");
        return measure_of(weight[0], rosenbrock)(gradients);
    };
    ConjugateGradient method;
    EXPECT_EQ(message<ValueError>([&] { method.minimise(weight, fails_later); }), "enough");
    EXPECT_EQ(weight[0].value().to_vector<double>(), (Vector{-1.2, 1}));
}

TEST(BatchMethod, refuses_what_it_cannot_do) {
    std::vector<Parameter> weight{Parameter(ones({2}, DType::float64).eval(), "w")};
    EXPECT_EQ(
        message<ValueError>([&] { LBFGS().step(weight, std::vector<Tensor>{ones({2})}); }),
        "LBFGS: one gradient is not enough for it; minimise() (in Python: step with a closure) asks for the loss at "
        "several points");
    LBFGS clipping;
    clipping.configure({.clip_norm = 1});
    EXPECT_EQ(
        message<ValueError>([&] { clipping.minimise(weight, measure_of(weight[0], rosenbrock)); }),
        "LBFGS: no clipping, accumulation, constraint, mean or group is known to a method that searches along lines; "
        "leave it out");
    EXPECT_EQ(message<ValueError>([] { LBFGS({.history_size = 0}); }),
              "LBFGS: history_size is 0; it must be at least 1");
    EXPECT_EQ(message<ValueError>([] { ConjugateGradient({.lr = 0}); }),
              "ConjugateGradient: lr is 0; it must be above 0");
    EXPECT_EQ(message<ValueError>([] { line_search_named("wolf"); }),
              "there is no line search 'wolf'; known: strong_wolfe, armijo, exhaustive, none");
    ConjugateGradient method;
    auto nothing = [](std::vector<Tensor>&) { return NAN; };
    EXPECT_TRUE(std::isnan(ConjugateGradient().minimise(weight, [](std::vector<Tensor>& g) {
        g = {ones({2})};
        return NAN;
    })));
    EXPECT_EQ(weight[0].value().to_vector<double>(), (Vector{1, 1}));
    EXPECT_EQ(message<ValueError>([&] { method.minimise(weight, nothing); }),
              "ConjugateGradient: 1 parameters, but 0 gradients; there must be one for each");
}

}  // namespace
}  // namespace weft::optim
