#include "weft/autodiff/cond.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autodiff/numbers_of.h"
#include "effort.h"
#include "message.h"
#include "threads.h"
#include "weft/autodiff/custom.h"
#include "weft/autodiff/transform.h"
#include "weft/autodiff/vmap.h"
#include "weft/autodiff/while.h"
#include "weft/compile/plan_cache.h"
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
#include "weft/runtime/explain.h"
#include "weft/runtime/function.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;
using Values = std::span<const Tensor>;

Tensor draw(const Shape& shape, std::int64_t seed) {
    return random::normal(shape, 0, 1, random::key(seed), DType::float64);
}

/// What a conditional means, its predicate known.
Tensors chosen(const Tensor& predicate, const Branch& yes, const Branch& no, const Tensors& x) {
    return predicate.item<bool>() ? yes(x) : no(x);
}

/// Branches with everything in them: what one of them reads alone, views, an argument as it is, a number, the same value twice.
struct Branches {
    Tensor w = draw({3, 3}, 1), b = draw({3}, 2);
    Branch yes = [this](Values x) -> Tensors {
        Tensor y = tanh(matmul(x[0], w)) + flip(x[1], {0});
        return {y, x[1], sum(y * y), y};
    };
    Branch no = [this](Values x) -> Tensors {
        return {x[0] * b + exp(b) * x[1], b, full({}, 2.5, DType::float64),
                matrix_transpose(matmul(w, matrix_transpose(x[0])))};
    };
    Tensors x{draw({2, 3}, 3), draw({3}, 4)};
};

Tensor truth(bool value) { return greater(Tensor(value ? 1.0 : -1.0), 0.0); }

TEST(Cond, gives_what_its_branch_gives) {
    Branches c;
    for (bool holds : {true, false}) {
        Tensors expected = chosen(truth(holds), c.yes, c.no, c.x), found = cond(truth(holds), c.yes, c.no, c.x);
        eval(found);
        auto compiled = compile([&](const Tensor& p, const Tensor& x) { return cond(p, c.yes, c.no, {x, c.x[1]})[3]; });
        for (std::size_t i = 0; i < 4; ++i) {
            expect_near(found[i], expected[i], 1e-14);
            expect_near(cond(truth(holds), c.yes, c.no, c.x)[i], expected[i], 1e-14);  // one alone
            expect_near(Tensor(interpret(cond(truth(holds), c.yes, c.no, c.x)[i])), expected[i], 1e-14);
        }
        for (int i = 0; i < 3; ++i) expect_near(compiled(truth(holds), c.x[0]), expected[3], 1e-14);
    }
}

// A branch that cannot be computed: its index is outside of its axis.
Tensor fails() { return take(zeros({4}, DType::float64), Tensor(std::int64_t{4}) * ones({}, DType::int64), 0); }

TEST(Cond, computes_one_branch_alone) {
    Tensor x(2.0, DType::float64);
    auto run = [&](bool holds) {
        return cond(
            truth(holds), [](Values x) { return Tensors{x[0] + fails()}; }, [](Values x) { return Tensors{x[0]}; },
            {x})[0];
    };
    EXPECT_EQ(run(false).item<double>(), 2);
    std::string said = message<IndexError>([&] { run(true).eval(); });
    EXPECT_THAT(said, testing::HasSubstr("4 is out of bounds"));
    EXPECT_EQ(said.find("cond_test.cpp"), said.rfind("cond_test.cpp"));
    // Also what depends on nothing that the branch is given, within a compiled function, and its derivative.
    auto closed = [&](const Tensor& x) {
        return cond(
            greater(x, 5.0), [](Values) { return Tensors{fails()}; }, [&](Values) { return Tensors{x * x}; })[0];
    };
    EXPECT_EQ(closed(x).item<double>(), 4);
    EXPECT_EQ(compile(closed)(x).item<double>(), 4);
    EXPECT_EQ(compile(grad(closed))(x).item<double>(), 4);
    // What stood there before is read: it is computed in any case.
    Tensor before = fails();
    Tensor reads = cond(
        truth(false), [&](Values) { return Tensors{before}; }, [&](Values) { return Tensors{x}; })[0];
    EXPECT_THAT(message<IndexError>([&] { reads.eval(); }), testing::HasSubstr("4 is out of bounds"));
}

