// What the rules make of whole formulas: the acceptance checks of the compiler, on the rewritten graph and on values.
#include <gtest/gtest.h>

#include <cmath>

#include "growth.h"
#include "rewrite/forms.h"
#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/compile/plan.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

Tensor f64(double x) { return Tensor(x, DType::float64); }

// How many nodes of these operations are left.
int count(const Tensor& tensor, std::initializer_list<std::string_view> names) {
    std::vector<Tensor> now = rewritten({&tensor, 1});
    Node* nodes[] = {now[0].node()};
    int found = 0;
    for (const Graph::Entry& entry : gather(nodes).entries)
        for (std::string_view name : names) found += !entry.leaf && entry.node->operation->name == name;
    return found;
}
Tensor a_plus_tenth_power(const Tensor& a) { return a + pow(a, 10); }
double value(const Tensor& tensor) { return tensor.item<double>(); }

TEST(Check1, log_of_one_plus_x_is_log1p) {
    Tensor x = vec("x"), y = vec("y");
    EXPECT_EQ(form(log(1 + x)), "log1p(x)");
    EXPECT_EQ(form(log(x + 1)), "log1p(x)");
    EXPECT_EQ(form(log(1 - x)), "log1p(negative(x))");
    EXPECT_EQ(form(log(2 + x - full_like(y, 1))), "log1p(x)");
    EXPECT_EQ(form(log(1 + input("i", {"n"}, DType::int32))), "log1p(i)");
    EXPECT_EQ(value(log(1 + f64(1e-18))), 1e-18);
    Tensor leaf(Array::from<double>(std::vector<double>{1e-18}, {1}));
    EXPECT_EQ(log(1 + leaf).to_vector<double>()[0], 1e-18);
}

TEST(Check2, powers_become_squarings) {
    Tensor a = Tensor::of<double>({0, 1, 2});
    EXPECT_EQ((a + pow(a, 10)).to_vector<double>(), (std::vector<double>{0, 2, 1026}));
    Tensor x = vec("x");
    auto multiplications = [&](double k) { return count(pow(x, k), {"multiply", "square"}); };
    EXPECT_EQ(multiplications(10), 4);
    EXPECT_EQ(multiplications(15), 6);
    EXPECT_EQ(multiplications(16), 4);
    EXPECT_EQ(multiplications(-16), 4);
    EXPECT_EQ(count(pow(x, -16), {"divide", "reciprocal"}), 1);
    EXPECT_EQ(count(pow(x, 10), {"pow"}), 0);
}

TEST(Check3, log_of_one_plus_exp_neither_overflows_nor_vanishes_as_variable_and_as_constant) {
    EXPECT_EQ(form(log(1 + exp(vec("x")))), "softplus(x)");
    for (double at : {800.0, -740.0}) {
        Tensor leaf(Array::from<double>(std::vector<double>{at}, {1}));
        double expected = at > 0 ? 800 : std::log1p(std::exp(-740.0));
        EXPECT_EQ(log(1 + exp(leaf)).to_vector<double>()[0], expected);
        EXPECT_EQ(value(log(1 + exp(f64(at)))), expected);
    }
    EXPECT_EQ(form(log(1 + exp(f64(800)))), "800");
}

TEST(Check4, the_log_sigmoid_family_is_recognised_in_value_and_gradient) {
    Tensor x = vec("x");
    EXPECT_EQ(form(1 / (1 + exp(-x))), "sigmoid(x)");
    EXPECT_EQ(form(1 / (exp(-x) + 1)), "sigmoid(x)");
    EXPECT_EQ(form(exp(x) / (1 + exp(x))), "sigmoid(x)");
    EXPECT_EQ(form(1 - sigmoid(x)), "sigmoid(negative(x))");
    EXPECT_EQ(form(log(1 / (1 + exp(-x)))), "log_sigmoid(x)");
    EXPECT_EQ(form(log(sigmoid(x))), "log_sigmoid(x)");
    EXPECT_EQ(form(log(1 - sigmoid(x))), "log_sigmoid(negative(x))");
    EXPECT_EQ(form(log(1 - 1 / (1 + exp(-x)))), "log_sigmoid(negative(x))");
    EXPECT_EQ(form(-log(sigmoid(-x))), "softplus(x)");
    EXPECT_EQ(form(exp(x) * sigmoid(-x)), "sigmoid(x)");
    EXPECT_EQ(form(-exp(x) / ((1 + exp(x)) * (1 + exp(-x)))), "negative(square(sigmoid(x)))");
}

