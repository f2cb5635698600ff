#include "weft/autodiff/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autodiff/numbers_of.h"
#include "message.h"
#include "unrolled.h"
#include "weft/autodiff/custom.h"
#include "weft/autodiff/transform.h"
#include "weft/autodiff/vmap.h"
#include "weft/graph/parameter.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/declared.h"
#include "weft/runtime/function.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;
using Step = StepFunction;

Tensor drawn(const Shape& shape, std::int64_t seed, DType dtype = DType::float64) {
    Tensor key = random::key(seed);
    return random::normal(shape, 0, 1, key, dtype);
}

/// A step with everything in it: products with weights from outside, what is carried through unchanged, views, sums of what is read.
struct Recurrence {
    Step step;
    Tensors init, xs, weights;
    LoopOptions options = {};
};
Recurrence recurrent(bool reverse = false) {
    Tensors weights{drawn({3, 4}, 1) * 0.5, drawn({4, 4}, 2) * 0.5, drawn({4}, 3)};
    Recurrence made;
    made.weights = weights;
    made.init = {drawn({2, 4}, 4), drawn({2, 4}, 5)}, made.xs = {drawn({5, 2, 3}, 6)};
    made.options.reverse = reverse;
    return made;
}
Step step_of(const Tensors& w) {
    return [w](std::span<const Tensor> carry, std::span<const Tensor> x) -> ScanStep {
        Tensor a = tanh(matmul(x[0], w[0]) + matmul(carry[0], w[1]) + w[2]);
        Tensor b = a * carry[1] + sin(flip(carry[1], {0}));
        return {{b, a}, {a * exp(w[2]), sum(b, 0), matrix_transpose(x[0])}};
    };
}
Tensor loss_of(const Scanned& found) {
    Tensor loss = sum(found.carry[0] * found.carry[0]) + sum(cos(found.carry[1]));
    for (const Tensor& y : found.ys) loss = loss + sum(y * y * y);
    return loss;
}

TEST(Loop, is_its_function_step_after_step) {
    for (bool reverse : {false, true}) {
        Recurrence c = recurrent(reverse);
        Scanned found = scan(step_of(c.weights), c.init, c.xs, c.options);
        Scanned expected = unrolled(step_of(c.weights), c.init, c.xs, c.options);
        for (std::size_t i = 0; i < 2; ++i) expect_near(found.carry[i], expected.carry[i]);
        for (std::size_t i = 0; i < 3; ++i) expect_near(found.ys[i], expected.ys[i]);
        Scanned again = scan(step_of(c.weights), c.init, c.xs, c.options);
        expect_near(Tensor(interpret(again.carry[0])), expected.carry[0]);
        expect_near(Tensor(interpret(again.ys[1])), expected.ys[1]);
    }
}

// Few steps, and so many that several are computed at once, with some left over.
class LoopOf : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Loop, LoopOf, testing::Values(1, 4, 64, 331));

TEST_P(LoopOf, carries_and_collects_whatever_shares_a_place) {
    // Swapped, shifted, the same value twice, what is read, what is the same in each step; integers beside floats.
    Tensor constant = drawn({2}, 9);
    Step step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        Tensor sum = c[0] * 0.5 + c[1] * x[0];
        return {{c[1], sum, sum, x[0], c[4] + 1, c[5]}, {sum, c[0], c[1], c[3], x[0], constant, sum, c[4], c[2], c[5]}};
    };
    Tensors init{drawn({2}, 1), drawn({2}, 2), drawn({2}, 3), drawn({2}, 4), Tensor(std::int64_t{5}), drawn({2}, 7)};
    Tensors xs{drawn({GetParam(), 2}, 5)};
    for (bool reverse : {false, true}) {
        Scanned found = scan(step, init, xs, {.reverse = reverse});
        Scanned expected = unrolled(step, init, xs, {.reverse = reverse});
        auto all = [](const Scanned& scanned) {
            Tensors results = scanned.carry;
            results.insert(results.end(), scanned.ys.begin(), scanned.ys.end());
            return results;
        };
        Tensors together = all(found), of_all = all(expected);
        eval(together), eval(of_all);
        for (std::size_t i = 0; i < together.size(); ++i) expect_near(together[i], of_all[i], 1e-12);
        for (std::size_t i = 0; i < together.size(); ++i)  // one alone
            expect_near(all(scan(step, init, xs, {.reverse = reverse}))[i], of_all[i], 1e-12);
    }
}

