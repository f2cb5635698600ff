// Positions and random bits are made by the loops that read them: no memory, no kernel of their own.
#include "weft/compile/made.h"

#include <gtest/gtest.h>

#include "compile/programs.h"
#include "effort.h"
#include "weft/core/philox.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// So many steps, with the interpreter's values.
void expect_steps(std::size_t steps, std::initializer_list<Tensor> outputs) {
    auto binding = make_binding(graph_of(outputs), {});
    EXPECT_EQ(binding->steps.size(), steps) << binding->str();
    std::vector<Array> expected;
    for (const Tensor& output : outputs) expected.push_back(interpret(output));
    for (int threads : {1, 2}) {
        ThreadPool::instance().set_threads(threads);
        std::vector<Array> got = run_once(binding, graph_of(outputs));
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_EQ(difference(expected[i], got[i], 1e-11, 1e-12), "") << threads << " threads";
    }
    ThreadPool::instance().set_threads(1);
}

// One step that writes its result and nothing else.
void expect_one_step(const Tensor& output) {
    expect_steps(1, {output});
    auto binding = make_binding(graph_of({output}), {});
    EXPECT_TRUE(binding->placements.empty()) << binding->str();
}

TEST(MadeValues, positions_are_counted_where_they_are_read) {
    expect_one_step(iota(100000) * 3 + 7);
    expect_one_step(arange(0.0, 5.0, 0.25));
    expect_one_step(linspace(-1, 1, 5001));
    expect_one_step(eye(70, 50, -3));
    expect_one_step(tril(drawn({40, 60}), 2));
    expect_one_step(triu(drawn({130, 130})));
    expect_one_step(one_hot(Tensor::of<std::int64_t>({0, 3, 9, 3}), 10));
    expect_one_step(sum(where(iota(900) == expand_dims(iota(300), 1), drawn({300, 900}), 0), 1));
    expect_one_step(sum(where(iota(900) >= expand_dims(iota(300), 1), drawn({300, 900}), 0), 0));
    expect_one_step(max(remainder(iota(1000) * 7919, 1000)));
}

TEST(MadeValues, positions_are_read_through_views) {
    Tensor i = iota(24);
    expect_one_step(flip(i) * 2);
    expect_one_step(slice(i, {3}, {7}, {3}) + 0.5);
    expect_one_step(reshape(i, {2, 3, 4}) * drawn({2, 3, 4}));
    expect_one_step(permute_dims(reshape(i, {2, 3, 4}), {2, 0, 1}) - 1);
    expect_one_step(sum(broadcast_to(expand_dims(i, 1), {24, 50}) * drawn({24, 50}), 0));
}

TEST(MadeValues, random_bits_are_drawn_where_they_are_read) {
    Tensor key = random::key(7);
    expect_one_step(random::uniform({5003}, 0, 1, key));
    expect_one_step(random::uniform({37, 11}, 2, 3, key, DType::float64));
    expect_one_step(random::normal({1000, 3}, 0, 1, key));
    expect_one_step(random::randint(-5, 90, {3000}, key));
    expect_one_step(random::gumbel({40, 40}, key, DType::float64));
    Tensor x = drawn({300, 70});
    expect_one_step(where(random::bernoulli(0.5, x.shape(), key), x * 2, 0));
    expect_one_step(sum(where(random::bernoulli(0.5, x.shape(), key), x * 2, 0), 1));
    expect_steps(2, {sum(where(random::bernoulli(0.5, x.shape(), key), x * 2, 0), 0)});
    Tensor bits = random::bits({9, 16}, key);
    expect_one_step(flip(bits) + 1);
    expect_one_step(slice(bits, {1, 2}, {4, 5}, {2, 3}) + 1);
    expect_one_step(permute_dims(bits, {1, 0}) + 1);
}

TEST(MadeValues, random_bits_are_drawn_in_any_order) {
    Tensor key = random::key(11);
    for (std::int64_t rows : {1, 3, 15, 16, 17, 64, 131})
        for (std::int64_t columns : {1, 2, 3, 4, 5, 49}) {
            Tensor bits = random::bits({rows, columns}, key), zero(Array::zeros(DType::uint32, {1}));
            Axes turned{1, 0};
            expect_steps(1, {permute_dims(bits, turned) | zero});
            expect_steps(1, {flip(bits) | zero});
        }
    Tensor seven = random::bits({600}, key)[Slice(3, 590, 7)];
    expect_steps(1, {seven ^ 5});
    expect_steps(1, {flip(seven) ^ 5});
}

