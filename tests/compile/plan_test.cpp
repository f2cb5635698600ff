#include "weft/compile/plan.h"

#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::size_t count_of_steps(std::initializer_list<Tensor> outputs) { return make_plan(graph_of(outputs)).steps.size(); }

Tensor layer(const Tensor& x, const Tensor& w) { return mean(square(tanh(matmul(x, w)) + 1)); }

TEST(PlanCache, another_batch_size_makes_no_new_plan) {
    clear_caches();
    layer(drawn({32, 8}), drawn({8, 4})).eval();
    CacheCount before = cache_count();
    layer(drawn({48, 8}), drawn({8, 4})).eval();
    CacheCount after = cache_count();
    EXPECT_EQ(after.plans_made, before.plans_made);
    EXPECT_EQ(after.bindings_made, before.bindings_made + 1);
    layer(drawn({48, 8}), drawn({8, 4})).eval();
    EXPECT_EQ(cache_count().bindings_made, after.bindings_made);
}

TEST(PlanCache, what_was_planned_is_found_again) {
    auto deep = [] {  // too large to be remembered beside the cache, as small expressions are
        Tensor x = drawn({5, 8});
        for (int i = 0; i < 40; ++i) x = tanh(x) * 0.5;
        return sum(x);
    };
    deep().eval();
    CacheCount before = cache_count();
    deep().eval();
    EXPECT_EQ(cache_count().hits, before.hits + 1);
    EXPECT_EQ(cache_count().plans_made, before.plans_made);
}

TEST(PlanCache, sizes_of_one_and_sizes_that_are_equal_are_another_program) {
    auto structure = [](const Dims& a, const Dims& b) { return graph_of({drawn(a) + drawn(b)}).structure; };
    EXPECT_EQ(structure({5, 3}, {5, 3}), structure({7, 4}, {7, 4}));
    EXPECT_FALSE(structure({5, 3}, {5, 3}) == structure({5, 3}, {5, 1}));
    EXPECT_FALSE(structure({5, 3}, {5, 3}) == structure({5, 3}, {3}));
    EXPECT_FALSE(structure({5, 3}, {5, 3}) == structure({3, 3}, {3, 3}));
    EXPECT_FALSE(graph_of({drawn({3}) + 1}).structure == graph_of({drawn({3}) + 2}).structure);
    EXPECT_FALSE(graph_of({drawn({3, 4})}).structure ==
                 graph_of({Tensor(Array::zeros(DType::int64, {3, 4}))}).structure);
}

TEST(PlanCache, a_slice_elsewhere_is_the_same_program) {
    auto structure = [](std::int64_t start) {
        return graph_of({exp(slice(drawn({100, 3}), {start, 0}, {10, 3}))}).structure;
    };
    EXPECT_EQ(structure(0), structure(50));
}

TEST(Gather, equal_expressions_are_one) {
    Tensor x = input("x", {3}), y = sin(x + 1) * sin(x + 1.0);
    EXPECT_EQ(str(graph_of({y})),
              "%0 = input(name=x, id=" + std::to_string(x.node()->attributes_as<InputAttributes>().id) +
                  ", shape=(3,), dtype=float32) float32 (3,)\n"
                  "%1 = constant(value=1, dtype=float32) float32 ()\n%2 = add(%0, %1) float32 (3,)\n%3 = sin(%2) "
                  "float32 (3,)\n"
                  "%4 = constant(value=1, dtype=float32) float32 ()\n%5 = add(%0, %4) float32 (3,)\n%6 = sin(%5) "
                  "float32 (3,)\n%7 = multiply(%3, %6) float32 (3,)\noutputs: %7\n");
}

TEST(Gather, long_graphs_are_abbreviated_in_the_middle) {
    Tensor y = input("x", {3});
    for (int i = 0; i < 1000; ++i) y = -y;
    std::string shown = str(graph_of({y}), 6);
    EXPECT_NE(shown.find("\n... 995 more ...\n"), std::string::npos) << shown;
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 8);
}