TEST_P(LoopOf, small_steps_have_the_derivatives_of_their_steps) {
    Tensors given{drawn({}, 1) * 0.3, drawn({3}, 2), drawn({GetParam(), 3}, 3)};
    Step step = [](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        Tensor y = tanh(c[1] * c[0] + x[0]);
        return {{y, c[1]}, {y * x[0], c[0]}};
    };
    for (bool reverse : {false, true}) {
        auto slopes = [&](bool loop) {
            KeepPending keep;
            Tensors at;
            for (const Tensor& x : given) at.push_back(fresh(x));
            LoopOptions options{.reverse = reverse};
            Tensors init{at[1], at[0]};
            Scanned found = loop ? scan(step, init, {at[2]}, options) : unrolled(step, init, {at[2]}, options);
            return gradient(sum(found.carry[0]) + sum(found.ys[0] * found.ys[1]), at);
        };
        Tensors found = slopes(true), expected = slopes(false);
        for (std::size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i], 1e-9);
    }
}

TEST(Loop, takes_inputs_however_they_lie) {
    Tensor x = drawn({3, 2, 6}, 1);
    Step step = [](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        return {{c[0] + x[0] * x[1], c[1] * 2}, {c[0] * x[1], c[1]}};
    };
    Tensors init{zeros({2, 3}, DType::float64), ones({}, DType::float64)};
    Tensors xs{permute_dims(x, {2, 1, 0}), astype(iota(6), DType::float64)};
    Scanned found = scan(step, init, xs), expected = unrolled(step, init, xs);
    for (std::size_t i = 0; i < 2; ++i)
        expect_near(found.carry[i], expected.carry[i], 0), expect_near(found.ys[i], expected.ys[i], 0);
    Tensor lies = Tensor(permute_dims(x, {2, 1, 0}).array());  // an array with gaps
    expect_near(scan(step, init, {lies, xs[1]}).carry[0], expected.carry[0], 0);
    Tensor keys = random::split(random::key(3), 4);
    Step draws = [](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        return {{c[0] + random::normal({2}, 0, 1, x[0])}, {c[0]}};
    };
    Tensors zero{zeros({2})};
    expect_near(scan(draws, zero, {keys}).carry[0], unrolled(draws, zero, {keys}).carry[0], 0);
}

TEST(Loop, of_no_steps_gives_what_it_was_given) {
    Recurrence c = recurrent();
    Tensors none{zeros({0, 2, 3}, DType::float64)};
    Scanned found = scan(step_of(c.weights), c.init, none);
    expect_near(found.carry[0], c.init[0], 0);
    EXPECT_EQ(found.ys[1].dims(), (Dims{0, 4}));
    EXPECT_EQ(numbers(found.ys[1]).size(), 0u);
    Tensor w = drawn({4}, 3);
    Tensor slope = grad([&](const Tensor& b) {
        return loss_of(scan(step_of({c.weights[0], c.weights[1], b}), c.init, none));
    })(w);
    EXPECT_EQ(numbers(slope), Doubles(4, 0.0));
}

