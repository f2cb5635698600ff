// What is computed, counted on the plan: duplicates once, of what is sliced only what is shown, of shapes nothing.
#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::shared_ptr<const Binding> bound(std::vector<Tensor> outputs) {
    BindOptions options;
    options.keep_loops = true;
    return make_binding(graph_of(outputs), options);
}

std::int64_t instructions(const Binding& binding, Opcode opcode) {
    std::int64_t count = 0;
    for (const BoundStep& step : binding.steps)
        for (const Loop& loop : step.loops)
            count += std::count_if(loop.program.code.begin(), loop.program.code.end(),
                                   [&](const Instruction& at) { return at.opcode == opcode; });
    return count;
}

// Elements at which loops compute, and multiplications of matrix products.
std::int64_t points(const Binding& binding) {
    std::int64_t count = 0;
    for (const BoundStep& step : binding.steps) {
        for (const Loop& loop : step.loops) count += element_count(loop.dims);
        if (step.operation && step.operation->family == Family::contraction)
            count += element_count(step.operands.back().layout.dims) * step.operands[0].layout.dims.back();
    }
    return count;
}

TEST(LeastWork, a_subexpression_built_a_hundred_thousand_times_is_one_entry) {
    Tensor x = drawn({5}), y = drawn({5});
    std::vector<Tensor> copies;
    {
        KeepPending keep;
        for (int i = 0; i < 100000; ++i) copies.push_back(exp(x + y) * 2);
    }
    Graph graph = graph_of(copies);
    EXPECT_EQ(graph.entries.size(), 6u);  // x, y, the sum, its exponential, 2, the product
    auto binding = make_binding(graph, {});
    EXPECT_EQ(binding->steps.size(), 1u);
    EXPECT_EQ(binding->outputs.size(), 1u);
}

TEST(LeastWork, what_two_outputs_share_is_computed_once_in_one_kernel) {
    for (std::int64_t n : {1, 7, 1000}) {
        Tensor x = drawn({n, 3}), y = drawn({n, 3});
        auto binding = bound({(x + y) * 2, (x + y) * 3});
        EXPECT_EQ(binding->steps.size(), 1u);
        EXPECT_EQ(instructions(*binding, Opcode::add), 1);
    }
}

TEST(LeastWork, a_shape_computes_nothing) {
    Tensor v = drawn({40}), m = drawn({30, 40}), y = exp(v) + m;
    EXPECT_EQ(y.shape(), (Shape{30, 40}));
    EXPECT_FALSE(y.computed());
    auto binding = bound({ones_like(exp(v) + m)});
    EXPECT_EQ(instructions(*binding, Opcode::call) + instructions(*binding, Opcode::add), 0) << binding->str();
}

TEST(LeastWork, an_element_of_a_product_is_one_row_times_one_column) {
    for (auto [rows, inner, columns] : {std::array<std::int64_t, 3>{30, 40, 50}, {3, 200, 7}}) {
        Tensor a = drawn({rows, inner}), b = drawn({inner, columns});
        for (auto [i, j] : {std::array<std::int64_t, 2>{1, 2}, {-1, 0}, {2, -3}}) {
            Tensor element = matmul(a, b)[{i, j}];
            EXPECT_LE(points(*bound({element})), 2 * inner) << i << ", " << j;
            EXPECT_EQ(difference(interpret(element), element.array(), 1e-12, 1e-12), "");
        }
        Tensor part = matmul(a, b)[{slice(0, 2), slice(1, 4)}];
        EXPECT_LE(points(*bound({part})), 2 * 6 * inner);
    }
}

TEST(LeastWork, of_what_is_sliced_only_what_is_shown_is_computed) {
    Tensor x = drawn({60, 50}), y = drawn({50});
    EXPECT_EQ(points(*bound({exp(x)[0]})), 50);
    EXPECT_EQ(points(*bound({exp(x)[{slice(0, 60, 20), 7}]})), 3);
    EXPECT_EQ(points(*bound({(exp(x) * y + 1)[{-1, slice(10, 20)}]})), 10);
    EXPECT_LE(points(*bound({sum(square(x), 1)[slice(5, 8)]})), 3 * 50 + 3);
    EXPECT_EQ(points(*bound({flip(tanh(x), {0})[2]})), 50);
}

}  // namespace
}  // namespace weft