TEST(Check4, look_alikes_are_left_alone) {
    Tensor x = vec("x");
    EXPECT_EQ(count(1 / (2 + exp(-x)), {"sigmoid"}), 0);
    EXPECT_EQ(count(exp(x + 1) / (1 + exp(x)), {"exp"}) + count(exp(x + 1) / (1 + exp(x)), {"sigmoid"}), 2);
    EXPECT_EQ(count(log(2 + x), {"log1p"}), 0);
    EXPECT_EQ(count(exp(x) - 2, {"expm1"}), 0);
    EXPECT_EQ(count(log(1 + exp(x) + x), {"softplus"}), 0);
}

Tensor gelu_by_tanh(const Tensor& x) { return 0.5 * x * (1 + tanh(0.8 * (x + 0.04 * x * x * x))); }

TEST(Check4, tanh_beside_one_is_a_sigmoid_where_nothing_else_is_made_of_it) {
    Tensor x = vec("x");
    EXPECT_EQ(form(1 + tanh(x)), "multiply(2, sigmoid(multiply(2, x)))");
    EXPECT_EQ(form(1 - tanh(x)), "multiply(2, sigmoid(multiply(-2, x)))");
    EXPECT_EQ(form(0.5 * (tanh(3 * x) + 1)), "sigmoid(multiply(6, x))");
    EXPECT_EQ(count(gelu_by_tanh(x), {"tanh"}), 0);
    Tensor t = tanh(x);
    EXPECT_EQ(count(t * (1 + t), {"sigmoid"}), 0);
    EXPECT_EQ(count((1 + t) * (2 - t), {"sigmoid"}), 0);
    EXPECT_EQ(count((1 + t) * (2 - square(t)), {"sigmoid"}), 0);
    EXPECT_EQ(count(1 - square(t), {"sigmoid"}), 0);  // of a recurrence: tanh(x) is there
    EXPECT_EQ(count(1 + tanh(input("i", {"n"}, DType::uint8)), {"sigmoid"}), 0);
    Tensor outputs[] = {1 + t, t};
    EXPECT_EQ(written(*rewritten(outputs)[0].node(), 30), "add(1, tanh(x))");
}

// Whichever of them rewriting meets first, and whether it notes what it does (nodes are copies then).
TEST(Check4, tanh_beside_one_and_its_derivative_leave_no_tanh) {
    Tensor x = vec("x"), t = tanh(x + 0 * x);
    EXPECT_EQ(count((1 + t) * (1 - square(t)), {"tanh"}), 0);
    EXPECT_EQ(count((1 - square(t)) - (1 + t) * x, {"tanh"}), 0);
    for (const Tensor& loss :
         {sum(gelu_by_tanh(x)), sum(gelu_by_tanh(x * 1)), sum(square(gelu_by_tanh(gelu_by_tanh(x) * 1)))}) {
        Tensor slope = gradient(loss, x);
        Node* nodes[] = {slope.node()};
        Graph graph = gather(nodes);
        std::vector<Rewrite> trace;
        for (const Graph::Entry& entry : rewrite(graph, default_rewriting(), &trace).entries)
            EXPECT_TRUE(entry.leaf || entry.node->operation->name != "tanh");
        EXPECT_EQ(count(slope, {"tanh"}), 0);
    }
    for (double at : {-30.0, -5.0, -1e-9, 0.0, 0.3, 4.0, 30.0}) {
        Tensor leaf(Array::scalar(at)), y = gelu_by_tanh(leaf), g = gradient(y, leaf);
        double z = 0.8 * (at + 0.04 * at * at * at), s = 1 / (1 + std::exp(-2 * z));
        double rest = s / (1 + std::exp(2 * z)) * 2 * at * 0.8 * (1 + 0.12 * at * at);
        EXPECT_NEAR(value(y), at * s, 1e-14 * std::abs(at * s)) << at;
        EXPECT_NEAR(value(g), s + rest, 1e-14) << at;
    }
}

