#include "weft/compile/again.h"

#include "compile/programs.h"
#include "effort.h"
#include "random_program.h"
#include "weft/compile/frugal.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

constexpr std::size_t never = SIZE_MAX;

std::shared_ptr<const Binding> bound_thriftily(const Graph& graph, Thrift thrift) {
    return weft::bind(std::make_shared<const Plan>(make_plan(graph)), graph, cpu_compiler(), {.thrift = thrift});
}

/// How many steps, or parts of steps, compute the entry.
std::ptrdiff_t makers(const Plan& plan, std::int32_t entry) {
    return std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
        return std::find(step.members.begin(), step.members.end(), entry) != step.members.end();
    });
}

/// Entries of this operation that are computed more than once.
std::vector<std::int32_t> made_again(const Binding& binding, const Graph& graph, const Operation* operation) {
    std::vector<std::int32_t> found;
    for (std::int32_t e = 0; e < static_cast<std::int32_t>(graph.entries.size()); ++e)
        if (graph.node(e).operation == operation && makers(*binding.plan, e) > 1) found.push_back(e);
    return found;
}

const Operation* operation_of(const Tensor& value) { return value.node()->operation; }

/// Layers forward and backward, as a network has them. `slope(z, y)`: of y = exp(z), which the gradients of weights read again.
template <class Slope>
std::vector<Tensor> layers(std::int64_t rows, Slope slope) {
    constexpr std::size_t count = 6;
    std::vector<Tensor> outputs, before, after;
    Tensor w = numbers("weights", {64, 64}), b = numbers("bias", {64}), x = numbers("rows", {rows, 64});
    for (std::size_t i = 0; i < count; ++i) {
        before.push_back(matmul(x, w) + b);
        after.push_back(x = exp(before.back()));
    }
    Tensor g = x * x;
    for (std::size_t i = count; i-- > 0;) {
        outputs.push_back(matmul(swapaxes(after[i], 0, 1), g));
        g = matmul(g, w) * slope(before[i], after[i]);
    }
    outputs.push_back(sum(g));
    return outputs;
}

void expect_same_bits(const std::shared_ptr<const Binding>& a, const std::shared_ptr<const Binding>& b,
                      const Graph& graph) {
    std::vector<Array> first = run_once(a, graph), second = run_once(b, graph);
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(difference(first[i], second[i]), "") << "output " << i;
}

TEST(Again, what_waits_for_the_weights_gradients_is_made_again_in_less_memory_with_the_same_bits) {
    std::vector<Tensor> outputs = layers(512, [](const Tensor& z, const Tensor&) { return cos(z); });
    Graph graph = rewritten_graph(outputs);
    auto kept = bound_thriftily(graph, {.all = never}), again = bound_thriftily(graph, {.all = 0, .value = 1000});
    std::vector<std::int32_t> twice = made_again(*again, graph, operation_of(exp(Tensor(1.0))));
    EXPECT_GE(twice.size(), 4u) << str(*again->plan, graph);
    EXPECT_LE(again->scratch_offset * 4, kept->scratch_offset * 3);
    expect_same_bits(kept, again, graph);
    EXPECT_NE(str(*again->plan, graph).find(", made again"), std::string::npos);
    std::size_t shown = 0;  // an entry lies in two places, one after the other
    for (const Placement& a : again->placements)
        for (const Placement& b : again->placements) shown += a.entry == b.entry && a.last < b.first;
    EXPECT_EQ(shown, twice.size());
}

TEST(Again, small_values_and_programs_of_little_memory_are_left_alone) {
    Graph graph = rewritten_graph(layers(64, [](const Tensor& z, const Tensor&) { return cos(z); }));
    auto plan = std::make_shared<const Plan>(make_plan(graph));
    EXPECT_EQ(weft::bind(plan, graph, cpu_compiler())->plan, plan);
    auto small = bound_thriftily(graph, {.all = 0, .value = 100000});
    EXPECT_TRUE(made_again(*small, graph, operation_of(exp(Tensor(1.0)))).empty());
}

TEST(Again, what_is_made_of_values_that_are_gone_is_kept) {
    Graph graph = rewritten_graph(layers(512, [](const Tensor&, const Tensor& y) { return cos(y); }));
    auto again = bound_thriftily(graph, {.all = 0, .value = 1000});
    EXPECT_TRUE(made_again(*again, graph, operation_of(exp(Tensor(1.0)))).empty()) << str(*again->plan, graph);
}

/// Rows less their means, scaled, into a product; the scaled ones are joined with a gradient much later.
std::vector<Tensor> normalised() {
    std::vector<Tensor> outputs, centred, scaled, scales;
    Tensor w = numbers("weights", {64, 64}), x = numbers("rows", {512, 64}), weight = numbers("weight", {64});
    for (int i = 0; i < 3; ++i) {
        centred.push_back(x - mean(x, 1, true));
        scales.push_back(rsqrt(mean(square(centred.back()), 1, true) + 1e-5));
        scaled.push_back(centred.back() * scales.back());
        x = x + matmul(scaled.back() * weight, w);
    }
    Tensor g = x * x;
    for (std::size_t i = 3; i-- > 0;) {
        g = matmul(g, w);
        outputs.push_back(sum(g * scaled[i], 0));
        g = g * scales[i] + centred[i];
    }
    outputs.push_back(sum(g));
    return outputs;
}

TEST(Again, a_loop_that_reads_a_value_point_by_point_makes_it_itself_and_no_other_step_stores_it) {
    Graph graph = rewritten_graph(normalised());
    auto kept = bound_thriftily(graph, {.all = never}), again = bound_thriftily(graph, {.all = 0, .value = 1000});
    EXPECT_EQ(again->steps.size(), kept->steps.size()) << str(*again->plan, graph);
    EXPECT_LT(again->scratch_offset, kept->scratch_offset);
    EXPECT_LT(again->placements.size(), kept->placements.size());
    expect_same_bits(kept, again, graph);
}

TEST(Again, random_programs_have_the_same_bits_in_frugal_plans) {
    std::size_t again = 0;
    const std::uint64_t programs = cases(400, 4000);
    for (std::uint64_t seed = 0; seed < programs; ++seed) {
        RandomProgram program(seed);
        std::vector<Tensor> inputs;
        for (const Dims& dims : {Dims{3, 4}, Dims{4}, Dims{}, Dims{1, 4}, Dims{2, 3, 1}})
            inputs.emplace_back(small_integers(dims, program.draw()));
        std::vector<Tensor> all = program.run(inputs, 10 + static_cast<int>(seed % 60)), wanted{all.back()};
        for (int i = 0; i < 3; ++i) wanted.push_back(program.any());
        Graph graph = rewritten_graph(wanted);
        auto plan = std::make_shared<const Plan>(make_plan(graph));
        BindOptions options{.thrift = {never, 1}};
        auto frugal = std::make_shared<const Plan>(frugal_plan(*plan, graph, options));
        for (std::int32_t e = 0; e < static_cast<std::int32_t>(graph.entries.size()); ++e)
            again += makers(*plan, e) < makers(*frugal, e);
        std::vector<Array> first = run_once(weft::bind(plan, graph, cpu_compiler(), options), graph),
                           second = run_once(weft::bind(frugal, graph, cpu_compiler(), options), graph);
        for (std::size_t i = 0; i < first.size(); ++i)
            ASSERT_EQ(difference(first[i], second[i], 0, 0), "") << "seed " << seed << " result " << i;
    }
    EXPECT_GT(again, programs / 10) << "values made again";
}

}  // namespace
}  // namespace weft
