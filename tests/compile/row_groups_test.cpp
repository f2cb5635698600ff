#include "weft/compile/row_groups.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compile/programs.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::vector<Step> steps_of(std::initializer_list<Tensor> outputs) { return make_plan(graph_of(outputs)).steps; }

Tensor normal_numbers(const Dims& dims, std::uint64_t seed = 1, DType dtype = DType::float32) {
    Tensor x = random::normal(shape_of(dims), 0, 1, random::key(seed), dtype);
    x.eval();
    return x;
}

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& shift) {
    auto axis = Axes{-1};
    return (x - mean(x, axis, true)) * rsqrt(var(x, axis, 0, true) + 1e-5) * gain + shift;
}

bool same_bits(const Array& a, const Array& b) {
    return a.dims == b.dims &&
           std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * size_of(a.dtype)) == 0;
}

// The same bits as step by step: blocks change where values lie, not what they are. But for sums over the rows themselves, from output
// number `exact` on, which are joined block by block: n terms in another order differ by n units of their absolute sum at most.
void expect_same_bits(std::vector<Tensor> (*program)(std::span<const Tensor>), std::span<const Tensor> inputs,
                      bool grouped = true, std::size_t exact = 100) {
    Graph graph = graph_of(program(inputs));
    auto run = [&](const PartitionOptions& options, bool* has_rows) {
        auto plan = std::make_shared<const Plan>(make_plan(graph, options));
        for (const Step& step : plan->steps) *has_rows |= step.kind == Step::rows;
        return run_once(weft::bind(plan, graph, cpu_compiler()), graph);
    };
    bool with = false, without = false;
    std::vector<Array> blocks = run({}, &with), plain = run({.rows = false}, &without);
    EXPECT_TRUE(with || !grouped);
    EXPECT_FALSE(without);
    ASSERT_EQ(blocks.size(), plain.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        Array a = contiguous(blocks[i]), b = contiguous(plain[i]);
        ASSERT_EQ(a.dims, b.dims);
        if (i < exact) {
            EXPECT_TRUE(same_bits(a, b));
            continue;
        }
        double terms = static_cast<double>(blocks[0].size()) / static_cast<double>(std::max<std::int64_t>(a.size(), 1));
        for (std::int64_t k = 0; k < a.size(); ++k) {
            float mine = a.data<float>()[k], theirs = b.data<float>()[k];
            EXPECT_NEAR(mine, theirs, 1.2e-7 * terms * std::max(terms, std::abs(double{theirs})));
        }
    }
}

std::vector<Tensor> softmax_program(std::span<const Tensor> in) { return {softmax(in[0])}; }
std::vector<Tensor> layer_norm_program(std::span<const Tensor> in) { return {layer_norm(in[0], in[1], in[2])}; }
std::vector<Tensor> layer_norm_gradients(std::span<const Tensor> in) {
    KeepPending keep;
    return gradient(sum(square(layer_norm(in[0], in[1], in[2]))), in);
}
std::vector<Tensor> log_softmax_over_two_axes(std::span<const Tensor> in) {
    return {in[0] - logsumexp(in[0], {1, 2}, true), softmax(in[0], 2)};
}
std::vector<Tensor> attention(std::span<const Tensor> in) {
    return {matmul(softmax(matmul(in[0], swapaxes(in[0], -1, -2)) * 0.5f), in[0])};
}

// The sums, which are made in one pass with what they sum, do not take the place of the narrower maxima that this pass still reads.
std::vector<Tensor> widened_softmax(std::span<const Tensor> in) {
    Tensor weights = exp(astype(in[0] - max(in[0], {-1}, true), DType::float32));
    return {weights / sum(weights, {-1}, true)};
}

std::vector<Tensor> rows_with_columns(std::span<const Tensor> in) {
    Tensor made = exp(in[0]);
    return {sum(made * made.T(), 1)};
}

TEST(RowGroups, what_is_read_turned_as_well_is_made_before) {
    for (std::int64_t size : {5, 300}) {
        Tensor x = normal_numbers({size, size});
        expect_same_bits(rows_with_columns, {&x, 1}, false);
    }
}

