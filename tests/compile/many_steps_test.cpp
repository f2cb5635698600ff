// Programs of thousands of steps are planned in time that grows with their number, not with its square.
#include <gtest/gtest.h>

#include <ctime>

#include "effort.h"
#include "weft/autodiff/derivative.h"
#include "weft/compile/plan.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

constexpr std::int64_t share = share_under_sanitizers;

// Of the processor, so that other programs do not count.
double seconds_of(auto f) {
    std::clock_t start = std::clock();
    f();
    double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%.3f s\n", seconds);
    return seconds;
}

TEST(ManySteps, each_reduction_looks_at_its_own_entries_alone) {
    KeepPending keep;
    Tensor x = Tensor::of<double>({1, 2, 3});
    std::vector<Tensor> sums;
    for (std::int64_t i = 0; i < 60'000 / share; ++i) sums.push_back(sum(sin(x * (1 + 1e-3 * static_cast<double>(i)))));
    Tensor all = stack(sums);
    Node* nodes[] = {all.node()};
    Graph graph = gather(nodes);
    EXPECT_LT(seconds_of([&] { make_plan(graph); }), 2);
}

TEST(ManySteps, the_gradient_of_a_join_finds_each_piece_where_the_one_before_ends) {
    KeepPending keep;
    Tensor x = Tensor::of<double>({1, 2, 3});
    std::vector<Tensor> pieces;
    for (std::int64_t i = 0; i < 100'000 / share; ++i) pieces.push_back(x * (1 + 1e-3 * static_cast<double>(i)));
    Tensor loss = sum(concatenate(pieces));
    EXPECT_LT(seconds_of([&] { gradient(loss, x); }), 2);
}

TEST(ManySteps, writes_to_rows_ask_for_the_order_of_each_with_its_neighbours_alone) {
    KeepPending keep;
    std::int64_t rows = 20'000 / share;
    Tensor x = exp(zeros({rows, 4})), h = ones({4});
    for (std::int64_t i = 0; i < rows; ++i) h = sin(h), x = x.at({i}).set(x[i] + h);
    EXPECT_LT(seconds_of([&] { x.eval(); }), 4);
}

TEST(ManySteps, places_of_many_results_are_found_without_looking_at_all_that_is_read) {
    KeepPending keep;
    std::int64_t rows = 4'000 / share;
    Tensor x = exp(zeros({rows, 4})), first = ones({4}), h = first;
    for (std::int64_t i = 0; i < rows; ++i) h = sin(h), x = x.at({i}).set(h);
    Tensor slope = gradient(sum(square(x)), first);
    EXPECT_LT(seconds_of([&] { slope.eval(); }), 2);
}

}  // namespace
}  // namespace weft
