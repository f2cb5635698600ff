// Programs of thousands of steps are planned in time that grows with their number, not with its square.
#include <gtest/gtest.h>

#include <memory>

#include "effort.h"
#include "growth.h"
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

TEST(ManySteps, each_reduction_looks_at_its_own_entries_alone) {
    KeepPending keep;
    auto planning = [](std::int64_t count) {
        Tensor x = Tensor::of<double>({1, 2, 3});
        std::vector<Tensor> sums;
        for (std::int64_t i = 0; i < count; ++i) sums.push_back(sum(sin(x * (1 + 1e-3 * static_cast<double>(i)))));
        Tensor all = stack(sums);
        Node* nodes[] = {all.node()};
        return [all, graph = std::make_shared<Graph>(gather(nodes))] { make_plan(*graph); };
    };
    EXPECT_LT(growth(7'500 / share, planning), linear);
}

TEST(ManySteps, the_gradient_of_a_join_finds_each_piece_where_the_one_before_ends) {
    KeepPending keep;
    auto deriving = [](std::int64_t count) {
        Tensor x = Tensor::of<double>({1, 2, 3});
        std::vector<Tensor> pieces;
        for (std::int64_t i = 0; i < count; ++i) pieces.push_back(x * (1 + 1e-3 * static_cast<double>(i)));
        return [x, loss = sum(concatenate(pieces))] { gradient(loss, x); };
    };
    EXPECT_LT(growth(25'000 / share, deriving), linear);
}

TEST(ManySteps, writes_to_rows_ask_for_the_order_of_each_with_its_neighbours_alone) {
    KeepPending keep;
    auto writing = [](std::int64_t rows) {
        Tensor x = exp(zeros({rows, 4})), h = ones({4});
        for (std::int64_t i = 0; i < rows; ++i) h = sin(h), x = x.at({i}).set(x[i] + h);
        return [x] { x.eval(); };
    };
    EXPECT_LT(growth(2'500 / share, writing), linear);
}

TEST(ManySteps, places_of_many_results_are_found_without_looking_at_all_that_is_read) {
    KeepPending keep;
    auto differentiating = [](std::int64_t rows) {
        Tensor x = exp(zeros({rows, 4})), first = ones({4}), h = first;
        for (std::int64_t i = 0; i < rows; ++i) h = sin(h), x = x.at({i}).set(h);
        return [slope = gradient(sum(square(x)), first)] { slope.eval(); };
    };
    EXPECT_LT(growth(500 / share, differentiating), linear);
}

}  // namespace
}  // namespace weft