std::vector<Tensor> less_its_columns_sums(std::span<const Tensor> in) {
    return {softmax(in[0] - sum(in[0], 0)), in[0] / max(in[0], 0, true) - mean(in[0], 1, true)};
}

TEST(RowGroups, a_sum_over_the_rows_that_they_wait_for_is_made_before) {
    for (std::int64_t rows : {4, 2000}) {
        Tensor x = normal_numbers({rows, 60});
        expect_same_bits(less_its_columns_sums, {&x, 1});
    }
}

TEST(RowGroups, a_softmax_is_one_step_and_so_is_a_layer_norm) {
    Tensor x = normal_numbers({8, 50});
    EXPECT_EQ(steps_of({softmax(x)}).size(), 1u);
    EXPECT_EQ(steps_of({log_softmax(x)}).size(), 1u);
    EXPECT_EQ(steps_of({layer_norm(x, normal_numbers({50}), normal_numbers({50}))}).size(),
              1u);  // with the number of elements, a size
    EXPECT_EQ(steps_of({softmax(x, 0)}).size(), make_plan(graph_of({softmax(x, 0)}), {.rows = false}).steps.size());
}

TEST(RowGroups, a_light_value_is_made_by_each_that_reads_it) {
    Tensor x = normal_numbers({8, 50});
    std::vector<Step> steps = steps_of({layer_norm(x, normal_numbers({50}), normal_numbers({50}))});
    ASSERT_EQ(steps.size(), 1u);
    std::size_t subtracting = 0, whole = 0;
    for (const Step& part : steps[0].parts) {
        for (const Instruction& at : part.program.code) subtracting += at.opcode == Opcode::subtract;
        whole += part.kind == Step::map && part.stores == steps[0].stores;
    }
    EXPECT_EQ(subtracting, 2u);  // for the variance, and for the result
    EXPECT_EQ(whole, 1u);
    std::size_t functions = 0;  // an exponential is no light value
    std::vector<Step> of_softmax = steps_of({softmax(x)});
    for (const Step& part : of_softmax[0].parts)
        for (const Instruction& at : part.program.code) functions += at.opcode == Opcode::call;
    EXPECT_EQ(functions, 1u);
}

TEST(RowGroups, what_is_made_of_a_total_is_made_with_it) {
    Tensor x = normal_numbers({8, 50});
    EXPECT_EQ(steps_of({sqrt(sum(x * x)) * 2.0f}).size(), 1u);
    EXPECT_EQ(steps_of({x - sum(x)}).size(), 2u);  // all of x again: another step
    EXPECT_NEAR((sqrt(sum(x * x)) * 2.0f).item<float>(), interpret(sqrt(sum(x * x)) * 2.0f).data<float>()[0], 1e-4);
}

TEST(RowGroups, what_passes_inside_has_no_place_in_the_arena) {
    Tensor x = normal_numbers({64, 1000});
    Graph graph = graph_of({softmax(x)});
    auto bytes = [&](const PartitionOptions& options) {
        return weft::bind(std::make_shared<const Plan>(make_plan(graph, options)), graph, cpu_compiler())
            ->scratch_offset;
    };
    EXPECT_EQ(bytes({}), 0u);
    EXPECT_GT(bytes({.rows = false}), 64u * 1000u * 4u - 1);
}

TEST(RowGroups, give_the_bits_of_the_steps_one_by_one) {
    for (Dims dims : {Dims{1, 10}, Dims{3, 1}, Dims{7, 5}, Dims{300, 10}, Dims{129, 1000}, Dims{1000, 257},
                      Dims{2, 300000}, Dims{0, 5}, Dims{3, 70, 33}, Dims{2, 3, 4, 5}, Dims{40, 1, 3000}}) {
        SCOPED_TRACE(text(dims));
        bool has_rows = std::any_of(dims.begin(), dims.end() - 1, [](std::int64_t size) { return size != 1; });
        Tensor inputs[] = {normal_numbers(dims), normal_numbers({dims.back()}, 2), normal_numbers({dims.back()}, 3)};
        expect_same_bits(softmax_program, inputs, has_rows);
        expect_same_bits(layer_norm_program, inputs, has_rows);
        expect_same_bits(layer_norm_gradients, inputs, has_rows, 1);
        if (dims.size() == 3) expect_same_bits(log_softmax_over_two_axes, inputs);
        if (dims.size() == 3) expect_same_bits(attention, inputs);
        Tensor half[] = {normal_numbers(dims, 4, DType::float16)}, twice[] = {normal_numbers(dims, 5, DType::float64)};
        expect_same_bits(softmax_program, half, has_rows);
        expect_same_bits(softmax_program, twice, has_rows);
    }
}