TEST(Loop, length_alone_says_how_often) {
    Step twice = [](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep { return {{c[0] * 2}, {c[0]}}; };
    Scanned found = scan(twice, {Tensor(1.0)}, {}, {.length = 10});
    EXPECT_EQ(found.carry[0].item<float>(), 1024);
    EXPECT_EQ(numbers(found.ys[0])[9], 512);
}

TEST(Loop, derivatives_are_those_of_its_steps) {
    for (bool reverse : {false, true}) {
        Recurrence c = recurrent(reverse);
        auto with = [&](bool loop, const Tensors& all) {
            Tensors w(all.begin(), all.begin() + 3), init(all.begin() + 3, all.begin() + 5), xs{all[5]};
            return loss_of(loop ? scan(step_of(w), init, xs, c.options) : unrolled(step_of(w), init, xs, c.options));
        };
        Tensors all = c.weights;
        all.insert(all.end(), c.init.begin(), c.init.end()), all.push_back(c.xs[0]);
        Tensors inputs;
        KeepPending keep;
        for (const Tensor& x : all) inputs.push_back(fresh(x));
        Tensors found = gradient(with(true, inputs), inputs), expected = gradient(with(false, inputs), inputs);
        for (std::size_t i = 0; i < inputs.size(); ++i) expect_near(found[i], expected[i], 1e-8);
        Tensors losses{with(true, inputs)}, other{with(false, inputs)}, moves;  // forward mode
        for (const Tensor& x : inputs) moves.push_back(drawn(x.shape(), 77));
        expect_near(pushforward(losses, inputs, moves)[0], pushforward(other, inputs, moves)[0], 1e-8);
        // Second order: the derivative of what the first gives along a direction, in both modes.
        auto slope = [&](bool loop) {
            Tensors first = gradient(with(loop, inputs), inputs);
            Tensor sums;
            for (std::size_t i = 0; i < first.size(); ++i)
                sums = sums ? sums + sum(first[i] * moves[i]) : sum(first[i] * moves[i]);
            return sums;
        };
        Tensors second = gradient(slope(true), inputs), wanted = gradient(slope(false), inputs);
        for (std::size_t i = 0; i < inputs.size(); ++i) expect_near(second[i], wanted[i], 1e-7);
        Tensors slopes{slope(true)}, others{slope(false)};
        expect_near(pushforward(slopes, inputs, moves)[0], pushforward(others, inputs, moves)[0], 1e-7);
    }
}

TEST(Loop, maps_over_examples_of_any_of_its_inputs) {
    Recurrence c = recurrent();
    for (int which : {0, 1, 2, 3, 4, 5, 6}) {  // 6: all of them
        Tensors all = c.weights;
        all.insert(all.end(), c.init.begin(), c.init.end()), all.push_back(c.xs[0]);
        std::vector<ExampleAxis> axes(6);
        for (int i = 0; i < 6; ++i) {
            if (which != i && which != 6) continue;
            axes[static_cast<std::size_t>(i)] = 0;
            Shape wide = all[static_cast<std::size_t>(i)].shape();
            wide.insert(0, 3);
            all[static_cast<std::size_t>(i)] = drawn(wide, 20 + i) * 0.5;
        }
        auto result = [&](bool loop, std::span<const Tensor> x) {
            Tensors w(x.begin(), x.begin() + 3), init(x.begin() + 3, x.begin() + 5), xs{x[5]};
            Scanned found = loop ? scan(step_of(w), init, xs) : unrolled(step_of(w), init, xs);
            Tensors both{found.carry[0], found.ys[0], found.ys[2], gradient(loss_of(found), x[4])};
            return both;
        };
        KeepPending keep;
        for (Tensor& x : all) x = fresh(x);
        Vmap map(all, axes);
        std::vector<ExampleAxis> front(4, 0);
        Tensors found = map.results(result(true, map.examples()), front),
                expected = map.results(result(false, map.examples()), front);
        for (std::size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i], 1e-8);
    }
}

