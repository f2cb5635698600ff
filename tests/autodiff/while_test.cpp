#include "weft/autodiff/while.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autodiff/numbers_of.h"
#include "message.h"
#include "threads.h"
#include "weft/autodiff/transform.h"
#include "weft/autodiff/vmap.h"
#include "weft/compile/plan_cache.h"
#include "weft/graph/parameter.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/declared.h"
#include "weft/runtime/function.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;
using Values = std::span<const Tensor>;
using Condition = std::function<Tensor(Values)>;
using Body = std::function<Tensors(Values)>;

/// What a loop means: its functions called step after step, each value computed before the next is asked for.
Tensors stepped(const Condition& condition, const Body& body, Tensors carry) {
    while (condition(carry).item<bool>()) carry = body(carry), eval(carry);
    return carry;
}

void expect_equal(const Tensors& found, const Tensors& expected, double error = 0) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        SCOPED_TRACE(text("value ", i));
        ASSERT_EQ(found[i].dtype(), expected[i].dtype());
        ASSERT_EQ(found[i].dims(), expected[i].dims());
        Doubles left = numbers(found[i]), right = numbers(expected[i]);
        for (std::size_t k = 0; k < left.size(); ++k)
            ASSERT_NEAR(left[k], right[k], error * (1 + std::abs(right[k]))) << "element " << k;
    }
}

/// Newton's method for a square root, which counts its steps: x -> (x + a / x) / 2 until x moves little.
struct Root {
    Tensor a;
    Condition condition = [](Values c) { return greater(abs(c[1]), 1e-9); };
    Body body = [this](Values c) -> Tensors {
        Tensor next = (c[0] + a / c[0]) * 0.5;
        return {next, next - c[0], c[2] + 1};
    };
    Tensors init() const { return {a, a, Tensor(std::int64_t{0})}; }
};

TEST(While, is_its_functions_step_after_step) {
    Root root{Tensor(17.0, DType::float64)};
    Tensors expected = stepped(root.condition, root.body, root.init());
    EXPECT_NEAR(expected[0].item<double>(), std::sqrt(17.0), 1e-12);
    EXPECT_GT(expected[2].item<std::int64_t>(), 5);
    Tensors found = while_loop(root.condition, root.body, root.init());
    eval(found);
    expect_equal(found, expected);
    for (std::size_t i = 0; i < found.size(); ++i)  // one alone, and by the interpreter
        expect_equal({while_loop(root.condition, root.body, root.init())[i]}, {expected[i]}),
            expect_equal({Tensor(interpret(while_loop(root.condition, root.body, root.init())[i]))}, {expected[i]});
}

// Steps one by one, the first that are many at a time, a block's last and first, many blocks.
class WhileOf : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(While, WhileOf, testing::Values(0, 1, 2, 15, 16, 17, 31, 32, 33, 40, 1000));

TEST_P(WhileOf, ends_where_its_condition_does) {
    Tensor steps(GetParam());
    Condition condition = [&](Values c) { return less(c[0], steps); };
    // Swapped, the same value twice, what does not change, whole numbers beside floats; a value that would be NaN one step later.
    Body body = [&](Values c) -> Tensors {
        Tensor left = astype(steps - c[0], DType::float64);
        return {c[0] + 1, c[2], c[1] * 0.5 + c[2], c[3], sqrt(left - 1), c[5] * 3 + 1};
    };
    auto scalar = [](double x) { return Tensor(x, DType::float64); };
    Tensors init{Tensor(std::int64_t{0}), scalar(1), scalar(2), scalar(3), scalar(4), Tensor(std::int64_t{1})};
    Tensors expected = stepped(condition, body, init), found = while_loop(condition, body, init);
    eval(found);
    expect_equal(found, expected);
    Tensors interpreted;
    for (const Array& array : interpret(while_loop(condition, body, init))) interpreted.push_back(Tensor(array));
    expect_equal(interpreted, expected);
    auto compiled = compile(
        [&](const Tensor& steps) { return while_loop([&](Values c) { return less(c[0], steps); }, body, init)[2]; });
    for (int i = 0; i < 3; ++i) expect_equal({compiled(steps)}, {expected[2]});
}

