#include "weft/compile/frugal.h"

#include "compile/programs.h"
#include "weft/autodiff/transform.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

/// A step of training of six layers that share nothing, with the loss first, then the new weights.
std::vector<Tensor> training_step(std::vector<Tensor>& weights) {
    constexpr int layers = 6;
    for (int i = 0; i < layers; ++i) weights.push_back(numbers(text("weights ", i).c_str(), {64, 64}));
    Tensor h = numbers("rows", {512, 64});
    std::vector<Tensor> fresh_ones;
    KeepPending keep;
    for (const Tensor& w : weights) h = tanh(matmul(h, fresh_ones.emplace_back(fresh(w))));
    std::vector<Tensor> outputs{sum(h)};
    for (int i = 0; i < layers; ++i) {
        auto at = static_cast<std::size_t>(i);
        outputs.push_back(fresh_ones[at] - 0.01 * gradient(outputs[0], fresh_ones[at]));
    }
    return outputs;
}

TEST(Frugal, gradients_of_weights_run_as_soon_as_they_can_and_parameters_are_still_written_over) {
    std::vector<Tensor> weights, outputs = training_step(weights);
    Graph graph = rewritten_graph(outputs);
    std::vector<std::int32_t> donors{-1};
    for (const Tensor& w : weights) {
        auto leaf = std::find_if(graph.leaves.begin(), graph.leaves.end(), [&](std::int32_t e) {
            return graph.node(e).value().buffer == w.node()->value().buffer;
        });
        ASSERT_NE(leaf, graph.leaves.end());
        donors.push_back(static_cast<std::int32_t>(leaf - graph.leaves.begin()));
    }
    auto plan = std::make_shared<const Plan>(make_plan(graph));
    auto bound = [&](Thrift thrift) {
        return weft::bind(plan, graph, cpu_compiler(), {.donors = donors, .thrift = thrift});
    };
    auto late = bound({.all = SIZE_MAX}), soon = bound({.all = 0});
    EXPECT_LE(soon->scratch_offset * 5, late->scratch_offset * 4);
    for (std::size_t i = 1; i < donors.size(); ++i) {
        EXPECT_EQ(late->outputs[i].donor, donors[i]);
        EXPECT_EQ(soon->outputs[i].donor, donors[i]);
    }
    auto dry = [&](Thrift thrift) {
        return run_once(weft::bind(plan, graph, cpu_compiler(), {.thrift = thrift}), graph);
    };
    std::vector<Array> first = dry({.all = SIZE_MAX}), second = dry({.all = 0});
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(difference(first[i], second[i]), "") << "output " << i;
}

TEST(Frugal, plans_of_little_memory_are_left_as_they_are) {
    std::vector<Tensor> weights;
    Graph graph = rewritten_graph(training_step(weights));
    auto plan = std::make_shared<const Plan>(make_plan(graph));
    EXPECT_EQ(weft::bind(plan, graph, cpu_compiler())->plan, plan);
}

}  // namespace
}  // namespace weft