TEST(Loop, what_a_step_holds_is_its_own) {
    // Numbers that others ask for, before or after: the step does not lose what it is made of.
    Tensor early = zeros({2}), late = full({2}, 3.0), array = ones({2}) + 1, number = Tensor(2.0f);
    early.eval(), number.eval();
    Step step = [&](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep {
        return {{(c[0] + late + early + array) * number}, {late}};
    };
    Scanned found = scan(step, {zeros({2})}, {}, {.length = 3});
    late.eval(), array.eval();
    EXPECT_EQ(numbers(found.carry[0]), (Doubles{70, 70}));
    EXPECT_EQ(numbers(found.ys[0]), (Doubles{3, 3, 3, 3, 3, 3}));
}

TEST(Loop, a_loop_within_a_loop) {
    Tensor w = drawn({3}, 1);
    auto run = [&](bool loop, const Tensor& w) {
        auto any = [loop](const Step& f, Tensors init, Tensors xs) {
            return loop ? scan(f, init, xs) : unrolled(f, init, xs);
        };
        Step outer = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
            Tensor at = c[0];
            Step inner = [&](std::span<const Tensor> d, std::span<const Tensor> y) -> ScanStep {
                return {{sin(d[0] + y[0] * w) + at}, {d[0] * w}};
            };
            Scanned found = any(inner, {c[0]}, {x[0]});
            return {{found.carry[0]}, {found.ys[0]}};
        };
        return any(outer, {drawn({3}, 2)}, {drawn({4, 2, 3}, 3)});
    };
    expect_near(run(true, w).ys[0], run(false, w).ys[0]);
    auto slope = [&](bool loop) {
        return grad([&, loop](const Tensor& w) {
            Scanned found = run(loop, w);
            return sum(found.carry[0]) + sum(found.ys[0] * found.ys[0]);
        });
    };
    expect_near(slope(true)(w), slope(false)(w), 1e-8);
}

TEST(Loop, steps_keep_rules_of_their_own) {
    auto doubled = custom_vjp([](const Tensor& x) { return exp(x); },
                              [](std::span<const Tensor>, const Tensor& c) { return Tensors{c * 2}; });
    auto again = checkpoint([](const Tensor& x) { return tanh(sin(x) * x); });
    Step step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        return {{again(c[0]) + doubled(x[0])}, {c[0]}};
    };
    auto slope = [&](bool loop) {
        return grad([&, loop](const Tensor& x) {
            Tensors init{ones({2}, DType::float64)};
            return sum((loop ? scan(step, init, {x}) : unrolled(step, init, {x})).carry[0]);
        });
    };
    Tensor x = drawn({3, 2}, 4);
    expect_near(slope(true)(x), slope(false)(x));
}

TEST(Loop, is_one_program_compiled_and_declared) {
    Recurrence c = recurrent();
    auto f = compile([&](const Tensor& x, const Tensor& w) {
        return value_and_grad([&](const Tensor& w) {
                   return loss_of(scan(step_of({w, c.weights[1], c.weights[2]}), c.init, {x}));
               })(w)
            .second;
    });
    Tensor expected = grad([&](const Tensor& w) {
        return loss_of(unrolled(step_of({w, c.weights[1], c.weights[2]}), c.init, c.xs));
    })(c.weights[0]);
    for (int i = 0; i < 3; ++i) expect_near(f(c.xs[0], c.weights[0]), expected, 1e-8);

    Tensor x = input("x", {"steps", "batch", 3}, DType::float64);
    Step cumulate = [](std::span<const Tensor> s, std::span<const Tensor> x) -> ScanStep {
        return {{s[0] + sum(x[0], 0)}, {s[0]}};
    };
    Scanned found = scan(cumulate, {zeros({3}, DType::float64)}, {x});
    CompiledFunction declared = function({x}, {found.carry[0], found.ys[0]});
    for (std::int64_t steps : {5, 2}) {
        Tensor given = drawn({steps, steps + 1, 3}, 8);
        Tensors results = declared(Tensors{given});
        Scanned wanted = unrolled(cumulate, {zeros({3}, DType::float64)}, {given});
        expect_near(results[0], wanted.carry[0]), expect_near(results[1], wanted.ys[0]);
    }
}