TEST(While, carries_arrays_of_any_size) {
    for (std::int64_t n : {0, 1, 3, 100, 5000}) {
        Tensor x = random::normal({n, 3}, 0, 1, random::key(1), DType::float64),
               w = random::normal({3, 3}, 0, 1, random::key(2), DType::float64);
        Condition condition = [](Values c) { return less(c[1], std::int64_t{20}); };
        Body body = [&](Values c) -> Tensors { return {tanh(matmul(c[0], w)) + x, c[1] + 1}; };
        Tensors init{x, Tensor(std::int64_t{0})};
        Tensors found = while_loop(condition, body, init);
        eval(found);
        expect_equal(found, stepped(condition, body, init), 1e-12);
        Condition sums = [](Values c) { return less(sum(c[0]), 50.0); };
        Body grows = [](Values c) -> Tensors { return {c[0] * 2 + 1}; };
        if (n > 0) expect_equal(while_loop(sums, grows, {abs(x)}), stepped(sums, grows, {abs(x)}));
    }
}

TEST(While, has_the_same_bits_on_any_number_of_threads) {
    Tensor x = random::normal({64, 300}, 0, 1, random::key(1)), w = random::normal({300, 300}, 0, 0.1, random::key(2));
    auto run = [&] {
        return numbers(while_loop([](Values c) { return less(c[1], std::int64_t{30}); },
                                  [&](Values c) -> Tensors {
                                      return {tanh(matmul(c[0], w) + x), c[1] + 1};
                                  },
                                  {x, Tensor(std::int64_t{0})})[0]);
    };
    Doubles first;
    for (int threads : {1, 2, 3}) {
        Threads with(threads);
        clear_caches();
        if (first.empty()) first = run();
        EXPECT_EQ(run(), first) << threads << " threads";
    }
    clear_caches();
}

TEST(While, forward_mode_of_any_order_is_that_of_its_steps) {
    // x -> x * x, three times, is x ** 8; its derivatives are known.
    auto power = [](const Tensor& x) {
        return while_loop([](Values c) { return less(c[1], std::int64_t{3}); },
                          [](Values c) -> Tensors {
                              return {c[0] * c[0], c[1] + 1};
                          },
                          {x, Tensor(std::int64_t{0})})[0];
    };
    Tensor x(1.25, DType::float64), one(1.0, DType::float64);
    auto first = [&](const Tensor& x) { return jvp(power, x, one).second; };
    auto second = [&](const Tensor& x) { return jvp(first, x, one).second; };
    EXPECT_NEAR(first(x).item<double>(), 8 * std::pow(1.25, 7), 1e-12);
    EXPECT_NEAR(second(x).item<double>(), 56 * std::pow(1.25, 6), 1e-11);
    EXPECT_NEAR(compile(second)(x).item<double>(), 56 * std::pow(1.25, 6), 1e-11);
    EXPECT_NEAR(vmap(second)(full({3}, 1.25, DType::float64)).to_vector<double>()[2], 56 * std::pow(1.25, 6), 1e-11);
    // By what it reads from outside: d sqrt(a) / d a.
    auto root = [](const Tensor& a) {
        Root newton{a};
        return while_loop(newton.condition, newton.body, {Tensor(1.0, DType::float64), a, Tensor(std::int64_t{0})})[0];
    };
    EXPECT_NEAR(jvp(root, Tensor(9.0, DType::float64), one).second.item<double>(), 1.0 / 6, 1e-9);
}

TEST(While, reverse_mode_is_refused_and_says_what_to_do) {
    auto f = [](const Tensor& x) {
        return while_loop([](Values c) { return less(c[0], 10.0); }, [](Values c) -> Tensors { return {c[0] * 2}; },
                          {x})[0];
    };
    EXPECT_THAT(
        message<NotDifferentiable>([&] { grad(f)(Tensor(1.0)); }),
        testing::AllOf(testing::HasSubstr("while_loop: reverse mode"), testing::HasSubstr("use scan with a length"),
                       testing::HasSubstr("stop_gradient of what it gives"), testing::HasSubstr("while_test.cpp")));
    // What is held constant has nothing to refuse.
    auto beside = [&](const Tensor& x) { return x * x + stop_gradient(f(x)); };
    EXPECT_EQ(grad(beside)(Tensor(3.0)).item<float>(), 6);
}