TEST(Cond, what_a_branch_asked_for_is_read) {
    // A number that was computed while the branch was written, and views and sums of it.
    Tensor found = cond(
        truth(true),
        [](Values x) -> Tensors {
            Tensor table = iota(6), view = flip(table * 2, {0});
            EXPECT_EQ(view.to_vector<std::int64_t>()[0], 10);
            return {astype(view + table, DType::float64) + x[0]};
        },
        [](Values x) -> Tensors { return {zeros({6}, DType::float64) + x[0]}; }, {Tensor(0.5, DType::float64)})[0];
    EXPECT_EQ(numbers(found), (Doubles{10.5, 9.5, 8.5, 7.5, 6.5, 5.5}));
}

TEST(Cond, derivatives_are_those_of_the_branch_that_is_taken) {
    Branches c;
    for (bool holds : {true, false}) {
        auto loss = [&](bool conditional, const Tensors& x) {
            Branches with;
            with.w = x[2], with.b = x[3];
            Tensors given{x[0], x[1]};
            Tensors y = conditional ? cond(truth(holds), with.yes, with.no, given)
                                    : chosen(truth(holds), with.yes, with.no, given);
            return sum(y[0] * y[0]) + sum(sin(y[1])) + y[2] * sum(y[3]);
        };
        KeepPending keep;
        Tensors x, moves;
        for (const Tensor& one : {c.x[0], c.x[1], c.w, c.b})
            x.push_back(fresh(one)), moves.push_back(draw(one.shape(), 9));
        Tensors losses{loss(true, x)}, others{loss(false, x)};
        Tensors found = gradient(losses[0], x), expected = gradient(others[0], x);
        for (std::size_t i = 0; i < x.size(); ++i) expect_near(found[i], expected[i]);
        expect_near(pushforward(losses, x, moves)[0], pushforward(others, x, moves)[0]);
        auto slope = [&](bool conditional) {
            Tensors first = gradient(loss(conditional, x), x);
            Tensor sums = sum(first[0] * moves[0]);
            for (std::size_t i = 1; i < x.size(); ++i) sums = sums + sum(first[i] * moves[i]);
            return sums;
        };
        Tensors slopes{slope(true)}, wanted{slope(false)};
        found = gradient(slopes[0], x), expected = gradient(wanted[0], x);
        for (std::size_t i = 0; i < x.size(); ++i) expect_near(found[i], expected[i], 1e-8);
        expect_near(pushforward(slopes, x, moves)[0], pushforward(wanted, x, moves)[0], 1e-8);
    }
}

TEST(Cond, third_derivatives_and_whole_numbers_beside) {
    auto f = [](const Tensor& x) {
        Tensors y = cond(
            less(x, 0.0),
            [](Values x) -> Tensors {
                return {x[1], x[0] * x[0] * x[0] * x[0]};
            },
            [](Values x) -> Tensors {
                return {x[1] + 1, exp(x[0])};
            },
            {x, Tensor(std::int64_t{3})});
        return y[1] * astype(y[0], DType::float64);
    };
    auto third = compile(grad(grad(grad(f))));
    EXPECT_NEAR(third(Tensor(-2.0, DType::float64)).item<double>(), 3 * 24 * -2.0, 1e-12);
    EXPECT_NEAR(third(Tensor(1.5, DType::float64)).item<double>(), 4 * std::exp(1.5), 1e-12);
    Tensor one(1.0, DType::float64);
    auto forward = [&](const Tensor& x) { return jvp(grad(f), x, one).second; };
    EXPECT_NEAR(forward(Tensor(-2.0, DType::float64)).item<double>(), 3 * 12 * 4.0, 1e-12);
}

TEST(Cond, keeps_rules_of_its_own) {
    auto doubled = custom_vjp([](const Tensor& x) { return exp(x); },
                              [](std::span<const Tensor>, const Tensor& c) { return Tensors{c * 2}; });
    auto again = checkpoint([](const Tensor& x) { return tanh(sin(x) * x); });
    auto f = [&](const Tensor& x) {
        return cond(
            greater(x, 0.0), [&](Values x) { return Tensors{doubled(x[0])}; },
            [&](Values x) { return Tensors{again(x[0])}; }, {x})[0];
    };
    EXPECT_EQ(grad(f)(Tensor(1.0, DType::float64)).item<double>(), 2);
    Tensor x(-1.0, DType::float64);
    expect_near(grad(f)(x), grad([](const Tensor& x) { return tanh(sin(x) * x); })(x));
}