TEST(RowGroups, what_is_read_in_a_pass_keeps_its_place_while_the_pass_joins) {
    for (std::int64_t rows : {8, 16, 32, 100}) {
        Tensor half[] = {normal_numbers({rows, 100}, 4, DType::float16)};
        expect_same_bits(widened_softmax, half);
    }
}

TEST(RowGroups, sum_over_their_rows_alike_with_any_number_of_threads) {
    for (Dims dims : {Dims{4096, 70}, Dims{301, 1000}, Dims{5, 40, 300}, Dims{0, 5}}) {
        SCOPED_TRACE(text(dims));
        Tensor inputs[] = {normal_numbers(dims), normal_numbers({dims.back()}, 2), normal_numbers({dims.back()}, 3)};
        Graph graph = graph_of(layer_norm_gradients(inputs));
        auto plan = std::make_shared<const Plan>(make_plan(graph));
        EXPECT_EQ(plan->steps.size(), 1u);
        auto run = [&](int threads) {
            ThreadPool::instance().set_threads(threads);
            return run_once(weft::bind(plan, graph, cpu_compiler()), graph);
        };
        std::vector<Array> two = run(2), one = run(1);
        for (std::size_t i = 0; i < one.size(); ++i)
            EXPECT_TRUE(same_bits(contiguous(one[i]), contiguous(two[i]))) << i;
    }
}

TEST(RowGroups, take_rows_that_lie_otherwise) {
    Tensor turned[] = {normal_numbers({1000, 257}).T()}, backwards[] = {flip(normal_numbers({90, 700}), {0, 1})};
    Tensor spread[] = {broadcast_to(normal_numbers({1, 600}), {80, 600})},
           repeated[] = {broadcast_to(normal_numbers({80, 1}), {80, 600})};
    for (std::span<const Tensor> inputs : {std::span<const Tensor>(turned), std::span<const Tensor>(backwards),
                                           std::span<const Tensor>(spread), std::span<const Tensor>(repeated)})
        expect_same_bits(softmax_program, inputs);
}

std::vector<Tensor> norm_of_each_channel(std::span<const Tensor> in) {
    Tensor x = permute_dims(in[0], {0, 3, 1, 2});
    Tensor centred = x - mean(x, {2, 3}, true);
    return {centred * rsqrt(mean(square(centred), {2, 3}, true) + 1e-5f)};
}
std::vector<Tensor> softmax_of_columns(std::span<const Tensor> in) {
    return {softmax(in[0].T()), logsumexp(in[0].T(), {1})};
}

TEST(RowGroups, what_lies_across_rows_is_read_by_columns_before) {
    Tensor pictures[] = {normal_numbers({3, 10, 9, 6})}, matrix[] = {normal_numbers({70, 40})};
    auto reads_turned = [](const std::vector<Tensor>& outputs) {
        Graph graph = graph_of(outputs);
        Plan plan = make_plan(graph);
        bool any = false;
        for (const Step& step : plan.steps)
            for (std::int32_t load : step.loads)
                any |= step.kind == Step::rows && graph.node(load).operation == &permute_dims_operation;
        return any;
    };
    EXPECT_FALSE(reads_turned(norm_of_each_channel(pictures)));
    EXPECT_FALSE(reads_turned(softmax_of_columns(matrix)));
    EXPECT_TRUE(
        reads_turned({softmax(permute_dims(pictures[0], {1, 0, 2, 3}))}));  // whole rows of it, in another order
    expect_same_bits(norm_of_each_channel, pictures, false);
    expect_same_bits(softmax_of_columns, matrix);
}

