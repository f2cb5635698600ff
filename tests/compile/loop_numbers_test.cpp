// Steps that join a few numbers are written number by number, and mean what they meant.
#include "weft/compile/loop_numbers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "effort.h"
#include "unrolled.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/while.h"
#include "weft/compile/numbers.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

Tensor drawn_numbers(const Shape& shape, std::int64_t seed, DType dtype = DType::float64) {
    Tensor numbers = random::normal(shape, 0, 1, random::key(seed), dtype) * 0.3;
    numbers.eval();  // else what they are made of is part of each step computed by itself
    return numbers;
}

std::vector<double> doubles(const Tensor& x) { return astype(x, DType::float64).to_vector<double>(); }

Tensors all_of(const Scanned& scanned) {
    Tensors all = scanned.carry;
    all.insert(all.end(), scanned.ys.begin(), scanned.ys.end());
    return all;
}

/// `error` 0: the same bits.
void expect_as_stepped(const StepFunction& f, const Tensors& init, const Tensors& xs, std::int64_t steps,
                       double error) {
    for (bool reverse : {false, true}) {
        Tensors found = all_of(scan(f, init, xs, {.length = steps, .reverse = reverse}));
        Tensors expected = all_of(unrolled(f, init, xs, {.length = steps, .reverse = reverse}, true));
        eval(found);
        for (std::size_t k = 0; k < found.size(); ++k) {
            std::vector<double> one = doubles(found[k]), other = doubles(expected[k]);
            ASSERT_EQ(one.size(), other.size());
            for (std::size_t i = 0; i < one.size(); ++i) {
                if (std::isnan(one[i]) && std::isnan(other[i])) continue;
                if (std::isinf(one[i]) && one[i] == other[i]) continue;
                ASSERT_NEAR(one[i], other[i], error * (1 + std::abs(other[i]))) << "value " << k << ", number " << i;
                if (error == 0) {
                    ASSERT_EQ(std::signbit(one[i]), std::signbit(other[i]));
                }
            }
        }
    }
}

std::optional<LoopOfNumbers> numbers_of(const Tensor& result, bool collected = false) {
    const Node& loop = *result.node()->inputs[0];
    std::vector<Layout> layouts;
    for (const Node* input : loop.inputs) {
        Dims dims = dims_of(input->shape);
        layouts.push_back({input->dtype, dims, contiguous_strides(dims)});
    }
    LoopResultAttributes shown{collected, 0};
    return loop_of_numbers(loop.attributes_as<LoopAttributes>(), layouts, {&shown, 1}, {});
}

// 130 steps: some at once, and some that are left over; 331: the same several times, which a sanitizer makes slow.
class NumbersOf : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Numbers, NumbersOf,
                         testing::ValuesIn(share_under_sanitizers > 1 ? std::vector<std::int64_t>{64, 130}
                                                                      : std::vector<std::int64_t>{64, 130, 331}));

TEST_P(NumbersOf, products_of_small_matrices_have_the_bits_of_kernels) {
    for (std::int64_t n : {2, 3, 4}) {
        Tensor a = drawn_numbers({n, n}, n, DType::float32), q = drawn_numbers({n, n}, 8, DType::float32);
        StepFunction step = [&](std::span<const Tensor> c, std::span<const Tensor>) -> ScanStep {
            return {{matmul(a, c[0]) + q}, {c[0]}};
        };
        expect_as_stepped(step, {drawn_numbers({n, n}, 9, DType::float32)}, {}, GetParam(), 0);
    }
}

