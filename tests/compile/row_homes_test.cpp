#include "weft/compile/row_homes.h"

#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::shared_ptr<const Binding> bound_for(const Graph& graph, std::vector<std::int32_t> donors = {}) {
    auto plan = std::make_shared<const Plan>(make_plan(graph));
    return weft::bind(plan, graph, cpu_compiler(), {.donors = std::move(donors)});
}

std::size_t scratch_bytes(const Binding& binding) { return binding.arena_bytes - binding.scratch_offset; }

constexpr std::size_t of_a_block = 32 * 1024 * 4;  // a softmax's exponentials of as many rows of 1,024 as a block has

TEST(RowHomes, exponentials_lie_where_quotients_will) {
    Tensor x = numbers("homes", {256, 1024});
    EXPECT_LT(scratch_bytes(*bound_for(rewritten_graph({softmax(x)}))), of_a_block);
    for (Dims dims : {Dims{256, 1024}, Dims{300, 257}, Dims{33, 7, 100}, Dims{2, 60000}, Dims{1, 5}, Dims{0, 5}})
        expect_values({softmax(numbers("homes", dims))}, 1000);
}

TEST(RowHomes, nothing_lies_where_the_step_still_reads) {
    Tensor x = numbers("donor", {256, 1024});
    auto program = [](const Tensor& of) { return std::vector<Tensor>{softmax(of) + 2 * of}; };
    Array expected = interpret(program(x))[0];
    Graph graph = rewritten_graph(program(x));  // x is read once more when the result is stored
    ASSERT_EQ(graph.leaves.size(), 1u);
    auto binding = bound_for(graph, {0});
    ASSERT_EQ(binding->outputs[0].donor, 0);
    EXPECT_GT(scratch_bytes(*binding), of_a_block);
    EXPECT_EQ(difference(expected, run_once(binding, graph)[0], 1e-5, 1e-5), "");
}

TEST(RowHomes, a_result_that_takes_the_place_of_what_the_step_reads_is_none) {
    Tensor x = numbers("dying", {300, 200});
    Tensor h = matmul(x, numbers("weight", {200, 300}));
    expect_values({sum(matmul(softmax(h) + h, numbers("last", {300, 8})))}, 60000);
}

TEST(RowHomes, products_lie_where_their_epilogue_will) {
    Tensor a = numbers("a", {500, 96}), b = numbers("b", {96, 130}), c = numbers("c", {130});
    expect_values({tanh(matmul(a, b) + c)}, 100);
    Tensor h = matmul(a, b);
    expect_values({h, tanh(h + c)}, 100);
    expect_values({tanh(h + c), square(h) - c}, 100);
    expect_values({softmax(h + c), sum(exp(h), 1)}, 200);
}

// Results of no elements, and of one row's first ones, lie "as" the product does that they are read from.
TEST(RowHomes, a_product_has_no_home_in_what_is_smaller) {
    Tensor h = matmul(numbers("a", {9, 5}), numbers("b", {5, 9}));
    Tensor none = exp(reshape(broadcast_to(expand_dims(h, 2), {9, 9, 0}), {9, 0}));
    EXPECT_GE(scratch_bytes(*bound_for(rewritten_graph({none}))), 9 * 9 * sizeof(float));
    Tensor row = matmul(numbers("row", {1, 5}), numbers("wide", {5, 1800}));
    Tensor first = exp(slice(row, {0, 0}, {1, 9}));
    EXPECT_GE(bound_for(graph_of({first}))->arena_bytes, 1800 * sizeof(float));
    expect_values({first, none}, 100);
}

TEST(RowHomes, what_several_parts_read_stays_until_the_last) {
    Tensor x = numbers("several", {200, 333});
    Tensor raised = exp(x - max(x, 1, true)), total = sum(raised, 1, true);
    expect_values({raised / total, sum(raised * x, 1)}, 400);
    expect_values({raised / total, raised * total}, 400);
    expect_values({raised / total - sum(raised * raised / total, 1, true)}, 400);
}

}  // namespace
}  // namespace weft