TEST(MadeValues, a_key_that_is_computed_comes_from_memory) {
    Tensor keys = random::split(random::key(3), 4);
    Tensor key = reshape(slice(keys, {2, 0}, {1, 2}), {2});
    expect_steps(2, {random::uniform({500}, 0, 1, key)});
    expect_steps(2, {random::uniform({500}, 0, 1, Tensor::of<std::uint32_t>({1, 2}) + keys[0])});
    expect_steps(3, {random::uniform({500}, 0, 1, zeros({2}, DType::uint32))});
}

TEST(MadeValues, what_is_wanted_itself_or_by_a_library_is_written_down) {
    expect_steps(1, {iota(1000)});
    expect_steps(1, {random::bits({70, 3}, random::key(1))});
    expect_steps(2, {take(drawn({40}), flip(iota(30)))});
    expect_steps(2, {argsort(random::bits({500}, random::key(1)))});
    Tensor i = iota(40);
    expect_steps(3, {take(drawn({40}), i) * 2, i * 3});
}

TEST(MadeValues, words_are_those_of_their_counters_wherever_a_run_begins) {
    auto word = [](std::int64_t n) {
        return philox({static_cast<std::uint32_t>(n / 4), 0, 0, 0}, {9, 4})[static_cast<std::size_t>(n % 4)];
    };
    Tensor key = Tensor::of<std::uint32_t>({9, 4});
    for (std::int64_t n : {0, 1, 3, 4, 127, 128, 129, 40001}) {
        auto words = random::bits({n}, key).to_vector<std::uint32_t>();
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(words[static_cast<std::size_t>(i)], word(i)) << i << " of " << n;
        for (std::int64_t from : {0, 1, 2, 3, 5}) {
            if (n < 10) continue;
            auto part = bitwise_invert(slice(random::bits({n}, key), {from}, {n - 7})).to_vector<std::uint32_t>();
            for (std::size_t i = 0; i < part.size(); ++i)
                ASSERT_EQ(~part[i], word(static_cast<std::int64_t>(i) + from)) << i << " from " << from << " of " << n;
        }
    }
    auto doubles = random::uniform({3000}, 0, 1, key, DType::float64).to_vector<double>();
    for (std::int64_t i = 0; i < 3000; ++i)
        ASSERT_EQ(doubles[static_cast<std::size_t>(i)], unit_double(word(2 * i + 1), word(2 * i))) << i;
}

// The words are costly: two kernels read them from memory. Their mask is made with the first reader and read by the second.
TEST(MadeValues, bits_of_several_kernels_are_drawn_once) {
    Tensor bits = random::bits({200, 30}, random::key(1));
    expect_steps(3, {max(bits, 0), max(bits, 1)});
    Tensor x = drawn({64, 128}), w = drawn({128, 128});
    Tensor kept = random::bernoulli(0.5, x.shape(), random::key(5));
    Tensor y = matmul(where(kept, x, 0), w);
    auto binding = make_binding(graph_of({where(kept, matmul(tanh(y), w), 0)}), {});
    for (const BoundStep& step : binding->steps)
        EXPECT_TRUE(!step.operation || step.operation->name != "random_bits") << binding->str();
    Tensor output = where(kept, matmul(tanh(y), w), 0);
    EXPECT_EQ(difference(interpret(output), run_once(make_binding(graph_of({output}), {}), graph_of({output}))[0], 1e-9,
                         1e-9),
              "");
}

TEST(MadeValues, a_plan_says_what_its_steps_make) {
    Tensor output = where(iota(40) > 7, random::uniform({40}, 0, 1, random::key(2)), 0);
    Graph graph = graph_of({output});
    std::string said = str(make_plan(graph), graph);
    EXPECT_NE(said.find("; makes iota %"), said.npos) << said;
    EXPECT_NE(said.find("random_bits %"), said.npos) << said;
    for (std::size_t e = 0; e < graph.entries.size(); ++e) {
        auto entry = static_cast<std::int32_t>(e);
        if (graph.node(entry).operation != &iota_operation) continue;
        EXPECT_EQ(why_apart(make_plan(graph), graph, entry, graph.outputs[0]), "it is made where it is read");
    }
}

TEST(MadeValues, rows_of_a_group_count_on_from_block_to_block) {
    const std::int64_t rows = share_under_sanitizers == 1 ? 600 : 60;
    Tensor x = drawn({rows, 700});
    Tensor masked = where(expand_dims(iota(rows), 1) >= iota(700), x, -1e9);
    expect_steps(1, {softmax(masked, 1)});
    expect_steps(1, {softmax(where(random::bernoulli(0.9, x.shape(), random::key(2)), x, -1e9), 1)});
}

}  // namespace
}  // namespace weft