TEST_P(NumbersOf, views_joins_and_sums_are_those_of_arrays) {
    Tensor w = drawn_numbers({3, 4}, 1), line = drawn_numbers({4}, 2);
    StepFunction step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        Tensor y = matmul(x[0], w);                                  // (2, 4)
        Tensor turned = matrix_transpose(flip(c[0], {1}));           // (4, 2)
        Tensor joined = concatenate({turned, matrix_transpose(y)});  // (8, 2)
        Tensor rows = sum(joined, 0) + max(joined, 0) - min(joined, {0}) + prod(joined * 0.5 + 1, 0);
        Tensor part = slice(joined, {1, 0}, {4, 2}, {2, 1});
        Tensor next = tanh(reshape(part, {2, 4}) + expand_dims(rows, 1) * line) * 0.5 + c[0] * 0.1;
        Tensor wide = pad(sum(next, 1), {1}, {2}, 0.25);
        Tensor inside = pad_interior(sum(c[0], 1), {1}, {0}, {1});
        return {{next, c[1] + x[1]}, {wide, inside, sum(next, {0, 1}), c[0], x[0], y, iota(3), c[1], joined}};
    };
    Tensors init{drawn_numbers({2, 4}, 3), Tensor(std::int64_t{1})};
    Tensors xs{drawn_numbers({GetParam(), 2, 3}, 4), iota(GetParam())};
    expect_as_stepped(step, init, xs, GetParam(), 1e-12);
    // Slices that lie apart in memory, and one that is the same in each step.
    Tensor across = permute_dims(drawn_numbers({3, 2, GetParam()}, 5), {2, 1, 0});
    expect_as_stepped(step, init, {across, xs[1]}, GetParam(), 1e-12);
    across.eval();
    expect_as_stepped(step, init, {across, xs[1]}, GetParam(), 1e-12);
    Tensor again = broadcast_to(drawn_numbers({2, 3}, 6), {GetParam(), 2, 3});
    expect_as_stepped(step, init, {again, xs[1]}, GetParam(), 1e-12);
}

TEST_P(NumbersOf, truth_values_and_what_is_not_finite_come_out_as_of_arrays) {
    double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    StepFunction step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        Tensor some = any(x[0] > 0.3, {0}), every = all(x[0], {0});
        Tensor next = where(some, c[0] + max(x[0]), c[0] * 0.5) - min(x[0]);
        return {{next, logical_and(c[1], every)},
                {some, every, c[1], sum(x[0]), max(x[0]), min(x[0]), sum(-abs(x[0]))}};
    };
    Tensor x = drawn_numbers({GetParam(), 3}, 1);
    expect_as_stepped(step, {drawn_numbers({2}, 2), Tensor(true)}, {x}, GetParam(), 1e-12);
    std::vector<double> odd = doubles(x);
    odd[4] = nan, odd[40] = inf, odd[41] = -inf, odd[60] = odd[61] = odd[62] = -0.0, odd[90] = 0, odd[91] = -0.0;
    Tensor strange = Tensor::of(odd, {GetParam(), 3});
    StepFunction shown = [&](std::span<const Tensor> c, std::span<const Tensor> y) -> ScanStep {
        return {{c[0] + 1}, {sum(y[0]), max(y[0]), min(y[0])}};
    };
    expect_as_stepped(shown, {drawn_numbers({2}, 2)}, {strange}, GetParam(), 0);
}

TEST_P(NumbersOf, derivatives_are_those_of_steps) {
    Tensor a = drawn_numbers({3, 3}, 1), x = drawn_numbers({GetParam(), 3}, 2), h = drawn_numbers({3}, 3);
    StepFunction step = [&](std::span<const Tensor> c, std::span<const Tensor> y) -> ScanStep {
        Tensor s = exp(matmul(a, c[0]) - max(c[0]));
        return {{s / sum(s) + y[0] * 0.5}, {s}};
    };
    auto slopes = [&](const Scanned& all) {
        Tensor loss = sum(all.carry[0] * all.carry[0]) + sum(sin(all.ys[0]));
        Tensors found{gradient(loss, a), gradient(loss, x), gradient(loss, h)};
        return found;
    };
    Tensors found, expected;
    {
        KeepPending keep;
        found = slopes(scan(step, {h}, {x}));
        Tensors carry{h}, ys;
        for (std::int64_t t = 0; t < GetParam(); ++t) {
            ScanStep one = step(carry, Tensors{squeeze(slice(x, {t, 0}, {1, 3}), {0})});
            carry = one.carry, ys.push_back(one.y[0]);
        }
        expected = slopes({carry, {stack(ys, 0)}});
    }
    for (std::size_t k = 0; k < found.size(); ++k) {
        std::vector<double> one = doubles(found[k]), other = doubles(expected[k]);
        for (std::size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(one[i], other[i], 1e-11 * (1 + std::abs(other[i])));
    }
}

TEST(Numbers, a_loop_that_ends_by_a_condition_ends_where_it_does) {
    for (double bound : {0.5, 3.0, 20.3, 150.0}) {
        Tensor a = drawn_numbers({2, 2}, 1), start = drawn_numbers({2, 2}, 2);
        auto body = [&](std::span<const Tensor> c) -> Tensors {
            return {matmul(a, c[0]) + 1, c[1] + 1 + 0 * sum(c[0]), c[2] + 1};
        };
        auto goes_on = [&](std::span<const Tensor> c) { return c[1] < bound; };
        Tensors found = while_loop(goes_on, body, {start, Tensor(0.0, DType::float64), Tensor(std::int64_t{0})});
        Tensors now{start, Tensor(0.0, DType::float64), Tensor(std::int64_t{0})};
        while (goes_on(now).item<bool>()) now = body(now), eval(now);
        eval(found);
        EXPECT_EQ(found[2].item<std::int64_t>(), now[2].item<std::int64_t>());
        std::vector<double> one = doubles(found[0]), other = doubles(now[0]);
        for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-12);
    }
}

