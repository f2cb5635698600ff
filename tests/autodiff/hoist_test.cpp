// What a loop's step need not do step by step: which products leave it, before the loop or behind it, and that the loop is what it was.
#include "weft/autodiff/hoist.h"

#include <gtest/gtest.h>

#include "autodiff/numbers_of.h"
#include "unrolled.h"
#include "weft/autodiff/transform.h"
#include "weft/autodiff/vmap.h"
#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

Tensor some_numbers(const Shape& shape, std::int64_t seed, DType dtype = DType::float64) {
    return random::normal(shape, 0, 0.5, random::key(seed), dtype);
}

std::size_t products_in_step(const Scanned& found) {
    const Node& loop = *found.carry[0].node()->inputs[0];
    const Region& step = *loop.attributes_as<LoopAttributes>().step;
    return static_cast<std::size_t>(std::count_if(step.nodes.begin(), step.nodes.end(), [](const Tensor& x) {
        return x.node()->operation == &matmul_operation;
    }));
}

/// A step of w (n x n), u (n x n), carry (rows x n or n), x (the same), and how many products stay in it.
struct HoistCase {
    const char* name;
    std::function<ScanStep(const Tensors& w, const Tensor& h, const Tensor& x)> step;
    std::size_t stay;
    Shape state = {6};
};
void PrintTo(const HoistCase& c, std::ostream* out) { *out << c.name; }

std::vector<HoistCase> hoist_cases() {
    auto last = [](const Tensor& next) { return ScanStep{{next}, {}}; };
    auto both = [](const Tensor& next, const Tensor& y) { return ScanStep{{next}, {y}}; };
    using T = const Tensor&;
    using W = const Tensors&;
    return {
        {"columns", [=](W w, T h, T x) { return last(tanh(matmul(w[0], h) + matmul(w[1], x))); }, 1},
        {"rows", [=](W w, T h, T x) { return last(tanh(matmul(h, w[0]) + matmul(x, w[1]))); }, 1},
        {"matrices", [=](W w, T h, T x) { return last(tanh(matmul(h, w[0]) + matmul(x, w[1]))); }, 1, {3, 6}},
        {"many rows stay", [=](W w, T h, T x) { return last(tanh(matmul(h, w[0]) + matmul(x, w[1]))); }, 2, {8, 6}},
        {"matrices from the right stay", [=](W w, T h, T x) { return last(matmul(w[1], x) * h); }, 1, {6, 2}},
        {"of what is made of slices", [=](W w, T h, T x) { return last(h * 0.5 + matmul(w[1], tanh(x) * 2)); }, 0},
        {"products of products", [=](W w, T h, T x) { return last(h * 0.5 + matmul(w[0], tanh(matmul(w[1], x) + 1))); },
         0},
        {"two", [=](W w, T h, T x) { return last(h * matmul(w[0], x) + matmul(w[1], x * x)); }, 0},
        {"two, added up", [=](W w, T h, T x) { return last(h * 0.5 + (matmul(w[0], x) + matmul(w[1], x * x))); }, 0},
        {"read in pieces",
         [=](W w, T h, T x) {
             Tensor g = matmul(w[1], x);
             return last(h * slice(g, {0}, {6}) + concatenate({slice(g, {3}, {3}), slice(g, {0}, {3})}, 0));
         },
         0},
        {"repeated", [=](W w, T h, T x) { return last(h + sum(expand_dims(matmul(w[1], x), 1) * w[0], Axes{0})); }, 0},
        {"that wait stay", [=](W w, T h, T x) { return last(tanh(matmul(w[0], h + x))); }, 1},
        {"of a running sum stay", [=](W w, T h, T x) { return last(h * 0.5 + matmul(w[1], cumulative_sum(x, 0))); }, 1},
        {"larger than they pay stay",
         [=](W w, T h, T x) {
             return last(h * 0.5 + sum(matmul(x, tile(w[1], {1, 71}))));
         },
         1},
        {"collected alone", [=](W w, T h, T x) { return both(tanh(matmul(w[0], h) + x), matmul(w[1], h)); }, 1},
        {"collected, of the next state",
         [=](W w, T h, T x) {
             Tensor next = tanh(matmul(w[0], h) + x);
             return both(next, exp(matmul(w[1], next)) / sum(exp(matmul(w[1], next))));
         },
         1},
        {"collected, of slices", [=](W w, T h, T x) { return both(h * x, matmul(w[1], x) + h); }, 0},
        {"collected, of what waits",
         [=](W w, T h, T x) {
             Tensor a = matmul(w[0], h), next = tanh(a + x);
             return both(next, matmul(w[1], a) * h);
         },
         1},
        {"collected and carried on stay",
         [=](W w, T h, T x) {
             Tensor next = tanh(matmul(w[0], h) + x);
             return both(next, next * 2);
         },
         1},
        {"collected, larger than the state, stay",
         [=](W w, T h, T x) {
             return both(tanh(h + x), sum(matmul(h, tile(w[1], {1, 5}))));
         },
         1},
        {"collected beside what is not of all steps at once, stay",
         [=](W w, T h, T x) { return both(tanh(h + x), cumulative_sum(matmul(w[1], h), 0)); }, 1},
    };
}

class Hoist : public testing::TestWithParam<HoistCase> {
  protected:
    StepFunction step(const Tensors& w) const {
        return
            [w, f = GetParam().step](std::span<const Tensor> c, std::span<const Tensor> x) { return f(w, c[0], x[0]); };
    }
    Shape all() const {
        Shape shape = GetParam().state;
        shape.insert(0, 5);
        return shape;
    }
};

