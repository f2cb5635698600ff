#include "weft/autodiff/derivative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autodiff/numbers_of.h"
#include "message.h"
#include "must_fail.h"
#include "weft/autodiff/transform.h"
#include "weft/graph/parameter.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/scatter.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

template <class F>
Doubles slope(F f, const Tensor& at) {
    return values(grad(f)(at));
}

TEST(Gradient, indices_that_repeat_add_up) {
    Tensor places = Tensor::of<std::int64_t>({1, 1, 3, -1});
    EXPECT_EQ(slope(
                  [&](const Tensor& x) {
                      return sum(take(x, places) * row({1, 10, 100, 1000}));
                  },
                  row({5, 6, 7, 8})),
              (Doubles{0, 11, 0, 1100}));
}

TEST(Gradient, ties_of_max_share_evenly) {
    EXPECT_EQ(slope([](const Tensor& x) { return max(x); }, row({1, 3, 3, 2, 3, 3})),
              (Doubles{0, .25, .25, 0, .25, .25}));
    EXPECT_EQ(slope([](const Tensor& x) { return min(x); }, row({2, 1, 1})), (Doubles{0, .5, .5}));
}

TEST(Gradient, ties_of_maximum_give_half_to_each_side) {
    Tensor b = row({1, 2, 3});
    EXPECT_EQ(slope([&](const Tensor& a) { return sum(maximum(a, b)); }, row({1, 3, 2})), (Doubles{.5, 1, 0}));
    EXPECT_EQ(slope([&](const Tensor& a) { return sum(minimum(a, b)); }, row({1, 3, 2})), (Doubles{.5, 0, 1}));
}

TEST(Gradient, at_the_kinks_is_what_the_records_say) {
    EXPECT_EQ(slope([](const Tensor& x) { return sum(abs(x)); }, row({-2, 0, 2})), (Doubles{-1, 0, 1}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(relu(x)); }, row({-2, 0, 2})), (Doubles{0, 0, 1}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(sqrt(x)); }, row({0, 4})),
              (Doubles{std::numeric_limits<double>::infinity(), .25}));
}

TEST(Gradient, the_side_of_where_that_was_not_taken_adds_nothing) {
    Tensor x = row({-1, 0, 4});
    EXPECT_EQ(slope([](const Tensor& x) { return sum(where(x > 0, sqrt(x), 0)); }, x), (Doubles{0, 0, .25}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(where(x > 0, log(x), x)); }, x), (Doubles{1, 1, .25}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(where(x > 0, 1 / x, 0)); }, x), (Doubles{0, 0, -1.0 / 16}));
    EXPECT_EQ(values(jvp([](const Tensor& x) { return where(x > 0, sqrt(x), 0); }, x, ones_like(x)).second),
              (Doubles{0, 0, .25}));
}

TEST(Gradient, of_products_is_right_where_factors_are_zero) {
    EXPECT_EQ(slope([](const Tensor& x) { return prod(x); }, row({2, 0, 3})), (Doubles{0, 6, 0}));
    EXPECT_EQ(slope([](const Tensor& x) { return prod(x); }, row({0, 0, 3})), (Doubles{0, 0, 0}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(cumulative_prod(x)); }, row({2, 0, 3})), (Doubles{1, 8, 0}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(pow(x, 2.0)); }, row({0, 3})), (Doubles{0, 6}));
}

TEST(Gradient, of_what_a_write_covers_is_zero) {
    EXPECT_EQ(slope(
                  [](const Tensor& x) {
                      return sum(x.at({1}).set(5) * row({1, 2, 3}));
                  },
                  row({1, 1, 1})),
              (Doubles{1, 0, 3}));
    EXPECT_EQ(slope(
                  [](const Tensor& v) {
                      return sum(zeros({3}, DType::float64).at({Tensor::of<std::int64_t>({1, 1, 2})}).set(v) *
                                 row({1, 2, 3}));
                  },
                  row({7, 8, 9})),
              (Doubles{0, 2, 3}));
    EXPECT_EQ(slope(
                  [](const Tensor& v) {
                      return sum(zeros({3}, DType::float64).at({Tensor::of<std::int64_t>({1, 1, 2})}).add(v) *
                                 row({1, 2, 3}));
                  },
                  row({7, 8, 9})),
              (Doubles{2, 2, 3}));
}