TEST(Numbers, what_is_the_same_in_each_step_is_collected_whatever_its_type) {
    for (DType dtype : {DType::bool_, DType::int32, DType::uint8, DType::float32, DType::complex64}) {
        Tensor same = astype(Tensor::of<std::int32_t>({1, 0, 1}), dtype).eval();
        StepFunction step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
            return {{tanh(c[0] + sum(x[0]))}, {same}};
        };
        Scanned all = scan(step, {zeros({}, DType::float64)}, {drawn_numbers({70, 3}, 5)});
        Tensor last = reshape(slice(all.ys[0], {69, 0}, {1, 3}), {3});
        EXPECT_EQ(doubles(dtype == DType::complex64 ? real(last) : last), (std::vector<double>{1, 0, 1})) << dtype;
    }
}

TEST(Numbers, small_steps_that_join_are_written_by_number_and_others_are_not) {
    KeepPending keep;
    auto loop = [](std::int64_t n, std::int64_t steps, auto&& step) {
        Tensor a = input("a", {n, n}, DType::float32), c = input("c", {n, n}, DType::float32);
        return scan(
                   [&](std::span<const Tensor> carry, std::span<const Tensor>) -> ScanStep {
                       return {{step(a, carry[0])}, {}};
                   },
                   {c}, {}, {.length = steps})
            .carry[0];
    };
    auto product = [](const Tensor& a, const Tensor& c) { return matmul(a, c); };
    auto two = numbers_of(loop(2, 100, product));
    ASSERT_TRUE(two);
    EXPECT_EQ(two->loop.carried, 4u);
    EXPECT_EQ(two->inputs.size(), 8u);
    EXPECT_EQ(two->instructions, 8);
    EXPECT_EQ(two->results.size(), 4u);
    EXPECT_FALSE(numbers_of(loop(2, 8, product))) << "a few steps are not worth the code";
    EXPECT_FALSE(numbers_of(loop(16, 100, product))) << "a kernel is faster";
    EXPECT_FALSE(numbers_of(loop(64, 100, product)));
    EXPECT_FALSE(numbers_of(loop(2, 100, [](const Tensor& a, const Tensor& c) { return a * c; })))
        << "a map is computed many steps at a time as it is";
    auto rows = [](std::int64_t n) {
        auto step = [](std::span<const Tensor> carry, std::span<const Tensor>) -> ScanStep {
            Tensor e = exp(carry[0] - max(carry[0], {0}, true));
            return {{e / sum(e, {0}, true)}, {}};
        };
        return scan(step, {input("c", {n}, DType::float32)}, {}, {.length = 100}).carry[0];
    };
    EXPECT_TRUE(numbers_of(rows(16))) << "two kernels pass a row of few numbers";
    EXPECT_FALSE(numbers_of(rows(64)));
}

}  // namespace
}  // namespace weft