TEST(Partition, an_elementwise_chain_is_one_kernel) {
    Tensor x = drawn({4, 5}), y = drawn({5});
    EXPECT_EQ(count_of_steps({exp(x) * y + sin(x) / y}), 1u);
    EXPECT_EQ(count_of_steps({exp(x) * y + sin(x) / (1 + y)}), 2u);  // 1 + y is computed for one row, not for each
}

TEST(Partition, what_reads_the_same_memory_is_one_kernel) {
    Tensor x = drawn({4, 5});
    EXPECT_EQ(count_of_steps({exp(x), sin(x), x * 2}), 1u);
}

TEST(Partition, a_chain_that_only_a_reduction_reads_is_part_of_it) {
    Tensor x = drawn({4, 5});
    EXPECT_EQ(count_of_steps({sum(square(x - 1), 1)}), 1u);
    Tensor shared = exp(x);
    EXPECT_EQ(make_plan(graph_of({sum(shared, 1), shared}), {.rows = false}).steps.size(), 2u);
}

TEST(Partition, softmax_is_a_maximum_a_sum_and_maps) {
    Tensor x = drawn({4, 5});
    EXPECT_LE(make_plan(graph_of({softmax(x)}), {.rows = false}).steps.size(), 4u);
}

// The kernel between two products writes what the second reads, and nothing that is only read after it.
TEST(Partition, what_only_a_later_kernel_reads_is_made_there_of_arrays_that_lie_in_memory) {
    auto members_between = [](Tensor (*slope)(const Tensor& h, const Tensor& y)) {
        Tensor h = matmul(drawn({8, 4}), drawn({4, 4})), y = tanh(h);
        Tensor z = matmul(y, drawn({4, 4})) * slope(h, y);
        return make_plan(graph_of({z}), {.rows = false}).steps.at(1).members.size();
    };
    EXPECT_EQ(members_between([](const Tensor& h, const Tensor&) { return h + 1; }), 1u);
    EXPECT_EQ(members_between([](const Tensor& h, const Tensor&) { return h * 0.5 * h + h; }), 1u);
    EXPECT_EQ(members_between([](const Tensor& h, const Tensor& y) { return y * exp(-h) + y; }),
              5u);  // neither is kept
}

TEST(Partition, what_is_made_of_two_arrays_moves_where_one_is_kept_anyway) {
    Tensor h = matmul(drawn({8, 4}), drawn({4, 4})), y = tanh(h), late = matmul(y, drawn({4, 4}));
    Plan plan = make_plan(graph_of({late * y + (y * exp(-h) + y)}), {.rows = false});
    EXPECT_EQ(plan.steps.at(1).members.size(), 1u);
}

TEST(Partition, views_cost_no_kernel) {
    Tensor x = drawn({4, 6});
    EXPECT_EQ(count_of_steps({x.T()}), 0u);
    EXPECT_EQ(count_of_steps({exp(flip(x.T(), {0}))}), 1u);
    EXPECT_EQ(count_of_steps({reshape(x, {24})}), 0u);
    EXPECT_EQ(count_of_steps({reshape(x.T(), {24})}), 1u);
}

TEST(Partition, kernels_without_fusion_are_one_an_operation) {
    Tensor x = drawn({4, 5});
    Graph graph = graph_of({exp(sin(x) + 1)});
    EXPECT_EQ(make_plan(graph, {.fuse = false}).steps.size(), 3u);
}

TEST(Partition, long_chains_are_cut) {
    Tensor y = drawn({4});
    KeepPending keep;
    for (int i = 0; i < 1000; ++i) y = sin(y);
    EXPECT_EQ(count_of_steps({y}), 4u);
    EXPECT_EQ(make_plan(graph_of({y}), {.longest = 100}).steps.size(), 10u);
}

}  // namespace
}  // namespace weft