TEST(While, examples_that_are_done_keep_their_values) {
    // Collatz's steps to 1, of each number by itself.
    auto collatz = [](const Tensor& n) {
        return while_loop([](Values c) { return greater(c[0], std::int64_t{1}); },
                          [](Values c) -> Tensors {
                              Tensor even = equal(remainder(c[0], std::int64_t{2}), std::int64_t{0});
                              return {where(even, floor_divide(c[0], std::int64_t{2}), c[0] * 3 + 1), c[1] + 1};
                          },
                          {n, Tensor(std::int64_t{0})})[1];
    };
    Tensor n = Tensor::of<std::int64_t>({1, 2, 3, 27, 6, 97});
    Doubles expected{0, 1, 7, 111, 8, 118};
    EXPECT_EQ(numbers(vmap(collatz)(n)), expected);
    EXPECT_EQ(numbers(compile(vmap(collatz))(n)), expected);
    EXPECT_EQ(numbers(vmap(vmap(collatz))(reshape(n, {2, 3}))), expected);
    EXPECT_EQ(numbers(Tensor(interpret(vmap(collatz)(n)))), expected);
    EXPECT_EQ(numbers(vmap(collatz)(Tensor::of<std::int64_t>({}))), Doubles{});
}

TEST(While, examples_that_end_together_need_no_choice) {
    Tensor w = random::normal({4, 3}, 0, 1, random::key(1), DType::float64);
    auto f = [](const Tensor& x) {
        return while_loop([](Values c) { return less(c[1], std::int64_t{5}); },
                          [&](Values c) -> Tensors {
                              return {sin(c[0]) + x, c[1] + 1};
                          },
                          {zeros({3}, DType::float64), Tensor(std::int64_t{0})})[0];
    };
    Tensor wide = vmap(f)(w);
    EXPECT_EQ(str(gather(std::array{wide.node()})).find("where"), std::string::npos);
    for (std::int64_t i = 0; i < 4; ++i)
        expect_equal({slice(wide, {i, 0}, {1, 3})}, {reshape(f(reshape(slice(w, {i, 0}, {1, 3}), {3})), {1, 3})});
}

TEST(While, within_and_around_a_scan) {
    // Of each slice the least power of two above it; what is carried counts the steps of all.
    auto above = [](const Tensor& x) {
        return while_loop([&](Values c) { return less_equal(c[0], x); },
                          [](Values c) -> Tensors {
                              return {c[0] * 2, c[1] + 1};
                          },
                          {Tensor(1.0), Tensor(std::int64_t{0})});
    };
    auto all = [&](const Tensor& xs) {
        return scan(
            [&](Values c, Values x) -> ScanStep {
                Tensors found = above(x[0]);
                return {{c[0] + found[1]}, {found[0] * x[0]}};
            },
            {Tensor(std::int64_t{0})}, {xs});
    };
    Tensor xs = Tensor::of<float>({0.5f, 1, 3, 100, 8});
    EXPECT_EQ(all(xs).carry[0].item<std::int64_t>(), 0 + 1 + 2 + 7 + 4);
    EXPECT_EQ(numbers(all(xs).ys[0]), (Doubles{0.5, 2, 12, 12800, 128}));
    Tensor slope = grad([&](const Tensor& xs) {  // the loop's own derivative is 0: powers do not move
        return sum(scan(
                       [&](Values c, Values x) -> ScanStep {
                           return {{c[0]}, {stop_gradient(above(x[0])[0]) * x[0]}};
                       },
                       {Tensor(0.0)}, {xs})
                       .ys[0]);
    })(xs);
    EXPECT_EQ(numbers(slope), (Doubles{1, 2, 4, 128, 16}));

    // The scan within: sums of squares, as long as they are small.
    Tensors found = while_loop(
        [](Values c) { return less(c[0], 1000.0); },
        [&](Values c) -> Tensors {
            return scan([](Values s, Values x) -> ScanStep { return {{s[0] + x[0] * x[0]}, {}}; }, {c[0]}, {xs}).carry;
        },
        {Tensor(0.0)});
    float each = 0.25f + 1 + 9 + 10000 + 64;
    EXPECT_EQ(found[0].item<float>(), each);
    // And one while_loop within another.
    Tensors nested = while_loop([](Values c) { return less(c[0], 5000.0); },
                                [&](Values c) -> Tensors { return {above(c[0])[0] + c[0]}; }, {Tensor(1.0)});
    float expected = 1;
    while (expected < 5000) {
        float power = 1;
        while (power <= expected) power *= 2;
        expected += power;
    }
    EXPECT_EQ(nested[0].item<float>(), expected);
}

