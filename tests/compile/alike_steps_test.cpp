// Steps that are alike have one kernel, and only those.
#include "weft/compile/alike_steps.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compile/programs.h"
#include "effort.h"
#include "random_program.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

std::shared_ptr<const Binding> bound(const Graph& graph, BindOptions options = {}) {
    options.keep_loops = true;
    return weft::bind(std::make_shared<const Plan>(make_plan(graph)), graph, cpu_compiler(), options);
}

std::size_t kernels_of(const Binding& binding) {
    std::set<const Kernel*> kernels;
    for (const BoundStep& step : binding.steps) kernels.insert(step.kernel.get());
    return kernels.size();
}

/// Two outputs that are a step each.
bool share(const Tensor& one, const Tensor& other, const BindOptions& options = {}) {
    auto binding = bound(rewritten_graph(Tensors{one, other}), options);
    EXPECT_EQ(binding->steps.size(), 2u) << binding->str();
    return kernels_of(*binding) == 1;
}

TEST(AlikeSteps, have_one_kernel) {
    Tensor a = numbers("a", {40, 30}), b = numbers("b", {40, 30}), w = numbers("w", {30, 20}),
           u = numbers("u", {30, 20});
    EXPECT_TRUE(share(tanh(a) * 2, tanh(b) * 2));
    EXPECT_TRUE(share(sum(a * a, {1}), sum(b * b, {1})));
    EXPECT_TRUE(share(matmul(a, w), matmul(b, u)));
    EXPECT_TRUE(share(matmul(a, w), matmul(a, u)));
    EXPECT_TRUE(share(a - max(a, {1}, true), b - max(b, {1}, true)));
}

TEST(AlikeSteps, that_differ_in_one_thing_have_kernels_of_their_own) {
    Tensor a = numbers("a", {40, 40}), b = numbers("b", {40, 40}), w = numbers("w", {40, 40}),
           u = numbers("u", {40, 40});
    EXPECT_FALSE(share(tanh(a) * 2, tanh(b) * 3)) << "numbers";
    EXPECT_FALSE(share(a - u, w - permute_dims(b, {1, 0}))) << "strides";
    EXPECT_FALSE(share(tanh(a), tanh(numbers("b", {40, 40}, DType::float64)))) << "types";
    EXPECT_FALSE(share(tanh(a), tanh(numbers("b", {40, 39})))) << "sizes";
    EXPECT_FALSE(share(sum(a, {1}), sum(b, {0}))) << "axes";
    EXPECT_FALSE(share(sum(a, {1}), max(b, {1}))) << "reductions";
    EXPECT_FALSE(share(matmul(a, w), matmul(b, permute_dims(u, {1, 0})))) << "a turned matrix";
    Tensor c = numbers("c", {6, 6, 6}), d = numbers("d", {6, 6, 6}), e = numbers("e", {6, 6, 6}),
           f = numbers("f", {6, 6, 6});
    EXPECT_FALSE(share(c - permute_dims(d, {1, 0, 2}), e - permute_dims(f, {0, 2, 1})))
        << "strides of the same operation";
    EXPECT_FALSE(share((a - w) / sum(a, {1}, true), (b - u) / sum(u, {1}, true))) << "which of two is read twice";
    // A product's first row begins on a line of memory, its second does not.
    Tensor whole = matmul(a, w), first = slice(whole, {0, 0}, {1, 32}), second = slice(whole, {1, 0}, {1, 32});
    auto binding = bound(rewritten_graph(Tensors{max(first, {1}), max(second, {1})}));
    EXPECT_EQ(binding->steps.size(), 3u) << binding->str();
    EXPECT_EQ(kernels_of(*binding), 3u) << binding->str();
}

