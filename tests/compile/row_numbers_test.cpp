// Numbers of rows that the parts which read them make: which parts go, and that the bits stay.
#include "weft/compile/row_numbers.h"

#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// Of the only step of rows how many parts it has, and how many are left: the same if none goes.
std::pair<std::size_t, std::size_t> parts_left(const std::vector<Tensor>& outputs) {
    Graph graph = rewritten_graph(outputs);
    Plan plan = make_plan(graph);
    for (const Step& step : plan.steps) {
        if (step.kind != Step::rows) continue;
        std::optional<Step> fewer = numbers_in_readers(plan, graph, step);
        return {step.parts.size(), fewer ? fewer->parts.size() : step.parts.size()};
    }
    return {0, 0};
}

using Parts = std::pair<std::size_t, std::size_t>;

/// (x - mean) / deviation, as the parts of a layer norm are.
Tensor centred_by(const Tensor& x) {
    Tensor moved = x - mean(x, -1, true);
    return moved * rsqrt(mean(square(moved), -1, true) + 1e-5f);
}

TEST(RowNumbers, are_made_where_they_are_read) {
    Tensor x = numbers("numbers", {20, 1000});
    EXPECT_EQ(parts_left({softmax(x)}), Parts(5, 4));
    auto [before, after] = parts_left({centred_by(x)});
    EXPECT_EQ(after, before - 2);  // the mean, and the inverse of the deviation
}

TEST(RowNumbers, of_short_rows_have_parts_of_their_own) {
    EXPECT_EQ(parts_left({softmax(numbers("short", {20, 300}))}), Parts(5, 5));
    EXPECT_EQ(parts_left({softmax(numbers("far", {4000, 300}))}), Parts(5, 4));  // unless they come from far
    auto logarithm = [](const Tensor& x) { return x - log(sum(square(x), -1, true)); };
    EXPECT_EQ(parts_left({logarithm(numbers("far", {4000, 300}))}), Parts(3, 3));  // and are no logarithms
    EXPECT_EQ(parts_left({logarithm(numbers("far", {4000, 600}))}), Parts(3, 2));
    EXPECT_EQ(parts_left({softmax(numbers("many", {100'000, 30}))}), Parts(5, 5));
}

TEST(RowNumbers, loops_that_are_shown_are_those_that_run) {
    Graph graph = rewritten_graph({softmax(numbers("shown", {20, 1000}))});
    auto plan = std::make_shared<const Plan>(make_plan(graph));
    auto binding = weft::bind(plan, graph, cpu_compiler(), {.keep_loops = true});
    ASSERT_EQ(binding->steps.size(), 1u);
    EXPECT_EQ(binding->steps[0].loops.size(), cpu_compiler().turns() != Turns::plain ? 4u : 5u);
}

TEST(RowNumbers, that_others_want_stay) {
    Tensor x = numbers("wanted", {300, 1000}), inverse = 1.f / sum(exp(x), 1, true);
    EXPECT_EQ(parts_left({exp(x) * inverse, inverse}).first, parts_left({exp(x) * inverse, inverse}).second);
    Tensor scaled = x * inverse;  // a sum over the rows reads them as well
    std::vector<Tensor> with_sums{scaled, sum(square(x) * inverse, 0)};
    EXPECT_EQ(parts_left(with_sums).first, parts_left(with_sums).second);
    expect_values(with_sums, 1000);
    // A product reads the second number, which is no loop.
    expect_bits_in_blocks({scaled, matmul(inverse, numbers("weights", {1, 50}))});
}

TEST(RowNumbers, are_made_of_others) {
    Tensor x = numbers("chain", {40, 600}), norm = rsqrt(sum(square(x), 1, true) + 1.f), twice = norm * 2.f + norm;
    Tensor outputs = exp(x * twice) + x * norm;
    auto [before, after] = parts_left({outputs});
    EXPECT_LT(after, before);
    expect_bits_in_blocks({outputs});
    expect_bits_in_blocks({exp(x * twice), x * norm, square(x) - sum(x * norm, 1, true)});
}

TEST(RowNumbers, leave_the_bits_as_they_are) {
    for (const Dims& dims : {Dims{70, 1024}, Dims{130, 513}, Dims{11, 3, 700}, Dims{3000, 400}, Dims{9000, 130}}) {
        for (DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
            Tensor x = numbers("bits", dims, dtype);
            expect_bits_in_blocks({softmax(x)});
            expect_bits_in_blocks({centred_by(x)});
            expect_bits_in_blocks({x / sum(square(x), -1, true), x - log(sum(exp(x), -1, true))});
            if (HasFailure()) return;
        }
        Tensor whole = numbers("whole", dims, DType::int64);
        expect_bits_in_blocks({whole * (max(whole, -1, true) - 3) + (min(whole, -1, true) + 2)});
        Tensor x = numbers("gradient", dims);
        expect_bits_in_blocks({gradient(sum(centred_by(x) * exp(x)), x), gradient(sum(softmax(x) * square(x)), x)});
        expect_bits_in_blocks({where(less(max(x, -1, true), 0.5f), x, -x)});  // a number that is a truth
        if (HasFailure()) return;
    }
}

// What is read by indices is not read row by row.
TEST(RowNumbers, that_are_picked) {
    Tensor x = numbers("picked", {200, 700}), table = numbers("table", {50, 1}), index = picks({200}, 50);
    expect_bits_in_blocks({x * (take(table, index, 0) * sum(exp(x), 1, true))});
    Tensor scale = 1.f / sum(exp(x), 1, true);
    expect_bits_in_blocks({take(numbers("columns", {200, 50}), picks({700}, 50), 1) * scale - x});
    Tensor rows = take(numbers("rows", {50, 700}), index, 0);
    expect_bits_in_blocks({rows - scale});
}

// Where a mean keeps no axis, what it is subtracted as is a view of it.
TEST(RowNumbers, that_are_read_through_views) {
    Tensor x = numbers("views", {50, 800});
    expect_bits_in_blocks({x - expand_dims(mean(x, 1) * 2.f, 1)});
    expect_bits_in_blocks({x * broadcast_to(expand_dims(1.f / sum(exp(x), 1), 1), {50, 800})});
    Tensor square_one = numbers("square", {600, 600});
    expect_bits_in_blocks({square_one - expand_dims(mean(square_one, 1) * 2.f, 1)});
    expect_bits_in_blocks({square_one - expand_dims(log(sum(exp(square_one), 1)) + 1.f, 1)});
    Tensor flat = log(sum(exp(square_one), 1)) + 1.f;
    expect_bits_in_blocks(
        {square_one - expand_dims(flat, 1), exp(flat), square(square_one) * expand_dims(sqrt(exp(flat)), 1)});
    Tensor deep = numbers("deep", {6, 10, 600}), whole = max(deep, 2, true) * 3.f;
    expect_bits_in_blocks({deep - whole, exp(deep + whole)});
    expect_bits_in_blocks({deep * (1.f / sum(deep, {1, 2}, true))});
}

}  // namespace
}  // namespace weft