TEST(Check4, values_and_gradients_are_exact_far_into_both_tails) {
    for (double at : {-700.0, -40.0, -1.0, 0.0, 1.0, 40.0, 700.0}) {
        auto gradient_at = [&](auto f) {
            Tensor x(Array::scalar(at));
            Tensor y = f(x);
            Tensor g = gradient(y, x);
            return std::pair(value(y), value(g));
        };
        auto [log_sigmoid_value, slope] = gradient_at([](const Tensor& x) { return log(1 / (1 + exp(-x))); });
        double expected = at < 0 ? at - std::log1p(std::exp(at)) : -std::log1p(std::exp(-at));
        EXPECT_NEAR(log_sigmoid_value, expected, 1e-14 * std::abs(expected));
        double rest = 1 / (1 + std::exp(at));
        EXPECT_NEAR(slope, rest, 1e-13 * rest) << at;
        auto [sigmoid_value, bell] = gradient_at([](const Tensor& x) { return 1 / (1 + exp(-x)); });
        double sigmoid = at < 0 ? std::exp(at) / (1 + std::exp(at)) : 1 / (1 + std::exp(-at));
        EXPECT_NEAR(sigmoid_value, sigmoid, 1e-14 * sigmoid);
        EXPECT_NEAR(bell, sigmoid * rest, 1e-13 * sigmoid * rest) << at;
        auto [softplus_value, rise] = gradient_at([](const Tensor& x) { return log(1 + exp(x)); });
        double soft = at > 0 ? at + std::log1p(std::exp(-at)) : std::log1p(std::exp(at));
        EXPECT_NEAR(softplus_value, soft, 1e-14 * soft);
        EXPECT_NEAR(rise, sigmoid, 1e-13 * sigmoid) << at;
    }
}

TEST(Check5, naive_forms_keep_their_digits) {
    Tensor large = Tensor::of<double>({1000, 1001, 999}), x = vec("x");
    double shifted = 1001 + std::log(std::exp(-1.0) + 1 + std::exp(-2.0));
    EXPECT_NEAR(value(log(sum(exp(large)))), shifted, 1e-12);
    EXPECT_NEAR(value(log(exp(f64(1000)) + exp(f64(1001)))), 1001 + std::log1p(std::exp(-1.0)), 1e-12);
    Tensor logs = log(exp(large) / sum(exp(large), 0, true));
    EXPECT_NEAR(logs.to_vector<double>()[2], 999 - shifted, 1e-12);
    EXPECT_NEAR((exp(large) / sum(exp(large), 0, true)).to_vector<double>()[0],
                std::exp(-1.0) / (std::exp(-1.0) + 1 + std::exp(-2.0)), 1e-15);
    EXPECT_EQ(form(1 - erf(x)), "erfc(x)");
    EXPECT_EQ(form(1 + erf(x)), "erfc(negative(x))");
    EXPECT_NEAR(value(1 - erf(f64(10))), std::erfc(10.0), 1e-12 * std::erfc(10.0));
    // log(erfc(30)) = -900 - log(30 sqrt(pi)) - 1/1800 + ... (Abramowitz & Stegun 7.1.23)
    EXPECT_NEAR(value(log(erfc(Tensor(Array::scalar(30.0))))), -903.9741171106439, 1e-10);
    Tensor z(Array::scalar(30.0)), y = log(erfc(z));
    // The derivative is -2 z - 1/z + 1/z^3 - ...
    EXPECT_NEAR(value(gradient(y, z)), -60 - 1.0 / 30 + 1.0 / 27000, 1e-6);
    EXPECT_EQ(form(log(1 - exp(-x))), "log1mexp(negative(x))");
    EXPECT_NEAR(value(log(1 - exp(-Tensor(Array::scalar(1e-20))))), std::log(1e-20), 1e-12);
    EXPECT_EQ(form(exp(x) - 1), "expm1(x)");
}

TEST(Check6, cross_entropy_of_a_softmax_is_exact_for_arrays_and_constants) {
    Tensor scores = 13 * (Tensor::of<float>({0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 9}) + 1);
    scores.eval();
    Tensor naive = exp(scores) / sum(exp(scores), 1, true);
    for (const Tensor& p : {softmax(scores), naive}) {
        EXPECT_EQ((-log(p[{0, 0}])).item<float>(), 104.0f);
        Tensor rows = iota(1), labels = Tensor::of<std::int64_t>({0});
        Tensor both[] = {rows, labels};
        EXPECT_EQ((-log(take(p, both, 0))).to_vector<float>()[0], 104.0f);
        EXPECT_EQ((-sum(one_hot(labels, 9) * log(p))).item<float>(), 104.0f);
        EXPECT_EQ((-log(sum(where(iota(9) == expand_dims(labels, 1), p, 0), 1))).to_vector<float>()[0], 104.0f);
    }
}

