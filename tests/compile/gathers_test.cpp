// Gathers inside loops: what is picked by index tensors and read by one kernel is never written to memory.
#include "weft/compile/gathers.h"

#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// One step, which writes `bytes` (all that it stores) and nothing else, with the interpreter's values.
void expect_one_gather(const Tensor& output) {
    auto binding = make_binding(graph_of({output}), {});
    ASSERT_EQ(binding->steps.size(), 1u) << binding->str();
    EXPECT_NE(binding->steps[0].kernel->by(), "take");
    EXPECT_TRUE(binding->placements.empty()) << binding->str();
    Array expected = interpret(output);
    for (int threads : {1, 2}) {
        ThreadPool::instance().set_threads(threads);
        Array got = run_once(binding, graph_of({output}))[0];
        EXPECT_EQ(difference(expected, got, 1e-11, 1e-12), "") << threads << " threads";
    }
    ThreadPool::instance().set_threads(1);
}

TEST(LoopGathers, reductions_pick_what_they_join) {
    Tensor x = drawn({5000}), i = picks({7000}, 5000);
    expect_one_gather(sum(take(x, i)));
    expect_one_gather(sum(tanh(take(x, i))));
    expect_one_gather(sum(take(x, i) * exp(take(x, i))));
    expect_one_gather(max(take(x, picks({40, 50}, 5000)), 1));
    expect_one_gather(argmin(take(x, i), 0));
    expect_one_gather(sum(take(x, picks({3}, 5000)) * 2, 0));
}

TEST(LoopGathers, rows_of_a_table_are_read_where_they_are) {
    Tensor w = drawn({300, 24}), i = picks({90}, 300), v = drawn({24}), p = drawn({90, 24});
    expect_one_gather(exp(take(w, i)) * v);
    expect_one_gather(take(w, i) + p);
    expect_one_gather(sum(take(w, i), 1));
    expect_one_gather(sum(take(w, picks({9, 10}, 300)), {1, 2}));
    expect_one_gather(sqrt(abs(take(w.T(), i, 1))));
    expect_one_gather(take(w, flip(i)) - take(w, i));
}

// Several rows at once, four indices at once, and what is left of either; rows that lie backwards, indices that count from the end.
TEST(LoopGathers, the_same_picks_from_each_of_many_rows) {
    for (DType dtype : {DType::float32, DType::float64, DType::int16, DType::int8, DType::int32})
        for (std::int64_t count : {2, 3, 4, 5, 31, 700}) {
            Tensor x = drawn({2, 7, 19}, dtype), i = picks({2, 1, count}, 19), w = drawn({2, 7, count}, dtype);
            expect_one_gather(take_along_axis(x, broadcast_to(i, {2, 7, count}), 2) + w);
            expect_one_gather(take_along_axis(flip(x, {1}), broadcast_to(i, {2, 7, count}), 2) + w);
            expect_one_gather(take(x, picks({count}, 19), 2) + w);
        }
}

// Of rows longer than a thousand elements a piece of each is picked before the next one.
TEST(LoopGathers, long_rows_are_picked_in_pieces) {
    for (std::int64_t count : {2053, 2500, 3072}) {
        Tensor x = drawn({2, 3, 19}, DType::float32), i = picks({2, 1, count}, 19);
        expect_one_gather(take_along_axis(x, broadcast_to(i, {2, 3, count}), 2) * drawn({2, 1, count}, DType::float32));
        expect_one_gather(take(x, picks({count}, 19), 2) * drawn({3, 1}, DType::float32));
    }
}

// A number that rows of a group read may be made with them, anew for each block; an index may not: it is checked before any block runs.
TEST(LoopGathers, an_index_that_is_made_of_numbers_is_made_before_the_rows_that_it_points_into) {
    Tensor x = drawn({8, 6}), number = drawn({1}, DType::float64);
    Tensor place = astype(floor(abs(number) * 0.1) + 2, DType::int64);
    Tensor mean_of_rows = mean(x, 1, true);
    Tensor output = (take(x, place, 1) - mean_of_rows) * exp(mean_of_rows * number);
    Array expected = interpret(output);
    EXPECT_EQ(difference(expected, run_once(make_binding(graph_of({output}), {}), graph_of({output}))[0], 1e-11, 1e-12),
              "");
}

TEST(LoopGathers, several_axes_and_positions_along_an_axis) {
    Tensor x = drawn({20, 30, 6}), i = picks({50}, 20), j = picks({50}, 30);
    Tensor both[] = {i, j};
    expect_one_gather(sum(take(x, both, 0)));
    expect_one_gather(exp(take(x, std::span<const Tensor>(both), 0)) * 2);
    expect_one_gather(2 * take_along_axis(x, picks({20, 7, 1}, 30), 1));
}