TEST(Cond, under_vmap_each_example_takes_its_own) {
    Branches c;
    Tensor wide = draw({4, 2, 3}, 5), p = draw({4}, 6);
    ASSERT_TRUE(any(greater(p, 0.0)).item<bool>() && any(less(p, 0.0)).item<bool>());
    auto of = [&](const Tensor& p, const Tensor& x, std::size_t i) {
        return cond(greater(p, 0.0), c.yes, c.no, {x, c.x[1]})[i];
    };
    for (std::size_t i = 0; i < 4; ++i) {
        auto f = [&](const Tensor& p, const Tensor& x) { return of(p, x, i); };
        auto each = [&](bool p_differs, bool x_differs) {
            Tensors all;
            for (std::int64_t k = 0; k < 4; ++k) {
                Tensor pk = p_differs ? reshape(slice(p, {k}, {1}), {}) : truth(true) * 1.0;
                all.push_back(f(astype(pk, DType::float64),
                                x_differs ? reshape(slice(wide, {k, 0, 0}, {1, 2, 3}), {2, 3}) : c.x[0]));
            }
            return stack(all, 0);
        };
        Tensor yes(1.0, DType::float64);
        expect_near(vmap(f)(p, wide), each(true, true), 1e-12);
        expect_near(vmap(f, {.in_axes = {0, {}}})(p, c.x[0]), each(true, false), 1e-12);
        expect_near(vmap(f, {.in_axes = {{}, 0}})(yes, wide), each(false, true), 1e-12);
        expect_near(compile(vmap(f))(p, wide), each(true, true), 1e-12);
    }
    // Where the predicate is the same for all it stays a conditional; where it differs there is none.
    auto text_of = [&](const Tensor& x) { return str(gather(std::array{x.node()})); };
    auto f = [&](const Tensor& p, const Tensor& x) { return of(p, x, 0); };
    EXPECT_THAT(text_of(vmap(f, {.in_axes = {{}, 0}})(Tensor(1.0, DType::float64), wide)), testing::HasSubstr("cond("));
    EXPECT_THAT(text_of(vmap(f)(p, wide)), testing::Not(testing::HasSubstr("cond(")));
    // Derivatives of maps, maps of derivatives.
    auto slope = [&](const Tensor& x) { return grad([&](const Tensor& x) { return sum(of(sum(x), x, 0)); })(x); };
    auto sums = [&](const Tensor& x) { return sum(vmap([&](const Tensor& x) { return of(sum(x), x, 0); })(x)); };
    expect_near(vmap(slope)(wide), grad(sums)(wide), 1e-12);
    EXPECT_EQ(vmap(f)(zeros({0}, DType::float64), zeros({0, 2, 3}, DType::float64)).dims(), (Dims{0, 2, 3}));
}

TEST(Cond, within_loops_and_around_them) {
    // |x| by a conditional in a scan, whose steps are its derivative's too.
    auto halves = [](const Tensor& xs) {
        return scan(
            [](Values c, Values x) -> ScanStep {
                Tensor next = cond(
                    greater(x[0], 0.0), [&](Values v) { return Tensors{v[0] * x[0]}; },
                    [](Values v) { return Tensors{v[0] - sin(v[1])}; }, {c[0], x[0]})[0];
                return {{next}, {next}};
            },
            {Tensor(1.0, DType::float64)}, {xs});
    };
    auto unrolled = [](const Tensor& xs) {
        Tensor c(1.0, DType::float64), all;
        for (std::int64_t i = 0; i < 6; ++i) {
            Tensor x = reshape(slice(xs, {i}, {1}), {});
            c = where(greater(x, 0.0), c * x, c - sin(x));
            all = all ? all + c * c : c * c;
        }
        return all;
    };
    auto loss = [&](const Tensor& xs) {
        Tensor ys = halves(xs).ys[0];
        return sum(ys * ys);
    };
    Tensor xs = draw({6}, 3);
    expect_near(loss(xs), unrolled(xs), 1e-12);
    expect_near(grad(loss)(xs), grad(unrolled)(xs));
    expect_near(compile(grad(loss))(xs), grad(unrolled)(xs));
    auto second = [](auto f) { return grad([f](const Tensor& x) { return sum(sin(grad(f)(x))); }); };
    expect_near(second(loss)(xs), second(unrolled)(xs), 1e-8);
    expect_near(vmap(grad(loss))(draw({3, 6}, 7)), vmap(grad(unrolled))(draw({3, 6}, 7)));

    // In a while_loop: Collatz's steps; around loops, one of which is not run.
    auto collatz = [](const Tensor& n) {
        return while_loop([](Values c) { return greater(c[0], std::int64_t{1}); },
                          [](Values c) -> Tensors {
                              Tensor even = equal(remainder(c[0], std::int64_t{2}), std::int64_t{0});
                              Tensor next = cond(
                                  even, [](Values v) { return Tensors{floor_divide(v[0], std::int64_t{2})}; },
                                  [](Values v) { return Tensors{v[0] * 3 + 1}; }, {c[0]})[0];
                              return {next, c[1] + 1};
                          },
                          {n, Tensor(std::int64_t{0})})[1];
    };
    EXPECT_EQ(collatz(Tensor(std::int64_t{27})).item<std::int64_t>(), 111);
    EXPECT_EQ(numbers(vmap(collatz)(Tensor::of<std::int64_t>({1, 27, 6}))), (Doubles{0, 111, 8}));
    Tensor endless = cond(
        truth(true), [](Values x) { return Tensors{x[0]}; },
        [](Values x) -> Tensors {
            return while_loop([](Values) { return truth(true); }, [](Values c) -> Tensors { return {c[0] + 1}; },
                              {x[0]});
        },
        {Tensor(7.0)})[0];
    EXPECT_EQ(endless.item<float>(), 7);
    // One within another.
    auto sign_of = [](const Tensor& x) {
        return cond(
            greater(x, 0.0), [](Values) { return Tensors{Tensor(1.0)}; },
            [](Values v) {
                return cond(
                    less(v[0], 0.0), [](Values) { return Tensors{Tensor(-1.0)}; },
                    [](Values) { return Tensors{Tensor(0.0)}; });
            },
            {x})[0];
    };
    for (double x : {2.0, -2.0, 0.0}) EXPECT_EQ(sign_of(Tensor(x)).item<float>(), x / 2);
}