Tensor loss_of_all(const Scanned& found) {
    Tensor loss = sum(found.carry[0] * found.carry[0]);
    for (const Tensor& y : found.ys) loss = loss + sum(y * y * y);
    return loss;
}

TEST_P(Hoist, takes_out_what_waits_for_nothing) {
    Tensors w{some_numbers({6, 6}, 1), some_numbers({6, 6}, 2)};
    Scanned found = scan(step(w), {some_numbers(GetParam().state, 3)}, {some_numbers(all(), 4)});
    EXPECT_EQ(products_in_step(found), GetParam().stay);
}

TEST_P(Hoist, leaves_values_and_derivatives) {
    for (bool reverse : {false, true}) {
        KeepPending keep;
        Tensors w{fresh(some_numbers({6, 6}, 1)), fresh(some_numbers({6, 6}, 2))},
            init{fresh(some_numbers(GetParam().state, 3))}, xs{fresh(some_numbers(all(), 4))};
        LoopOptions options;
        options.reverse = reverse;
        Scanned found = scan(step(w), init, xs, options), expected = unrolled(step(w), init, xs, options);
        expect_near(found.carry[0], expected.carry[0]);
        for (std::size_t i = 0; i < found.ys.size(); ++i) expect_near(found.ys[i], expected.ys[i]);
        for (const Tensor& x : {w[0], w[1], init[0], xs[0]}) {
            Tensor first = gradient(loss_of_all(found), x), wanted = gradient(loss_of_all(expected), x);
            expect_near(first, wanted, 1e-8);
            expect_near(gradient(sum(first * first), w[1]), gradient(sum(wanted * wanted), w[1]), 1e-7);
        }
    }
}

TEST_P(Hoist, maps_over_examples) {
    KeepPending keep;
    Shape many = all();
    many.insert(0, 3);
    Tensors arguments{some_numbers({3, 6, 6}, 1), some_numbers({6, 6}, 2), some_numbers(many, 4)};
    Vmap map(arguments, std::vector<ExampleAxis>{0, {}, 0});
    auto result = [&](bool loop) {
        const Tensors& x = map.examples();
        Tensors w{x[0], x[1]}, init{some_numbers(GetParam().state, 3)}, xs{x[2]};
        Scanned found = loop ? scan(step(w), init, xs) : unrolled(step(w), init, xs);
        Tensors both{found.carry[0], loss_of_all(found)};
        return both;
    };
    std::vector<ExampleAxis> front(2, 0);
    Tensors found = map.results(result(true), front), expected = map.results(result(false), front);
    for (std::size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i], 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Steps, Hoist, testing::ValuesIn(hoist_cases()));

// Never computed: a hundred million steps keep what a few may.
TEST(Hoist, keeps_little_of_many_steps) {
    Tensors w{some_numbers({6, 6}, 1), some_numbers({6, 36}, 2)};
    auto products = [&](std::int64_t steps, auto step) {
        Tensor xs = broadcast_to(some_numbers({6}, 4), {steps, 6});
        return products_in_step(scan(step, {some_numbers({6}, 3)}, {xs}));
    };
    using Span = std::span<const Tensor>;
    auto widened = [&](Span c, Span x) -> ScanStep { return {{c[0] * sum(matmul(x[0], w[1]))}, {}}; };
    auto summed = [&](Span c, Span x) -> ScanStep { return {{c[0] * x[0]}, {sum(square(matmul(w[0], c[0])))}}; };
    auto as_large = [&](Span c, Span x) -> ScanStep {
        return {{c[0] * x[0] + matmul(w[0], x[0])}, {matmul(w[0], c[0])}};
    };
    EXPECT_EQ(products(1000, widened), 0u);
    EXPECT_EQ(products(100'000'000, widened), 1u);
    EXPECT_EQ(products(1000, summed), 0u);
    EXPECT_EQ(products(100'000'000, summed), 1u);
    EXPECT_EQ(products(100'000'000, as_large), 0u);
}

TEST(Hoist, of_no_steps_and_of_one) {
    for (std::int64_t steps : {0, 1}) {
        Tensors w{some_numbers({6, 6}, 1), some_numbers({6, 6}, 2)}, init{some_numbers({6}, 3)},
            xs{some_numbers({steps, 6}, 4)};
        auto step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
            return {{tanh(matmul(w[0], c[0]) + matmul(w[1], x[0]))}, {matmul(w[1], c[0])}};
        };
        Scanned found = scan(step, init, xs), expected = unrolled(step, init, xs);
        expect_near(found.carry[0], expected.carry[0]);
        ASSERT_EQ(found.ys[0].dims(), (Dims{steps, 6}));
        if (steps) expect_near(found.ys[0], expected.ys[0]);
    }
}

TEST(Hoist, what_nobody_asks_for_is_not_computed) {
    // The collected products stand above the loop: who asks for the state alone has a loop that does not collect what they read.
    Tensor w = some_numbers({6, 6}, 1);
    auto step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        return {{tanh(c[0] + x[0])}, {matmul(w, c[0])}};
    };
    Scanned found = scan(step, {some_numbers({6}, 3)}, {some_numbers({4, 6}, 4)});
    EXPECT_EQ(products_in_step(found), 0u);
    const Node& loop = *found.carry[0].node()->inputs[0];
    EXPECT_EQ(loop.inputs.size(), 2u) << "the weights that only the products read are none of its inputs";
}

}  // namespace
}  // namespace weft