TEST(AlikeSteps, are_told_apart_by_what_is_known_of_their_memory) {
    Tensor a = numbers("a", {64, 64}), w = numbers("w", {64, 64}), u = numbers("u", {64, 64});
    Graph products = rewritten_graph(Tensors{matmul(a, w), matmul(a, u)});
    BindOptions options;
    auto leaf = [&](const Graph& graph, const Tensor& x) {
        for (std::size_t i = 0; i < graph.leaves.size(); ++i)
            if (&graph.node(graph.leaves[i]) == x.node()) return i;
        return graph.leaves.size();
    };
    options.steady.assign(3, true);
    EXPECT_EQ(kernels_of(*bound(products, options)), 1u);
    options.steady[leaf(products, u)] = false;
    EXPECT_EQ(kernels_of(*bound(products, options)), 2u) << "of one a copy is kept";

    Graph maps = rewritten_graph(Tensors{tanh(w), tanh(u)});
    options = {};
    options.donors = {static_cast<std::int32_t>(leaf(maps, w)), -1};
    EXPECT_EQ(kernels_of(*bound(maps, options)), 2u) << "one result lies where its owner put an argument";
    options.donors[1] = static_cast<std::int32_t>(leaf(maps, u));
    EXPECT_EQ(kernels_of(*bound(maps, options)), 1u);
}

/// Steps of one kernel are the same loops.
void expect_same_loops(const Binding& binding) {
    std::map<const Kernel*, const BoundStep*> first;
    for (const BoundStep& step : binding.steps) {
        const BoundStep& other = *first.emplace(step.kernel.get(), &step).first->second;
        ASSERT_EQ(step.loops.size(), other.loops.size());
        for (std::size_t i = 0; i < step.loops.size(); ++i)
            ASSERT_EQ(hash_of(step.loops[i]), hash_of(other.loops[i])) << text(step.loops[i]) << text(other.loops[i]);
        ASSERT_EQ(step.operands.size(), other.operands.size());
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            const Layout &mine = step.operands[i].layout, &theirs = other.operands[i].layout;
            ASSERT_TRUE(mine.dtype == theirs.dtype && mine.dims == theirs.dims && mine.strides == theirs.strides);
        }
    }
}

TEST(AlikeSteps, of_random_programs_are_the_same_loops) {
    const std::uint64_t programs = cases(400, 4000);
    std::size_t shared = 0;
    for (std::uint64_t seed = 0; seed < programs; ++seed) {
        Tensors wanted;
        for (int copy = 0; copy < 2; ++copy) {  // of arrays of its own
            RandomProgram program(seed);
            Tensors inputs;
            for (const Dims& dims : {Dims{3, 4}, Dims{3, 4}, Dims{4}})
                inputs.emplace_back(small_integers(dims, program.draw()));
            wanted.push_back(program.run(inputs, 20).back());
            for (int i = 0; i < 3; ++i) wanted.push_back(program.any());
        }
        auto binding = bound(rewritten_graph(wanted));
        expect_same_loops(*binding);
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
        shared += binding->steps.size() - kernels_of(*binding);
    }
    EXPECT_GT(shared, programs);
}

TEST(AlikeSteps, of_a_networks_layers_share_most_kernels_and_give_the_interpreters_numbers) {
    constexpr std::int64_t layers = 5, width = 48;
    Tensors w, b;
    for (std::int64_t i = 0; i < layers; ++i) {
        w.push_back(numbers(text("w", i).c_str(), {width, width}));
        b.push_back(numbers(text("b", i).c_str(), {width}));
    }
    auto loss = [&](const Tensors& w) {
        Tensor h = numbers("x", {300, width});
        for (std::size_t i = 0; i < w.size(); ++i) {
            Tensor centred = h - mean(h, {-1}, true);
            h = h + tanh(matmul(centred / sqrt(mean(centred * centred, {-1}, true) + 1e-5), w[i]) + b[i]);
        }
        return mean(h * h);
    };
    KeepPending keep;
    Tensors slopes = gradient(loss(w), w), news;
    for (std::size_t i = 0; i < w.size(); ++i) news.push_back(w[i] - 0.1 * slopes[i]);
    auto binding = bound(rewritten_graph(news));
    expect_same_loops(*binding);
    EXPECT_LT(3 * kernels_of(*binding), 2 * binding->steps.size()) << binding->str();
    expect_values(news, 1e4);
}

}  // namespace
}  // namespace weft
