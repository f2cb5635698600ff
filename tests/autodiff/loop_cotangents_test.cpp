// What is carried from step to step of a loop's derivative: numbers below the least normal one are 0 there.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autodiff/numbers_of.h"
#include "effort.h"
#include "unrolled.h"
#include "weft/autodiff/loop.h"
#include "weft/autodiff/transform.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

Doubles doubles(const Tensor& x) { return numbers(astype(x, DType::float64)); }

/// The gradient in h of the sum of what `step` makes of h, so many times.
Tensor slope_of(const std::function<Tensor(const Tensor&)>& step, const Tensor& h, std::int64_t steps) {
    auto last = [&](const Tensor& h) {
        auto next = [&](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep { return {{step(c[0])}, {}}; };
        return sum(scan(next, {h}, {}, {.length = steps}).carry[0]);
    };
    return grad(last)(h);
}

struct Vanishing {
    DType dtype;
    std::int64_t steps;  // more than it takes 0.7^n to become denormal
};
class Cotangents : public testing::TestWithParam<Vanishing> {};
INSTANTIATE_TEST_SUITE_P(Loop, Cotangents,
                         testing::Values(Vanishing{DType::float32, 400}, Vanishing{DType::float64, 2500},
                                         Vanishing{DType::bfloat16, 400}));

// 0.7 of the least denormal number is that number: it would stay for all steps that are left.
TEST_P(Cotangents, that_vanish_become_0) {
    DType dtype = GetParam().dtype;
    const auto many = static_cast<std::int64_t>(cases(1000));
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{many}}) {
        Tensor h = zeros(shape, dtype);
        auto step = [](const Tensor& h) { return sin(h) * 0.7; };
        for (const Tensor& found :
             {slope_of(step, h, GetParam().steps), Tensor(interpret(slope_of(step, h, GetParam().steps)))})
            for (double x : doubles(found)) ASSERT_EQ(x, 0);
        double few = doubles(slope_of(step, h, 20))[0];
        EXPECT_NEAR(few, std::pow(0.7, 20), dtype == DType::bfloat16 ? 1e-4 : 1e-9);
    }
    if (dtype == DType::bfloat16) return;
    for (std::int64_t n : {2, 30}) {
        Tensor w = eye(n, n, 0, dtype) * 0.7, h = ones({n, n}, dtype);
        auto step = [&](const Tensor& h) { return matmul(w, h); };
        for (double x : doubles(slope_of(step, h, GetParam().steps))) ASSERT_EQ(x, 0);
    }
}

TEST(Loop, cotangents_keep_what_is_no_number) {
    constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (double factor : {infinite, -infinite, nan}) {
        Tensor scale(factor, DType::float32);
        Tensor found = slope_of([&](const Tensor& h) { return h * scale; }, ones({2}, DType::float32), 3);
        for (double x : doubles(found)) EXPECT_TRUE(std::isnan(factor) ? std::isnan(x) : std::isinf(x)) << x;
    }
}

// Its denormal numbers are in use, and computed as float32.
TEST(Loop, cotangents_of_float16_keep_denormal_numbers) {
    Tensor found = slope_of([](const Tensor& h) { return h * 0.5; }, ones({2}, DType::float16), 20);
    for (double x : doubles(found)) EXPECT_EQ(x, std::ldexp(1.0, -20));
}

// What is only added to stays as large as it was.
TEST(Loop, cotangents_that_are_summed_keep_denormal_numbers) {
    double tiny = std::ldexp(1.0, -140);
    Tensor found = grad([&](const Tensor& h) {
        auto next = [&](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep { return {{c[0] + 1.f}, {}}; };
        return sum(scan(next, {h}, {}, {.length = 100}).carry[0] * Tensor(tiny, DType::float32));
    })(ones({2}, DType::float32));
    for (double x : doubles(found)) EXPECT_EQ(x, tiny);
}

// The cotangent is 0, but changes as the state does.
TEST(Loop, second_derivatives_pass_cotangents_that_are_0) {
    constexpr std::int64_t steps = 70;
    auto loss = [](const Tensor& h) {
        auto next = [](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep { return {{sin(c[0])}, {}}; };
        Tensor last = scan(next, {h}, {}, {.length = steps}).carry[0];
        return sum(last * last);
    };
    Tensor h = zeros({3}, DType::float64);
    auto slope = [&](const Tensor& h) { return sum(grad(loss)(h)); };
    for (double x : doubles(grad(slope)(h))) EXPECT_EQ(x, 2);
    KeepPending keep;
    Tensor at = fresh(h);
    Tensors moved = pushforward(Tensors{grad(loss)(at)}, Tensors{at}, Tensors{ones({3}, DType::float64)});
    for (double x : doubles(moved[0])) EXPECT_EQ(x, 2);
}

/// The operations of the steps of all loops below.
std::vector<const Operation*> operations_of_steps(const Tensor& top) {
    std::vector<const Operation*> found;
    std::vector<const Node*> stack{top.node()};
    while (!stack.empty()) {
        const Node& node = *stack.back();
        stack.pop_back();
        stack.insert(stack.end(), node.inputs.begin(), node.inputs.end());
        if (node.operation != &loop_operation) continue;
        for (const Tensor& x : node.attributes_as<LoopAttributes>().step->nodes) found.push_back(x.node()->operation);
    }
    return found;
}

// Products of its pieces are products after the loop, and what is carried of others is no larger than they are.
TEST(Loop, cotangents_of_pieces_of_what_is_the_same_in_each_step_are_laid_together_after_it) {
    Tensors given{Tensor(random::normal({7}, 0, 1, random::key(1), DType::float64)),
                  Tensor(random::normal({3, 6}, 0, 1, random::key(2), DType::float64))};
    for (Tensor& x : given) x.eval();
    auto step = [](const Tensor& h, const Tensor& p, const Tensor& w) {
        auto piece = [](const Tensor& x, std::int64_t axis, std::int64_t first, std::int64_t count) {
            Shape start(x.ndim(), 0), length = x.shape();
            start[static_cast<std::size_t>(axis)] = first, length[static_cast<std::size_t>(axis)] = count;
            return slice(x, start, length);
        };
        Tensor number = reshape(piece(p, 0, 2, 1), {}), row = piece(p, 0, 4, 3);
        Tensor a = tanh(matmul(h, piece(w, 1, 0, 3)) * number + row);
        return a + sin(matmul(h, piece(w, 1, 3, 3))) * number;
    };
    auto slopes = [&](bool loop) {
        KeepPending keep;
        Tensors at{fresh(given[0]), fresh(given[1])};
        StepFunction next = [&](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep {
            return {{step(c[0], at[0], at[1])}, {}};
        };
        Tensors init{zeros({2, 3}, DType::float64)};
        Scanned found = loop ? scan(next, init, {}, {.length = 70}) : unrolled(next, init, {}, {.length = 70});
        return gradient(sum(found.carry[0] * found.carry[0]), at);
    };
    Tensors found = slopes(true), expected = slopes(false);
    for (const Tensor& slope : found)
        for (const Operation* operation : operations_of_steps(slope)) EXPECT_NE(operation, &pad_operation);
    for (std::size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i], 1e-8);
}

}  // namespace
}  // namespace weft