// Small branches in small steps, which are computed many at a time: of each step its own branch, whatever the other one would give.
TEST(Cond, small_branches_in_many_steps) {
    Tensor xs = draw({200}, 3), zero(std::int64_t{0});
    auto step = [&](bool conditional) {
        return [=](Values c, Values x) -> ScanStep {
            Branch yes = [=](Values v) -> Tensors {
                return {sqrt(v[0]) - v[1], floor_divide(v[2], v[2] - v[2] + 3), v[2]};
            };
            Branch no = [=](Values v) -> Tensors { return {v[1] * 0.5, v[2] + 1, floor_divide(v[2], v[2] - v[2])}; };
            Tensor p = greater(x[0], 0.0);
            Tensors given{x[0], c[0], c[1]}, found;
            if (conditional) {
                found = cond(p, yes, no, given);
            } else {
                Tensors a = yes(given), b = no(given);
                for (std::size_t i = 0; i < 3; ++i) found.push_back(where(p, a[i], b[i]));
            }
            return {{found[0], found[1]}, {found[0] * x[0], found[2]}};
        };
    };
    auto all = [&](bool conditional) {
        Scanned found = scan(step(conditional), {Tensor(1.0, DType::float64), Tensor(std::int64_t{5})}, {xs});
        return Tensors{found.carry[0], found.carry[1], found.ys[0], found.ys[1]};
    };
    Tensors found = all(true), expected = all(false);
    eval(found), eval(expected);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(numbers(found[i]), numbers(expected[i])) << "value " << i;
        EXPECT_EQ(numbers(Tensor(interpret(all(true)[i]))), numbers(expected[i])) << "value " << i;
    }
    EXPECT_FALSE(std::isnan(numbers(found[0])[0]));
    auto kernels = [](const Tensor& x) { return explain(x).kernels; };
    EXPECT_EQ(kernels(all(true)[0]).find("by cond"), std::string::npos);
    // Of many elements the branch alone is computed.
    auto large = [&](const Tensor& xs) {
        return scan(
                   [](Values c, Values x) -> ScanStep {
                       return {cond(
                                   greater(x[0], 0.0), [](Values v) { return Tensors{v[0] * 2}; },
                                   [](Values v) { return Tensors{-v[0]}; }, {c[0]}),
                               {}};
                   },
                   {ones({100})}, {xs})
            .carry[0];
    };
    EXPECT_THAT(kernels(large(xs)), testing::HasSubstr("by cond"));
}