TEST(Loop, refuses_what_does_not_fit) {
    Step wider = [](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep {
        return {{concatenate({c[0], c[0]})}, {}};
    };
    Step other = [](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep {
        return {{astype(c[0], DType::int64)}, {}};
    };
    Step fewer = [](std::span<const Tensor>, std::span<const Tensor>) -> ScanStep { return {{}, {}}; };
    Tensors init{zeros({2})};
    EXPECT_THAT(
        message<ShapeError>([&] { scan(wider, init, {}, {.length = 3}); }),
        testing::HasSubstr("scan: carried value 0 is float32 (2,) before a step and float32 (4,) after it; what is "
                           "carried keeps its shape\n  at "));
    EXPECT_THAT(
        message<DTypeError>([&] { scan(other, init, {}, {.length = 3}); }),
        testing::HasSubstr("scan: carried value 0 is float32 (2,) before a step and int64 (2,) after it; give init "
                           "the type that it becomes, or convert it with astype"));
    EXPECT_THAT(message<ValueError>([&] { scan(fewer, init, {}, {.length = 3}); }),
                testing::HasSubstr("scan: the function gave 0 carried values, but was given 1"));
    EXPECT_THAT(message<ValueError>([&] { scan(other, init, {}); }),
                testing::HasSubstr("scan: without xs, length says how many steps there are"));
    EXPECT_THAT(message<ValueError>([&] { scan(other, init, {}, {.length = -1}); }),
                testing::HasSubstr("scan: length is -1; it must be at least 0"));
    EXPECT_THAT(message<ShapeError>([&] {
                    scan(other, init, {zeros({3, 2}), zeros({4, 2})});
                }),
                testing::HasSubstr("scan: xs 1 of shape (4, 2) has 4 slices, but there are 3 of xs 0"));
    EXPECT_THAT(message<ShapeError>([&] {
                    scan(other, init, {zeros({3, 2})}, {.length = 2});
                }),
                testing::HasSubstr("scan: xs 0 of shape (3, 2) has 3 slices, but there are 2 steps (length)"));
    EXPECT_THAT(message<ShapeError>([&] { scan(other, init, {Tensor(1.0)}); }),
                testing::HasSubstr("scan: xs 0 has no axis to go along"));
}

TEST(Loop, an_index_outside_its_axis_names_its_line_once) {
    Tensor table = drawn({4}, 1);
    Step look = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        return {{c[0] + take(table, x[0], 0)}, {}};
    };
    Tensor found = scan(look, {Tensor(0.0, DType::float64)}, {Tensor::of<std::int64_t>({1, 7, 2})}).carry[0];
    std::string said = message<IndexError>([&] { found.eval(); });
    EXPECT_THAT(said, testing::HasSubstr("7"));
    EXPECT_EQ(said.find("loop_test.cpp"), said.rfind("loop_test.cpp"));
}

TEST(Loop, many_steps_are_a_small_program) {
    Step step = [](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        Tensor y = c[0] * 0.999f + sin(x[0]);
        return {{y}, {y}};
    };
    Tensor x = drawn({100000}, 1, DType::float32);
    Tensor slope = grad([&](const Tensor& x) { return sum(scan(step, {Tensor(0.0f)}, {x}).ys[0]); })(x);
    EXPECT_LT(slope.node()->depth, 100u);
    Doubles found = numbers(slope), xs = numbers(x);
    double carried = 0;
    for (std::size_t t = xs.size(); t-- > 0;) {
        carried = carried * 0.999 + 1;
        ASSERT_NEAR(found[t], carried * std::cos(xs[t]), 1e-2 + 1e-4 * carried);
    }
}

}  // namespace
}  // namespace weft