TEST(Gradient, of_an_operand_given_twice_counts_both) {
    EXPECT_EQ(slope([](const Tensor& x) { return sum(x * x); }, row({3})), (Doubles{6}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(lerp(x, x, x)); }, row({3})), (Doubles{1}));
    EXPECT_EQ(slope([](const Tensor& x) { return sum(fmax(x, x)); }, row({3})), (Doubles{1}));
    EXPECT_EQ(slope([](const Tensor& x) { return matmul(x, x); }, row({3, 1})), (Doubles{6, 2}));
    EXPECT_EQ(values(jvp([](const Tensor& x) { return lerp(x, x, x); }, row({3}), row({2})).second), (Doubles{2}));
}

TEST(Gradient, broadcast_operands_are_summed_back) {
    Tensor a = Tensor::of<double>({1, 2, 3, 4, 5, 6}, {2, 3}), b = row({1, 2, 3});
    EXPECT_EQ(slope([&](const Tensor& b) { return sum(a * b); }, b), (Doubles{5, 7, 9}));
    EXPECT_EQ(slope([&](const Tensor& s) { return sum(a * s); }, Tensor(2.0, DType::float64)), (Doubles{21}));
}

TEST(Gradient, keeps_the_dtype_of_what_it_is_taken_with_respect_to) {
    Tensor half = Tensor::of<float>({1, 2}).astype(DType::float16), x = Tensor::of<float>({3, 4});
    Tensor loss = sum(half * x).astype(DType::float64);
    std::vector<Tensor> g = gradient(loss, {half, x});
    EXPECT_EQ(g[0].dtype(), DType::float16);
    EXPECT_EQ(g[1].dtype(), DType::float32);
    EXPECT_EQ(g[1].to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Gradient, of_half_types_is_rounded_where_it_is_multiplied_not_before) {
    Tensor x = Tensor::of<double>({0.003}).astype(DType::float16);  // 1 / x^2 is beyond what a float16 holds
    Tensor found = grad([](const Tensor& y) { return sum(1 / y * 1e-3); })(x);
    EXPECT_NEAR(found.astype(DType::float64).item<double>(), -111.1, 0.2);
}

TEST(Gradient, of_half_types_is_taken_of_the_float32_numbers_that_they_hold) {
    using Function = Tensor (*)(const Tensor&);
    const Function functions[] = {[](const Tensor& x) { return mean(x); },
                                  [](const Tensor& x) { return sum(x / 3); },
                                  [](const Tensor& x) { return sum(1 / x - x); },
                                  [](const Tensor& x) { return sum(tanh(x) * gelu(x)); },
                                  [](const Tensor& x) { return sum(where(x > 1, x, lerp(x, x * x, x))); },
                                  [](const Tensor& x) { return sum(square(softmax(x, 0))); },
                                  [](const Tensor& x) { return var(x); }};
    for (DType dtype : {DType::float16, DType::bfloat16}) {
        Tensor x = Tensor::of<double>({0.5, 1.25, -2, 3}).astype(dtype);
        for (Function f : functions) {
            Tensor found = grad(f)(x), tangent = jvp(f, x, ones_like(x)).second;
            EXPECT_EQ(found.dtype(), dtype);
            Doubles expected = slope(f, x.astype(DType::float64)), of = values(found.astype(DType::float64));
            double sum = 0;
            for (std::size_t i = 0; i < of.size(); ++i) {
                EXPECT_NEAR(of[i], expected[i], 0.03);
                sum += expected[i];
            }
            EXPECT_NEAR(tangent.astype(DType::float64).item<double>(), sum, 0.06);
        }
    }
}

TEST(Gradient, of_a_gradient_is_the_second_derivative) {
    auto cube = [](const Tensor& x) { return sum(x * x * x); };
    auto first = [&](const Tensor& x) { return sum(grad(cube)(x)); };
    auto second = [&](const Tensor& x) { return sum(grad(first)(x)); };
    EXPECT_EQ(slope(cube, row({2, 3})), (Doubles{12, 27}));
    EXPECT_EQ(slope(first, row({2, 3})), (Doubles{12, 18}));
    EXPECT_EQ(slope(second, row({2, 3})), (Doubles{6, 6}));
}

TEST(Gradient, nests_over_different_variables) {
    // d/dx (x * d/dy (x * y)) = d/dx (x * x) = 2 x: the inner derivative must not take the outer variable for its own (Siskind & Pearlmutter, 2005).
    auto outer = [](const Tensor& x) {
        return sum(x * grad([&](const Tensor& y) { return sum(x * y); })(ones_like(x)));
    };
    EXPECT_EQ(slope(outer, row({5})), (Doubles{10}));
    auto forward = [](const Tensor& x) {
        return x * jvp([&](const Tensor& y) { return x + y; }, ones_like(x), ones_like(x)).second;
    };
    EXPECT_EQ(values(jvp(forward, row({5}), row({1})).second), (Doubles{1}));
}

TEST(Gradient, through_an_intermediate_counts_for_what_lies_below_it) {
    Tensor x = row({2}), h = x * x, loss = sum(h * h + x);
    std::vector<Tensor> g = gradient(loss, {x, h});
    EXPECT_EQ(values(g[0]), (Doubles{33}));
    EXPECT_EQ(values(g[1]), (Doubles{8}));
}

TEST(Gradient, of_what_the_loss_does_not_use_is_zero) {
    Tensor x = row({2}), y = row({3, 4});
    std::vector<Tensor> g = gradient(sum(x), {y, x});
    EXPECT_EQ(values(g[0]), (Doubles{0, 0}));
    EXPECT_EQ(values(g[1]), (Doubles{1}));
    EXPECT_EQ(values(gradient(sum(stop_gradient(y)), y)), (Doubles{0, 0}));
    Tensor loss = sum(y);
    EXPECT_EQ(gradient(loss, loss).item<double>(), 1);
}

TEST(Gradient, stops_where_it_is_told) {
    EXPECT_EQ(slope([](const Tensor& x) { return sum(stop_gradient(x) * x); }, row({3})), (Doubles{3}));
}

TEST(Gradient, goes_through_parameters) {
    Parameter w(row({1, 2}), "w");
    Tensor at = w.value();
    EXPECT_EQ(values(gradient(sum(square(Tensor(w)) * 3), at)), (Doubles{6, 12}));
}

TEST(Gradient, argnum_chooses_the_argument) {
    auto f = [](const Tensor& x, const Tensor& y) { return sum(x * y); };
    EXPECT_EQ(values(grad(f, 0)(row({2}), row({3}))), (Doubles{3}));
    EXPECT_EQ(values(grad(f, 1)(row({2}), row({3}))), (Doubles{2}));
    auto [value, slope] = value_and_grad(f, 1)(row({2}), row({3}));
    EXPECT_EQ(value.item<double>(), 6);
    EXPECT_EQ(values(slope), (Doubles{2}));
}

TEST(Transform, vjp_pulls_any_number_of_cotangents) {
    auto [value, pull] = vjp([](const Tensor& x) { return square(x); }, row({1, 2, 3}));
    EXPECT_EQ(values(pull(row({1, 1, 1}))), (Doubles{2, 4, 6}));
    EXPECT_EQ(values(pull(row({1, 0, 10}))), (Doubles{2, 0, 60}));
    EXPECT_EQ(values(value), (Doubles{1, 4, 9}));
}

TEST(Transform, jvp_of_a_gradient_is_the_hessian_times_a_vector) {
    auto f = [](const Tensor& x) { return sum(x * x * x) / 6 + prod(x); };
    Tensor x = row({2, 3}), v = row({1, 10});
    Doubles product = values(jvp(grad(f), x, v).second);  // a sixth is rounded
    EXPECT_NEAR(product[0], 2 + 10, 1e-13);
    EXPECT_NEAR(product[1], 1 + 30, 1e-13);
}

TEST(Gradient, of_a_loss_that_was_computed_is_refused) {
    Tensor x = row({1, 2}), loss = sum(x * x);
    loss.eval();
    EXPECT_EQ(
        first_line<ValueError>([&] { gradient(loss, x); }),
        "gradient: a value on the way, sum float64 (), was computed before, and computed values let go of what they "
        "came from; take the derivative before asking for the value, or use grad or value_and_grad");
}

TEST(Gradient, past_a_computed_value_is_refused_rather_than_partly_zero) {
    Tensor w = row({2}), h = w * w;
    h.eval();
    EXPECT_THROW(gradient(sum(h * h) + sum(w), w), ValueError);  // 1 without h's share, 33 with it
    EXPECT_THROW(gradient(sum(h * h) + sum(w), {w, h}), ValueError);
    Tensor further = h + 1;
    further.eval();
    EXPECT_THROW(gradient(sum(further * w), w), ValueError);  // what h came from is handed on
    Tensor pending = 3 * w, below = exp(pending);
    below.eval();
    EXPECT_THROW(gradient(sum(below * pending), pending), ValueError);
}

TEST(Gradient, is_taken_where_the_computed_values_come_from_elsewhere) {
    Tensor w = row({2}), x = row({3}), scaled = x * 2;
    scaled.eval();
    EXPECT_EQ(values(gradient(sum(scaled * w), w)), (Doubles{6}));
    Tensor h = w * w;
    h.eval();
    EXPECT_EQ(values(gradient(sum(h * h), h)), (Doubles{8}));  // a computed value is a leaf like any other
    // Steps by hand: each new w comes from the one before, and the derivative ends at it.
    for (int i = 0; i < 50; ++i) {
        w = w - 0.25 * gradient(sum(w * w), w);
        w.eval();
    }
    EXPECT_LT(std::abs(values(w)[0]), 1e-12);
    EXPECT_EQ(w.node()->leaves().size(), 1u);  // of those that are gone nothing is kept
}

TEST(Transform, what_was_computed_from_the_argument_before_is_a_constant) {
    Tensor w = row({2}), target = w * 3;
    target.eval();
    EXPECT_EQ(slope([&](const Tensor& x) { return sum(target * x); }, w), (Doubles{6}));
}

TEST(Transform, vjp_pulls_back_after_its_value_was_asked_for) {
    auto [value, pull] = vjp([](const Tensor& x) { return x * x; }, row({3}));
    EXPECT_EQ(values(value), (Doubles{9}));
    value.eval();
    EXPECT_EQ(values(pull(row({1}))), (Doubles{6}));
}

TEST(Gradient, a_value_that_is_looked_at_inside_does_not_change_the_derivative) {
    auto f = [](const Tensor& x) {
        Tensor h = x * x;
        (void)h.item<double>();  // a print, while the function is being written
        return sum(h * h) + sum(x);
    };
    EXPECT_EQ(slope(f, row({2})), (Doubles{33}));
}

TEST(Gradient, refuses_what_has_none) {
    Tensor x = row({1, 2}), i = Tensor::of<std::int64_t>({1, 2});
    EXPECT_PLAIN_MESSAGE(ShapeError, "gradient: the loss must be one number (0-d), not shape (2,); sum or average it",
                         gradient(x * x, x));
    EXPECT_PLAIN_MESSAGE(DTypeError, "gradient: the loss must be floating, not int64", gradient(sum(i), x));
    EXPECT_PLAIN_MESSAGE(
        DTypeError,
        "gradient: there is no derivative with respect to a int64 tensor; convert it to a floating type first",
        gradient(sum(x * i), i));
    EXPECT_PLAIN_MESSAGE(ValueError, "grad: argnum 2 of a function of 1 arguments",
                         grad([](const Tensor& x) { return sum(x); }, 2)(x));
    EXPECT_PLAIN_MESSAGE(ShapeError, "pullback: value 0 is float64 (2,), its direction float64 (3,)",
                         vjp([](const Tensor& x) { return x * 2; }, x).second(row({1, 2, 3})));
}

TEST(Gradient, names_the_operation_and_the_line_that_has_no_derivative) {
    Tensor x = row({1, 2});
    int line = __LINE__ + 1;
    Tensor y = nextafter(x, 3.0);
    EXPECT_PLAIN_MESSAGE(
        NotDifferentiable,
        text("nextafter: its derivative does not exist, or is not known; hold it constant with stop_gradient\n  at ",
             __FILE__, ":", line),
        gradient(sum(y), x));
}

}  // namespace
}  // namespace weft