TEST(Check6, its_gradient_is_softmax_less_one_hot_without_a_division_by_the_softmax) {
    Draw draw("check 6");
    Tensor x(draw.array(DType::float64, {4, 5})), labels = Tensor::of<std::int64_t>({2, 0, 4, 4});
    Tensor p = softmax(x);
    Tensor expected = (p - one_hot(labels, 5, DType::float64)) / 4;
    Array wanted = interpret(expected);
    Tensor pair[] = {iota(4), labels};
    Tensor here = iota(5) == expand_dims(labels, 1);
    std::pair<const char*, Tensor> losses[] = {
        {"take", -mean(log(take(p, pair, 0)))},
        {"one-hot", -sum(one_hot(labels, 5, DType::float64) * log(p)) / 4},
        {"where", -mean(log(sum(where(here, p, 0), 1)))},
    };
    for (auto& [name, loss] : losses) {
        Tensor g = gradient(loss, x);
        EXPECT_EQ(difference(wanted, g.array(), 1e-15, 1e-14), "") << name;
        EXPECT_LE(count(gradient(loss, x), {"divide"}), 2) << name << ": " << form(gradient(loss, x));
    }
}

TEST(Check7, the_gradient_of_a_cross_entropy_written_with_a_sigmoid_is_exact_in_both_tails) {
    Tensor z = Tensor::of<double>({-800, -40, -1, 0, 1, 40, 800}), t = Tensor::of<double>({1, 0, 1, 0, 1, 0, 0}),
           b = f64(0);
    for (const Tensor& p : {1 / (1 + exp(-z)), 1 / (1 + exp(-z - b)), sigmoid(z)}) {
        KeepPending keep;
        Tensor slope = gradient(sum(-t * log(p) - (1 - t) * log(1 - p)), z);
        EXPECT_EQ(count(slope, {"exp", "log"}), 0) << form(slope);
        std::vector<double> found = slope.to_vector<double>();
        const double expected[] = {-1,
                                   std::exp(-40.0) / (1 + std::exp(-40.0)),  // sigmoid(z) - t
                                   -1 / (1 + std::exp(-1.0)),
                                   0.5,
                                   -1 / (1 + std::exp(1.0)),
                                   1 / (1 + std::exp(-40.0)),
                                   1};
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], 1e-15 * std::abs(expected[i]) * 4);
    }
}

