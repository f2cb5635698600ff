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
