// Scans are loops: what is computed for them alone is computed in them, and never written down.
#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/random.h"
#include "weft/ops/scan.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// So many steps; running results are joined in one order everywhere, so bits agree.
void expect_steps(std::size_t steps, const Tensor& output) {
    auto binding = make_binding(graph_of({output}), {});
    EXPECT_EQ(binding->steps.size(), steps) << binding->str();
    Array expected = interpret(output);
    for (int threads : {1, 2}) {
        ThreadPool::instance().set_threads(threads);
        EXPECT_EQ(difference(expected, run_once(binding, graph_of({output}))[0], 0, 0), "") << threads << " threads";
    }
    ThreadPool::instance().set_threads(1);
}

TEST(Scans, of_every_type_and_axis_agree_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        for (ScanOptions options :
             {ScanOptions{}, ScanOptions{.reverse = true}, ScanOptions{.exclusive = true}, ScanOptions{true, true}}) {
            expect_steps(1, cumulative_sum(drawn({3, 7}, dtype), 1, options));
            expect_steps(1, cumulative_sum(drawn({6, 70}, dtype), 0, options));
            expect_steps(1, cumulative_sum(drawn({3, 1100}, dtype), 0, options));
            expect_steps(1, cumulative_sum(drawn({19, 131}, dtype), 1, options));
            expect_steps(1, cumulative_prod(drawn({2, 5, 3}, dtype), 1, options));
            expect_steps(1, cumulative_prod(drawn({8, 64}, dtype), 1, options));
        }
    }
    expect_steps(1, cumulative_sum(drawn({0, 3}), 0));
    expect_steps(1, cumulative_sum(drawn({3, 0}), 0));
}

// What the scan of a matrix gives at each place, one number after another along the axis.
std::vector<float> joined_in_order(const std::vector<float>& x, std::size_t rows, std::size_t columns, int axis,
                                   ScanOptions options) {
    std::vector<float> result(x.size());
    std::size_t count = axis == 0 ? rows : columns, lanes = axis == 0 ? columns : rows;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        float sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t along = options.reverse ? count - 1 - i : i;
            std::size_t at = axis == 0 ? along * columns + lane : lane * columns + along;
            float next = sum + x[at];
            result[at] = options.exclusive ? sum : next;
            sum = next;
        }
    }
    return result;
}

TEST(Scans, of_results_that_are_stored_past_the_caches_are_joined_in_order) {
    ThreadPool::instance().set_threads(2);
    for (std::size_t columns : {2060u, 2053u}) {  // rows that begin on 16 bytes, and rows that do not
        std::size_t rows = 2051;
        std::vector<float> x(rows * columns);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 13) - 5.9f;
        Array array =
            Array::empty(DType::float32, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
        std::copy(x.begin(), x.end(), array.data<float>());
        Tensor all(array);
        for (ScanOptions options : {ScanOptions{}, ScanOptions{true, true}})
            for (int axis : {0, 1})
                EXPECT_TRUE(cumulative_sum(all, axis, options).to_vector<float>() ==
                            joined_in_order(x, rows, columns, axis, options))
                    << columns << " columns, axis " << axis;
    }
    ThreadPool::instance().set_threads(1);
}

TEST(Scans, compute_what_they_join) {
    Tensor x = drawn({40, 300}), y = drawn({40, 300});
    for (std::int64_t axis : {0, 1}) {
        expect_steps(1, cumulative_sum(exp(x) * y, axis));
        expect_steps(1, cumulative_prod(1 - x * y, axis, {.reverse = true}));
        expect_steps(1, cumulative_sum(x.T() * 2, axis, {.exclusive = true}));
        expect_steps(1, cumulative_sum(x > 0.5, axis));
        expect_steps(1, cumulative_sum(where(iota(300) > expand_dims(iota(40), 1), x, 0), axis));
        expect_steps(2, cumulative_sum(take(x, remainder(flip(iota(40)), 7)) * y, axis));  // and the indices
    }
    expect_steps(1, cumulative_sum(random::normal({50000}, 0, 1, random::key(3)), 0));
    expect_steps(1, cumulative_sum(drawn({1, 70000}) * 2, 1));
    expect_steps(1, cumulative_sum(drawn({5000, 3}) * 2, 1));
}

TEST(Scans, are_named_in_the_plan) {
    Tensor output = exp(cumulative_sum(sin(drawn({3, 4})), 0));
    Graph graph = graph_of({output});
    std::string said = str(make_plan(graph), graph);
    EXPECT_NE(said.find("scan of sin %1, cumulative_sum %2"), said.npos) << said;
    EXPECT_NE(said.find("cumulative_sum is stored as it runs: its loop gives no points to others"), said.npos) << said;
}

TEST(Scans, what_others_read_too_comes_from_memory) {
    Tensor x = exp(drawn({30, 40}));
    expect_steps(3, cumulative_sum(x, 0) + x);
    expect_steps(2, exp(cumulative_sum(x, 1)));
}

}  // namespace
}  // namespace weft