TEST(While, named_sizes_and_parameters) {
    Tensor x = input("x", {"n"}, DType::float64);
    Tensors found = while_loop([](Values c) { return less(sum(c[0]), 100.0); },
                               [&](Values c) -> Tensors { return {c[0] + x}; }, {x});
    CompiledFunction declared = function({x}, found);
    for (std::int64_t n : {2, 5})
        EXPECT_EQ(numbers(declared(Tensors{ones({n}, DType::float64)})[0]),
                  Doubles(static_cast<std::size_t>(n), std::ceil(100.0 / static_cast<double>(n))));
    Parameter step(Tensor(3.0), "step");
    auto climb = compile([&](const Tensor& to) {
        return while_loop([&](Values c) { return less(c[0], to); },
                          [&](Values c) -> Tensors { return {c[0] + step.value()}; }, {Tensor(0.0)})[0];
    });
    EXPECT_EQ(climb(Tensor(10.0)).item<float>(), 12);
    step.set(Tensor(4.0));
    EXPECT_EQ(climb(Tensor(9.0)).item<float>(), 12);
}

TEST(While, refuses_what_does_not_fit) {
    Condition holds = [](Values c) { return less(c[0], 1.0); };
    Body same = [](Values c) { return Tensors(c.begin(), c.end()); };
    Tensors init{Tensor(0.0)};
    auto said = [&](auto error, const Condition& condition, const Body& body, const Tensors& init) {
        return message<decltype(error)>([&] { while_loop(condition, body, init); });
    };
    EXPECT_THAT(
        said(
            DTypeError(""), [](Values c) { return c[0]; }, same, init),
        testing::HasSubstr("while_loop: the condition must be one truth value, bool (), but is float32 (); write "
                           "a comparison (x != 0)\n  at "));
    EXPECT_THAT(
        said(ShapeError(""), holds, same, {zeros({3})}),
        testing::HasSubstr("while_loop: the condition must be one truth value, bool (), but is bool (3,); join the "
                           "truth values of many elements by all or any"));
    EXPECT_THAT(said(
                    ValueError(""), holds, [](Values) { return Tensors(); }, init),
                testing::HasSubstr("while_loop: the body gave 0 carried values, but was given 1"));
    EXPECT_THAT(
        said(
            DTypeError(""), holds, [](Values c) { return Tensors{astype(c[0], DType::int64)}; }, init),
        testing::HasSubstr("while_loop: carried value 0 is float32 () before a step and int64 () after it; give "
                           "init the type that it becomes, or convert it with astype"));
    EXPECT_THAT(said(
                    ShapeError(""), holds, [](Values c) { return Tensors{reshape(c[0], {1})}; }, init),
                testing::HasSubstr("while_loop: carried value 0 is float32 () before a step and float32 (1,) after it; "
                                   "what is carried keeps its shape"));
    EXPECT_THAT(message<ValueError>([&] {
                    while_loop(
                        holds, [](Values c) { return c[0].item<float>() > 0 ? Tensors{c[0]} : Tensors{}; }, init);
                }),
                testing::HasSubstr("while_loop: a number is asked for that depends on a step"));
    Tensor table = zeros({4});
    Tensor found = while_loop([](Values c) { return less(c[0], std::int64_t{9}); },
                              [&](Values c) -> Tensors {
                                  return {c[0] + 1, c[1] + take(table, c[0], 0)};
                              },
                              {Tensor(std::int64_t{0}), Tensor(0.0)})[1];
    std::string outside = message<IndexError>([&] { found.eval(); });
    EXPECT_THAT(outside, testing::HasSubstr("4 is out of bounds"));
    EXPECT_EQ(outside.find("while_test.cpp"), outside.rfind("while_test.cpp"));
}

}  // namespace
}  // namespace weft