TEST(Check9, a_sum_over_nothing_is_zero_whatever_it_would_be_multiplied_by) {
    Tensor x(Array::zeros(DType::float64, {0, 3})), c = mean(x, 0);  // NaN
    EXPECT_EQ(sum(x * c, 0).to_vector<double>(), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(sum(x / c, 0).to_vector<double>(), (std::vector<double>{0, 0, 0}));
}

TEST(Check9, the_canonical_form_of_products_and_sums) {
    Tensor x = vec("x"), y = vec("y"), z = vec("z"), a = vec("a"), b = vec("b"), c = vec("c"), d = vec("d");
    EXPECT_EQ(form(x / x), "1");
    EXPECT_EQ(form((x * y) / x), "y");
    EXPECT_EQ(form(x / y / z), "divide(x, multiply(y, z))");
    EXPECT_EQ(form((2 * x) / (4 * y)), "multiply(0.5, divide(x, y))");
    EXPECT_EQ(form((-x) / y / (-2 * z)), "multiply(0.5, divide(x, multiply(y, z)))");
    EXPECT_EQ(form((a / z + b / x) * x * z), "add(multiply(a, x), multiply(b, z))");
    EXPECT_EQ(form((a / x + b) * x), "add(a, multiply(b, x))");
    EXPECT_EQ(form((a + b) * x), "multiply(add(a, b), x)");
    EXPECT_EQ(form(x * y / x), "y");
    EXPECT_EQ(form(x / y / x), "divide(1, y)");
    EXPECT_EQ(form((a / b) * (b / c) * (c / d)), "divide(a, d)");
    EXPECT_EQ(form(a + b - (c - d) - b), "subtract(add(a, d), c)");
    EXPECT_EQ(form(x * (f64(2) * f64(3))), "multiply(6, x)");
}

TEST(Check9, numbers_of_a_row_meet_before_they_meet_its_elements) {
    Tensor x = input("x", {3, 4}, DType::float64), y = input("y", {3, 4}, DType::float64);
    Tensor r = input("r", {3, 1}, DType::float64), s = input("s", {3, 1}, DType::float64);
    Tensor n = input("n", {}, DType::float64);
    EXPECT_EQ(form(x * r / s / n), "multiply(divide(r, multiply(n, s)), x)");
    EXPECT_EQ(form(x * n / s / r), "multiply(divide(n, multiply(s, r)), x)");
    EXPECT_EQ(form(x / s), "divide(x, s)") << "nothing else is one number for each row";
    EXPECT_EQ(form(gated_multiply(r, x / s) / n / s),
              "gated_multiply(gated_multiply(r, divide(1, multiply(n, square(s)))), x)");
    EXPECT_EQ(form(gated_multiply(y, x / s) / n / s), "gated_multiply(y, divide(x, multiply(n, square(s))))");
}

TEST(Check9, a_sum_of_negatives_uses_the_sum_or_difference_that_is_there) {
    Tensor x = input("x", {3, 4}, DType::float64), y = input("y", {3, 4}, DType::float64);
    EXPECT_EQ(form(sum(-x, 1)), "negative(sum(x, reduction=sum, axes=(1,), keepdims=False))");
    Tensor difference = x - y;
    EXPECT_EQ(form(difference - sum(-difference, 1, true)),
              "add(subtract(x, y), sum(subtract(x, y), reduction=sum, axes=(1,), keepdims=True))");
    EXPECT_EQ(count(difference * sum(-difference, 1, true), {"subtract"}), 1);
}

TEST(Check10, what_is_written_twice_is_one_node) {
    Tensor x = vec("x"), y = vec("y");
    Tensor both[] = {(x + y) * 2, (x + y) * 3};
    std::vector<Tensor> now = rewritten(both);
    EXPECT_EQ(now[0].node()->operation->name, "multiply");
    Node* nodes[] = {now[0].node(), now[1].node()};
    int adds = 0;
    for (const Graph::Entry& entry : gather(nodes).entries) adds += !entry.leaf && entry.node->operation->name == "add";
    EXPECT_EQ(adds, 1);
}

std::size_t steps_of(std::initializer_list<Tensor> wanted) {
    std::vector<Tensor> now = rewritten({wanted.begin(), wanted.size()});
    std::vector<Node*> nodes;
    for (const Tensor& t : now) nodes.push_back(t.node());
    return make_plan(gather(nodes)).steps.size();
}

TEST(Check12, formulas_stay_one_kernel_after_rewriting) {
    Tensor x = vec("x"), y = vec("y"), z = vec("z"), s = input("s", {}, DType::float64);
    EXPECT_EQ(steps_of({sin(exp(x)), exp(sin(x))}), 1u);
    EXPECT_EQ(steps_of({log((x + y + z) / (x * y * z))}), 1u);
    EXPECT_EQ(steps_of({a_plus_tenth_power(x)}), 1u);
    EXPECT_EQ(count(x * sin(s), {"sin"}), 1);
    Tensor loss = sum(-square(x - y) / 2);
    EXPECT_LE(steps_of({loss, gradient(loss, x)}), 2u);
    Tensor factors = x;
    for (int i = 0; i < 85; ++i) factors = factors * (1 + square(x - 0.1 * i));
    EXPECT_LE(steps_of({log(factors)}), 2u);
}

TEST(Check12, each_operation_of_a_diamond_is_computed_once) {
    Tensor x = vec("x"), y = exp(x);
    Tensor both = sin(y) + log(y + 2) * y;
    EXPECT_EQ(count(both, {"exp"}), 1);
    EXPECT_EQ(steps_of({both}), 1u);
}

// Kernels that would wait for each other if a value were fused with all that reads it: out of a group through a sum and back into it.
TEST(Check12, no_two_kernels_wait_for_each_other) {
    Tensor x(Draw("x").array(DType::float64, {40})), y(Draw("y").array(DType::float64, {40}));
    Tensor a = exp(x), b = a / sum(a), c = sin(y) * sum(b * y), d = cos(y) + max(c), e = a * d + c * b;
    std::vector<Tensor> wanted{a, b, c, d, e, cumulative_sum(a) * a + cumulative_sum(e) * e};
    std::vector<Array> expected = interpret(std::span<const Tensor>(wanted));
    eval(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(difference(expected[i], wanted[i].array(), 1e-14, 1e-13), "") << i;
}

TEST(Check12, a_chain_of_ten_thousand_operations_is_compiled_within_a_second) {
    Tensor x(Draw("x").array(DType::float64, {10}));
    KeepPending keep;
    Tensor h = x;
    for (int i = 0; i < 5000; ++i) h = sin(h) * (0.5 + i % 7) + x;
    Tensor value = h + 0;
    EXPECT_LT(seconds_of([&] { value.eval(); }), 1);
    EXPECT_EQ(difference(interpret(h), value.array()), "");
}

TEST(Check14, an_embeddings_update_makes_no_dense_gradient) {
    Tensor w(Draw("w").array(DType::float64, {50, 3})), i = Tensor::of<std::int64_t>({3, 7, 3}),
                                                        j = Tensor::of<std::int64_t>({0, 3, 49});
    Tensor loss = sum(tanh(take(w, i)) + take(w, j) * 2 + w[slice(1, 2)]);
    Tensor updated = w - 0.1 * gradient(loss, w);
    Array expected = interpret(updated);
    EXPECT_EQ(count(updated, {"scatter"}), 3);
    Tensor now = rewritten({&updated, 1})[0];
    Node* nodes[] = {now.node()};
    for (const Graph::Entry& entry : gather(nodes).entries) {
        bool dense = !entry.leaf && entry.node->shape == w.shape() && entry.node->operation->name != "scatter";
        EXPECT_FALSE(dense) << written(*entry.node);
    }
    EXPECT_EQ(difference(expected, updated.array(), 1e-15, 1e-14), "");
}

TEST(Check11, slices_compute_only_what_they_show) {
    Tensor x = input("x", {6, 4}), a = input("a", {3, 4}), b = input("b", {4, 5});
    EXPECT_EQ(form(exp(x)[0]), "exp(reshape(slice(x, start=(0, 0), length=(1, 4), step=(1, 1)), shape=(4,)))");
    Tensor element = rewritten(std::vector<Tensor>{matmul(a, b)[{1, 2}]})[0];
    EXPECT_NE(form(matmul(a, b)[{1, 2}]).find("matmul(slice(a, start=(1, 0), length=(1, 4)"), std::string::npos)
        << form(matmul(a, b)[{1, 2}]);
    EXPECT_EQ(form(x[slice(2, std::nullopt)][3]), form(x[5]));
    EXPECT_EQ(form(stack({a, a + 1, a + 2})[1]), form(a + 1));
    EXPECT_EQ(form(x.T().T()), "x");
    EXPECT_EQ(form((x + x.T().T()).T().T()), form(x + x));
    EXPECT_EQ(form(zeros_like(exp(x)) + x), "x");
}

// What the gradients of an array's parts are added up to.
TEST(Pieces, are_laid_one_behind_the_other_where_they_do_not_meet) {
    Tensor x = input("x", {2, 3}, DType::float64), y = input("y", {2, 3}, DType::float64);
    EXPECT_EQ(count(pad(x, {0, 0}, {0, 3}) + pad(y, {0, 3}, {0, 0}), {"add", "pad"}), 0);
    EXPECT_EQ(count(pad(x, {0, 0}, {0, 2}) + pad(y, {0, 2}, {0, 0}), {"add"}), 1);    // they share a column
    EXPECT_EQ(count(pad(x, {0, 0}, {2, 0}) + pad(y, {2, 0}, {0, 0}), {"add"}), 0);    // rows
    EXPECT_EQ(count(pad(x, {0, 0}, {2, 3}) + pad(y, {2, 3}, {0, 0}), {"add"}), 1);    // along both axes
    EXPECT_EQ(count(pad(x, {0, 0}, {0, 97}) + pad(y, {0, 97}, {0, 0}), {"add"}), 1);  // mostly zeros
    Tensor a = Tensor::of<double>({1, 2, 3, 4, 5, 6}, {2, 3}), b = a * 10;
    Tensor sums[] = {pad(a, {0, 0}, {0, 2}) + pad(b, {0, 2}, {0, 0}), pad(a, {0, 1}, {0, 4}) + pad(b, {0, 5}, {0, 0}),
                     pad(b, {0, 4}, {0, 1}) + pad(a, {0, 0}, {0, 5}) + pad(b, {0, 2}, {0, 3})};
    for (const Tensor& sum : sums) EXPECT_EQ(difference(interpret(sum), sum.array(), 0, 0), "");
}

}  // namespace
}  // namespace weft
