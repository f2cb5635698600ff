// What plans know of memory: the alignments that their loops are told, and that no loop reaches beyond a place.
#include "weft/compile/access_facts.h"

#include <gtest/gtest.h>

#include "compile/programs.h"
#include "message.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/explain.h"

namespace weft {
namespace {

// All loops of the program, in order.
std::vector<Loop> loops_of(std::initializer_list<Tensor> outputs, const BindOptions& how = {}) {
    BindOptions options = how;
    options.keep_loops = true;
    auto binding = make_binding(graph_of(outputs), options);
    std::vector<Loop> all;
    for (const BoundStep& step : binding->steps) all.insert(all.end(), step.loops.begin(), step.loops.end());
    return all;
}

TEST(AccessFacts, an_address_is_aligned_as_its_offset_leaves_it) {
    EXPECT_EQ(alignment_after(64, 0, DType::float32), 64u);
    EXPECT_EQ(alignment_after(64, 128, DType::float32), 64u);
    EXPECT_EQ(alignment_after(64, 48, DType::float32), 16u);
    EXPECT_EQ(alignment_after(64, -32, DType::float32), 32u);
    EXPECT_EQ(alignment_after(64, 4, DType::float32), 0u) << "no more than every element has";
    EXPECT_EQ(alignment_after(64, 8, DType::complex128), 0u);
    EXPECT_EQ(alignment_after(0, 64, DType::float32), 0u);
}

TEST(AccessFacts, results_are_aligned_and_leaves_are_their_owners) {
    Loop loop = loops_of({drawn({1000}) * 2})[0];
    EXPECT_EQ(loop.loads[0].alignment, 0u);
    EXPECT_EQ(loop.stores[0].alignment, 64u);
}

// A leaf's memory may be anybody's, and so may be that of a result which takes it over.
TEST(AccessFacts, a_result_that_may_lie_in_a_leafs_memory_is_not_known) {
    Loop loop = loops_of({drawn({1000}) * 2}, {.donors = {0}})[0];
    EXPECT_EQ(loop.stores[0].alignment, 0u);
}

TEST(AccessFacts, places_of_the_arena_are_aligned_and_views_of_them_as_their_offset_says) {
    Tensor sums = matmul(drawn({40, 30}), drawn({30, 50}));  // passes through memory, and is read by two steps
    Tensor rows = sums[slice(2, 30)], place = sums[{slice(0, 28), slice(1, 50)}];
    std::vector<Loop> loops = loops_of({sum(exp(rows), 0), sum(exp(place), 0), matmul(sums.T(), sums)});
    std::vector<std::size_t> alignments;
    for (const Loop& loop : loops)
        for (const Access& load : loop.loads) alignments.push_back(load.alignment);
    EXPECT_EQ(alignments, (std::vector<std::size_t>{32, 0}))
        << "two rows of 50 float64 are 800 bytes; one element is 8";
}

// Blocks of rows begin where rows begin: what they are known to be aligned to follows from the bytes of a row.
TEST(AccessFacts, blocks_of_rows_have_the_alignment_of_their_rows) {
    auto softmax_of = [](std::int64_t width) {
        Tensor x = drawn({4096, width}), e = exp(x - max(x, 1, true));
        return e / sum(e, 1, true);
    };
    for (std::int64_t width : {50, 64}) {
        Tensor output = softmax_of(width);
        Graph graph = graph_of({output});
        auto binding = make_binding(graph, {});
        EXPECT_EQ(binding->steps[0].kernel->by(), "row blocks");
        EXPECT_EQ(difference(interpret(output), run_once(binding, graph)[0], 1e-11, 1e-12), "");
    }
}

TEST(AccessFacts, moving_by_rows_keeps_what_all_rows_have) {
    Access access{.dtype = DType::float32, .strides = {100, 1}, .alignment = 64};
    AccessFacts::move(access, {400});
    EXPECT_EQ(access.alignment, 16u);
    AccessFacts::move(access, {0, 1024});
    EXPECT_EQ(access.alignment, 16u);
    AccessFacts::move(access, {20});
    EXPECT_EQ(access.alignment, 0u);
}

// A view that leads beyond the place that it is a view of: what a wrong rule of the compiler would make.
TEST(AccessFacts, a_loop_that_reaches_beyond_a_place_is_refused) {
    Tensor x = drawn({10}), output = x * 2;
    Graph graph = graph_of({output});
    auto binding = make_binding(graph, {.donors = {}, .keep_loops = true});
    const Plan& plan = *binding->plan;
    const Step& step = plan.steps[0];
    Layout ten{DType::float64, {10}, {1}};
    Views views(graph.entries.size());
    for (std::size_t e = 0; e < graph.entries.size(); ++e)
        views.set(e, {{plan.places[e].kind == Place::slot ? Base::output : Base::leaf, 0}, 0, ten});
    std::vector<std::int32_t> output_of(plan.slots.size(), 0);
    std::vector<BoundOutput> outputs{{DType::float64, {10}, {1}, 80}};
    AccessFacts facts(plan, graph, views, output_of, outputs, true);
    Loop loop = binding->steps[0].loops[0];
    EXPECT_NO_THROW(facts.add(step, loop));
    loop.loads[0].strides = {2};
    EXPECT_EQ(message<InternalError>([&] { facts.add(step, loop); }),
              "multiply: load 0 touches bytes 0 to 152 of a place that has those from 0 to 80. Please report this.");
    loop.loads[0].strides = {-1};
    EXPECT_THROW(facts.add(step, loop), InternalError);
    loop.loads[0].strides = {1};
    outputs[0].bytes = 72;
    EXPECT_EQ(message<InternalError>([&] { facts.add(step, loop); }),
              "multiply: store 0 touches bytes 0 to 80 of a place that has those from 0 to 72. Please report this.");
}

TEST(AccessFacts, explain_shows_what_is_known) {
    std::string kernels = explain(drawn({1000}) * 2).kernels;
    EXPECT_NE(kernels.find("load 0 float64 strides (1,), elements 0..999\n"
                           "store 0 float64 strides (1,), elements 0..999, aligned to 64 bytes\n"),
              kernels.npos)
        << kernels;
    EXPECT_NE(kernels.find("__builtin_assume_aligned(y0, 64)"), kernels.npos) << kernels;
}

}  // namespace
}  // namespace weft