TEST(LoopGathers, indices_of_any_integer_type_and_any_layout) {
    Tensor x = drawn({100});
    for (DType dtype : all_dtypes())
        if (is_integer(dtype)) expect_one_gather(sum(square(take(x, picks({333}, 100, dtype)))));
    Tensor square_of = picks({17, 19}, 100);
    expect_one_gather(sum(take(x, square_of.T()) * 3, 1));
    expect_one_gather(sum(take(x, picks({1000}, 100)[slice(std::nullopt, std::nullopt, -3)])));
    for (DType dtype : {DType::float16, DType::float64, DType::complex64, DType::int8})
        expect_one_gather(take(astype(x, dtype).eval(), picks({50}, 100)) +
                          take(astype(x, dtype).eval(), picks({50}, 99)));
}

TEST(LoopGathers, nothing_picked_is_nothing) {
    expect_one_gather(sum(take(drawn({5}), picks({0}, 5))));
    expect_one_gather(take(drawn({5, 0}), picks({3}, 5)) * 2);
}

TEST(LoopGathers, columns_are_joined_of_rows_that_a_library_copies) {
    Tensor w = drawn({300, 24}), i = picks({90}, 300), x = drawn({20, 30, 6});
    for (const Tensor& output :
         {sum(take(w, i), 0), sum(take(w, picks({9, 10}, 300)), {0, 1}), mean(tanh(take(w, i)), 0),
          sum(square(take(w, picks({90}, 24), 1)), 0), sum(take_along_axis(x, picks({20, 7, 6}, 30), 1), 1),
          sum(take(drawn({5, 3}), picks({0}, 5)), 0)}) {
        auto binding = make_binding(graph_of({output}), {});
        EXPECT_TRUE(std::any_of(binding->steps.begin(), binding->steps.end(), [](const BoundStep& step) {
            return step.kernel->by().starts_with("take");
        })) << binding->str();
        EXPECT_EQ(difference(interpret(output), output.array(), 1e-11, 1e-12), "");
    }
}

TEST(LoopGathers, what_others_read_or_want_is_a_librarys_take) {
    Tensor x = drawn({50, 8}), i = picks({20}, 50);
    auto steps = [](std::initializer_list<Tensor> outputs) { return make_binding(graph_of(outputs), {}); };
    EXPECT_EQ(steps({take(x, i)})->steps[0].kernel->by(), "take");
    Tensor rows = take(x, i);
    EXPECT_EQ(steps({rows, rows * 2})->steps.size(), 2u);
    EXPECT_EQ(steps({matmul(take(x, i), drawn({8, 3}))})->steps[0].kernel->by(), "take");
    // Broadcast: gathered once, read many times.
    EXPECT_EQ(steps({take(drawn({50}), picks({8}, 50)) + x})->steps.size(), 2u);
    Tensor narrow = picks({20}, 50, DType::int32), shared = take(x, narrow);
    EXPECT_EQ(steps({shared, sum(take(x, narrow) * 3, 0)})->steps.size(), 3u);
    Array expected = interpret(sum(shared * 3, 0));
    EXPECT_EQ(difference(expected, (sum(take(x, narrow) * 3, 0)).array(), 1e-11, 1e-12), "");
    Tensor kept = max(rows, 1), e = exp(rows - expand_dims(kept, 1)), soft = e / sum(e, 1, true);
    EXPECT_EQ(difference(interpret(soft), soft.array(), 1e-11, 1e-12), "");
}

TEST(LoopGathers, computed_arrays_and_computed_indices) {
    Tensor x = drawn({50, 8}), i = picks({20}, 50), y = exp(x) * 2, j = abs(i) % 50;
    for (const Tensor& output :
         {sum(take(y, i)), take(y, i) + take(y, j), sum(take(y, j) * take(x, i), 1), softmax(take(x, i) + take(y, j)),
          mean(take(softmax(x), i), 0), sum(take_along_axis(log_softmax(x), abs(picks({50, 1}, 8)) % 8, 1))}) {
        EXPECT_EQ(difference(interpret(output), output.array(), 1e-11, 1e-12), "");
    }
}

TEST(LoopGathers, an_index_outside_is_named_as_a_take_names_it) {
    Tensor x = drawn({5, 3});
    auto refused = [](const Tensor& output, const std::string& message) {
        try {
            output.array();
            ADD_FAILURE() << "was taken";
        } catch (const IndexError& error) {
            EXPECT_EQ(std::string(error.what()).substr(0, message.size()), message);
        }
    };
    refused(sum(take(x, Tensor::of<std::int64_t>({0, 4, 5}))), "take: index 5 is out of bounds for axis 0 of size 5");
    refused(take(x, Tensor::of<std::int64_t>({0, -4}), 1) * 2, "take: index -4 is out of bounds for axis 1 of size 3");
    refused(sum(take_along_axis(x, Tensor::of<std::int64_t>({0, 1, INT64_MIN, 0, 0}, {5, 1}), 1)),
            "take_along_axis: index -9223372036854775808 is out of bounds for axis 1 of size 3");
    refused(sum(take(drawn({5, 0}), Tensor::of<std::int64_t>({7}))),
            "take: index 7 is out of bounds for axis 0 of size 5");
    refused(softmax(take(x, Tensor::of<std::int64_t>({0, 9})) + take(x, Tensor::of<std::int64_t>({0, 1}))),
            "take: index 9 is out of bounds for axis 0 of size 5");
}

}  // namespace
}  // namespace weft