std::vector<Tensor> softmax_of_a_turned_one(std::span<const Tensor> in) { return {softmax(in[0].T())}; }

// Plans know no sizes: which it is, is seen when they are bound.
TEST(RowGroups, short_rows_that_lie_across_are_read_by_blocks) {
    auto steps_of_rows = [](const std::vector<Tensor>& outputs) {
        Graph graph = graph_of(outputs);
        auto plan = std::make_shared<const Plan>(make_plan(graph));
        auto bound = weft::bind(plan, graph, cpu_compiler());
        EXPECT_EQ(bound->plan->structure, plan->structure);
        bool any = false;
        for (const Step& step : bound->plan->steps)
            for (std::int32_t load : step.loads)
                any |= step.kind == Step::rows && graph.node(load).operation == &permute_dims_operation;
        return any;
    };
    for (std::int64_t size : {3, 64, 65}) {
        Tensor x = normal_numbers({size, 700});
        EXPECT_EQ(steps_of_rows({softmax(x.T())}), size <= 64);
        EXPECT_FALSE(steps_of_rows({logsumexp(x.T(), {1}) + 1}));  // nothing of a row's size is handed on
        expect_same_bits(softmax_of_a_turned_one, {&x, 1}, false);
        Tensor whole(contiguous(Tensor(x.T()).array())), one(1.0f),
            two(2.0f);  // whose sums are joined in another order
        std::vector<float> across = layer_norm(x.T(), two, one).to_vector<float>(),
                           along = layer_norm(whole, two, one).to_vector<float>();
        for (std::size_t i = 0; i < along.size(); ++i) EXPECT_NEAR(across[i], along[i], 1e-5);
    }
}

std::vector<Tensor> norms_over_channels(std::span<const Tensor> in) {
    Tensor centred = in[0] - mean(in[0], 1, true);
    return {softmax(in[0], 1), centred * rsqrt(mean(square(centred), 1, true) + 1e-5), argmax(exp(in[0]) + 1, 1)};
}

TEST(RowGroups, what_joins_inner_axes_is_a_step_of_the_axes_before_them) {
    Tensor x = normal_numbers({6, 10, 40});
    EXPECT_EQ(steps_of({softmax(x, 1)}).size(), 1u);
    EXPECT_EQ(steps_of({softmax(permute_dims(normal_numbers({10, 40, 6}), {2, 0, 1}), 1)}).size(),
              4u);  // lies across them
    for (const Step& step : steps_of({logsumexp(x, {1}, true)})) EXPECT_NE(step.kind, Step::rows);
    for (const Dims& dims :
         {Dims{6, 10, 40}, Dims{300, 7, 33}, Dims{1, 20, 50}, Dims{70, 3, 5, 6}, Dims{2, 90, 3000}}) {
        Tensor some[] = {normal_numbers(dims)};
        expect_same_bits(norms_over_channels, some, dims[0] > 1);
    }
}

TEST(RowGroups, results_do_not_depend_on_threads) {
    Tensor inputs[] = {normal_numbers({700, 333}), normal_numbers({333}, 2), normal_numbers({333}, 3)};
    auto run = [&](int threads) {
        ThreadPool::instance().set_threads(threads);
        clear_caches();
        return layer_norm_gradients(inputs)[0].to_vector<float>();
    };
    int before = ThreadPool::instance().threads();
    std::vector<float> one = run(1), three = run(3);
    ThreadPool::instance().set_threads(before);
    EXPECT_EQ(one, three);
}

// Steps between, which read of the group and are read by it, stay outside it: no step waits for itself.
TEST(RowGroups, a_way_out_and_back_in_keeps_steps_apart) {
    Tensor x = normal_numbers({6, 6});
    Tensor e = exp(x - max(x, Axes{1}, true));
    Tensor product = matmul(e, x);  // a library's, over all rows
    Tensor result = e / sum(e + product, Axes{1}, true) + sum(product, Axes{1}, true);
    Array got = result.array(), expected = interpret(result);
    for (std::int64_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got.data<float>()[i], expected.data<float>()[i],
                    1e-5f * std::abs(expected.data<float>()[i]) + 1e-6f);
}

}  // namespace
}  // namespace weft
