#include "weft/runtime/explain.h"

#include <gtest/gtest.h>

#include "message.h"
#include "weft/compile/plan_cache.h"
#include "weft/graph/graph.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

Tensor even_numbers(const Dims& dims) {
    Array array = Array::empty(DType::float32, dims);
    for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = 0.25f + 0.01f * static_cast<float>(i % 50);
    return Tensor(array);
}

Tensor network(const Tensor& x, const Tensor& w) { return mean(square(log(1 + exp(matmul(x, w))))); }

TEST(Explain, shows_every_stage_of_an_expression) {
    Tensor x = even_numbers({64, 32}), w = even_numbers({32, 16}), y = network(x, w);
    Explanation e = explain(y);
    EXPECT_NE(e.graph.find("matmul"), std::string::npos) << e.graph;
    EXPECT_NE(e.graph.find("explain_test.cpp:"), std::string::npos) << e.graph;
    EXPECT_NE(e.rewrites.find("softplus"), std::string::npos) << e.rewrites;
    EXPECT_NE(e.plan.find("apart from step"), std::string::npos) << e.plan;
    EXPECT_NE(e.plan.find("matmul is a library's kernel"), std::string::npos) << e.plan;
    EXPECT_NE(e.kernels.find("step 0"), std::string::npos) << e.kernels;
    EXPECT_NE(e.memory.find("arena"), std::string::npos) << e.memory;
    ASSERT_FALSE(e.steps.empty());
    double operations = 0;
    for (const StepTime& step : e.steps) {
        EXPECT_GT(step.seconds, 0);
        EXPECT_GT(step.work.bytes, 0);
        operations += step.work.operations;
    }
    EXPECT_EQ(operations, 2.0 * 64 * 32 * 16);
    EXPECT_GT(e.limits.operations, 1e8);
    EXPECT_GT(e.limits.bytes, 1e8);
    EXPECT_NE(e.str().find("GB/s"), std::string::npos);
    EXPECT_FALSE(y.computed());
}

TEST(Explain, of_a_compiled_function_changes_no_cell) {
    Parameter weight(even_numbers({4}));
    CompiledFunction step([&](std::span<const Tensor> in) {
        weight.set(weight.value() * in[0]);
        return std::vector<Tensor>{sum(weight.value())};
    });
    std::vector<float> before = weight.value().to_vector<float>();
    Tensor in[] = {even_numbers({4})};
    Explanation e = step.explain(in);
    EXPECT_NE(e.memory.find("in the memory of leaf"), std::string::npos) << e.memory;
    EXPECT_EQ(weight.value().to_vector<float>(), before);
    step(in);
    EXPECT_NE(weight.value().to_vector<float>(), before);
}

TEST(Explain, says_of_any_two_neighbours_why_they_are_apart) {
    Tensor x = even_numbers({8, 6}), column = exp(even_numbers({8, 1}));
    Tensor total = sum(x, Axes{0}), far = sin(total), spread = cos(x) + column;
    Node* nodes[] = {far.node(), spread.node()};
    Graph graph = gather(nodes);
    Plan plan = make_plan(graph);
    auto entry = [&](const Tensor& of) {
        for (std::size_t e = 0; e < graph.entries.size(); ++e)
            if (graph.entries[e].node == of.node()) return static_cast<std::int32_t>(e);
        return -1;
    };
    EXPECT_EQ(why_apart(plan, graph, entry(total), entry(far)),
              "sum ends only when all of it is read, and they share no rows");
    EXPECT_EQ(why_apart(plan, graph, entry(column), entry(spread)),
              "exp is computed once for each of (8, 1), not for each of (8, 6)");
    EXPECT_EQ(why_apart(plan, graph, entry(x), entry(spread)), "it is read where it lies: nothing computes it");
}

TEST(Explain, stages_are_chosen_by_name) {
    EXPECT_EQ(message<ValueError>([] { show_stages("graph,kernel"); }),
              "WEFT_SHOW: there is no stage 'kernel'; did you mean 'kernels'?");
    EXPECT_TRUE(shown_stages().empty());
    show_stages("plan,memory");
    testing::internal::CaptureStderr();
    clear_caches();
    (even_numbers({3}) * 2).eval();
    std::string shown = testing::internal::GetCapturedStderr();
    show_stages("");
    EXPECT_NE(shown.find("-- plan\n0: map of multiply"), std::string::npos) << shown;
    EXPECT_NE(shown.find("-- memory\n"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("-- graph"), std::string::npos) << shown;
}

TEST(Explain, needs_numbers) {
    Tensor x = input("x", {Size("n")});
    EXPECT_EQ(first_line<ValueError>([&] { explain(x * 2); }),
              "explain: the input float32 (n,) has no numbers to run with; explain a compiled function with arguments");
}

}  // namespace
}  // namespace weft