TEST(Cond, takes_inputs_however_they_lie_named_sizes_and_parameters) {
    Tensor x = Tensor(permute_dims(draw({3, 2}, 1), {1, 0}).array());  // an array with gaps
    auto twice = [](Values v) -> Tensors { return {v[0] * 2}; };
    auto same = [](Values v) -> Tensors { return {v[0]}; };
    expect_near(cond(truth(true), twice, same, {x})[0], x * 2, 0);
    expect_near(cond(truth(false), twice, same, {x})[0], x, 0);
    for (std::int64_t n : {0, 1}) EXPECT_EQ(cond(truth(n == 0), twice, same, {zeros({n, 3})})[0].dims(), (Dims{n, 3}));

    Tensor given = input("x", {"n"}, DType::float64);
    CompiledFunction declared = function({given}, cond(greater(sum(given), 0.0), twice, same, {given}));
    expect_near(declared(Tensors{ones({4}, DType::float64)})[0], full({4}, 2.0, DType::float64), 0);
    expect_near(declared(Tensors{-ones({3}, DType::float64)})[0], -ones({3}, DType::float64), 0);

    Parameter w(Tensor(3.0), "w");
    auto reads = compile([&](const Tensor& x) {
        return cond(greater(x, 0.0), [&](Values v) { return Tensors{v[0] * w.value()}; }, same, {x})[0];
    });
    EXPECT_EQ(reads(Tensor(2.0)).item<float>(), 6);
    w.set(Tensor(4.0));
    EXPECT_EQ(reads(Tensor(2.0)).item<float>(), 8);
    EXPECT_EQ(reads(Tensor(-2.0)).item<float>(), -2);
}

TEST(Cond, has_the_same_bits_on_any_number_of_threads_and_may_be_chained) {
    Tensor x = random::normal({64, 300}, 0, 1, random::key(1)), w = random::normal({300, 300}, 0, 0.1, random::key(2));
    Doubles first;
    for (int threads : {1, 2, 3}) {
        Threads with(threads);
        clear_caches();
        Tensor y = cond(
            truth(true), [&](Values v) { return Tensors{tanh(matmul(v[0], w))}; },
            [](Values v) { return Tensors{v[0]}; }, {x})[0];
        Doubles found = numbers(y);
        if (first.empty()) first = found;
        EXPECT_EQ(found, first) << threads << " threads";
    }
    clear_caches();
    Tensor count(0.0);
    Tensor holds = truth(true);
    const auto links = static_cast<int>(cases(3000));
    for (int i = 0; i < links; ++i)
        count = cond(
            holds, [](Values v) { return Tensors{v[0] + 1}; }, [](Values v) { return Tensors{v[0]}; }, {count})[0];
    EXPECT_EQ(count.item<float>(), static_cast<float>(links));
}

TEST(Cond, refuses_what_does_not_fit) {
    Branch same = [](Values v) { return Tensors(v.begin(), v.end()); };
    Tensor yes = truth(true);
    EXPECT_THAT(message<DTypeError>([&] { cond(Tensor(1.0), same, same); }),
                testing::HasSubstr("cond: the predicate must be one truth value, bool (), but is float32 (); write a "
                                   "comparison (x != 0)\n  at "));
    EXPECT_THAT(
        message<ShapeError>([&] { cond(greater(zeros({3}), 0.0), same, same); }),
        testing::HasSubstr("but is bool (3,); join the truth values of many elements by all or any, or choose for "
                           "each with where(condition, a, b)"));
    EXPECT_THAT(
        message<ValueError>([&] { cond(yes, same, [](Values) { return Tensors{}; }, {Tensor(1.0)}); }),
        testing::HasSubstr(
            "cond: the branches must give as many results, but gave 1 where the predicate holds and 0 where not"));
    EXPECT_THAT(message<DTypeError>([&] {
                    cond(yes, same, [](Values v) { return Tensors{astype(v[0], DType::int64)}; }, {Tensor(1.0)});
                }),
                testing::HasSubstr("cond: result 0 is float32 () where the predicate holds and int64 () where not; "
                                   "convert one of them with astype"));
    EXPECT_THAT(message<ShapeError>(
                    [&] { cond(yes, same, [](Values v) { return Tensors{reshape(v[0], {1})}; }, {Tensor(1.0)}); }),
                testing::HasSubstr("cond: result 0 is float32 () where the predicate holds and float32 (1,) where not; "
                                   "both branches give the same shapes"));
    EXPECT_THAT(message<ValueError>([&] {
                    cond(yes, [](Values v) { return v[0].item<float>() > 0 ? Tensors{v[0]} : Tensors{}; }, same,
                         {Tensor(1.0)});
                }),
                testing::HasSubstr("cond: a number is asked for that depends on a branch"));
}

}  // namespace
}  // namespace weft
