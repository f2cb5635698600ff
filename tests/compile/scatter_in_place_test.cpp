// Scatters that write over what they change: an embedding's update touches the rows that it changes and nothing else.
#include <gtest/gtest.h>

#include "threads.h"
#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/compile/plan_cache.h"
#include "weft/graph/graph.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scatter.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

using Places = std::vector<std::int64_t>;

Tensor table(std::int64_t rows, std::int64_t width = 4, DType dtype = DType::float32) {
    return Tensor(Draw(text("table ", rows)).array(dtype, {rows, width}));
}
Tensor picks_of(const Places& numbers) { return Tensor::of(numbers, {static_cast<std::int64_t>(numbers.size())}); }

// The update of the acceptance check, with as many uses of w as there may be.
Tensor updated(const Tensor& w, const Tensor& i, const Tensor& j) {
    Tensor loss = sum(tanh(take(w, i)) + take(w, j) + w[1]) + sum(square(w[slice(2, 5)])) + sum(w[{-1, slice(0, 2)}]);
    return w - 0.1 * gradient(loss, w);
}

// Bound with the leaf that is `w` as the first output's donor.
std::shared_ptr<const Binding> bound(const Tensor& output, const Tensor& w, std::int32_t* leaf = nullptr) {
    Node* nodes[] = {output.node()};
    Graph graph = gather(nodes);
    BindOptions options{{-1}};
    for (std::size_t i = 0; i < graph.leaves.size(); ++i)
        if (&graph.node(graph.leaves[i]) == w.node()) options.donors[0] = static_cast<std::int32_t>(i);
    if (leaf) *leaf = options.donors[0];
    return make_binding(graph, options);
}

TEST(ScatterInPlace, an_embeddings_update_writes_to_the_donated_table_and_to_nothing_else_of_its_size) {
    Threads one(1);  // more have scratch memory each, where there is enough for them
    Tensor i = picks_of({3, 7, 3, -1}), j = picks_of({0, 3, 8, 2});
    std::size_t arena = 0;
    for (std::int64_t rows : {1000, 100000}) {
        Tensor w = table(rows);
        std::int32_t leaf = -1;
        auto binding = bound(updated(w, i, j), w, &leaf);
        ASSERT_EQ(binding->outputs.size(), 1u);
        EXPECT_EQ(binding->outputs[0].donor, leaf) << binding->str();
        for (const Placement& placement : binding->placements)
            EXPECT_LT(placement.bytes, 1000u) << "%" << placement.entry << '\n' << binding->str();
        if (arena != 0) {
            EXPECT_EQ(binding->arena_bytes, arena) << binding->str();
        }
        arena = binding->arena_bytes;
    }
}

TEST(ScatterInPlace, however_the_update_and_what_it_reads_are_written) {
    Tensor w = table(5000, 6, DType::float64), i = picks_of({3, 7, 3, -1}), j = picks_of({0, 3, 8, 2}),
           m(Draw("m").array(DType::float64, {6, 3})), lr(Array::scalar(0.25));
    auto g = [&](const Tensor& loss) { return gradient(loss, w); };
    Tensor both = sum(exp(w[i]) * w[j] + w[1]);
    std::pair<const char*, Tensor> forms[] = {
        {"rate behind", w - g(both) * 0.1},
        {"rate negative", w + -0.1 * g(both)},
        {"negated", -(0.1 * g(both)) + w},
        {"rate a tensor", w - lr * (lr * g(both))},
        {"rate divided", w - 0.1 * g(both) / 4},
        {"no rate", w - g(both)},
        {"a mean", w - 0.1 * g(mean(tanh(w[i]) + w[j] - w[1]))},
        {"linear", w - 0.1 * g(sum(w[i] + w[j] + w[1]))},
        {"slices alone", w - 0.1 * g(sum(w[1] * w[2]) + sum(square(w[slice(3, 9, 2)])))},
        {"an element", w - 0.1 * g(exp(w[{3, 2}]) + sum(w[i]))},
        {"a bag of words", w - 0.1 * g(sum(square(sum(w[reshape(i, {2, 2})], 1))))},
        {"a product", w - 0.1 * g(sum(square(matmul(w[i], m))) + sum(w[-1]))},
        {"picked columns", w - 0.1 * g(sum(exp(w[{i, j % 6}])))},
        {"rows cut", w - 0.1 * g(sum(exp(w[{i, slice(0, 2)}])))},
        {"rows of a slice", w - 0.1 * g(sum(exp(w[slice(0, 100)][i])))},
        {"transposed", w - 0.1 * g(sum(exp(take(w.T(), i, 1))) + sum(w[j]))},
        {"two losses", w - 0.1 * g(sum(exp(w[i]))) - 0.2 * g(sum(exp(w[j])))},
        {"set", w.at({slice(2, 4)}).set(7)},
        {"set a row", w.at({2}).set(lr)},
        {"add to a slice", w.at({slice(2, 9, 3)}).add(lr)},
    };
    for (auto& [name, form] : forms) {
        auto binding = bound(form, w);
        EXPECT_GE(binding->outputs[0].donor, 0) << name << '\n' << binding->str();
        for (const Placement& placement : binding->placements)
            EXPECT_LT(placement.bytes, 5000u) << name << '\n' << binding->str();
        Array expected = interpret(form);
        EXPECT_EQ(difference(expected, form.array(), 1e-14, 1e-13), "") << name;
    }
}

// The gradient of a value beside picks_of of itself begins as the first part of an array that has those of both.
TEST(ScatterInPlace, a_part_of_something_larger_is_not_the_result) {
    Tensor v = table(16, 1, DType::float64), i = picks_of({0, 2, 1, 0});
    Tensor d = gradient(sum(sin(concatenate({v, square(take(v, i, 0))}, 0))), v);
    EXPECT_EQ(difference(interpret(d), d.array(), 1e-13, 1e-13), "");
}

TEST(ScatterInPlace, what_dies_in_a_scatter_is_written_over_in_the_arena) {
    Tensor x = table(50), y = scatter(exp(x), picks_of({1, 2}), table(2), 0, ScatterMode::add);
    auto binding = bound(sum(square(y), 0), x);
    const BoundStep& step = binding->steps[1];
    ASSERT_EQ(step.operation, &scatter_operation) << binding->str();
    EXPECT_EQ(step.operands[0].base, step.operands.back().base);
    EXPECT_EQ(step.operands[0].offset, step.operands.back().offset);
}

TEST(ScatterInPlace, what_is_read_again_or_by_the_scatter_itself_is_left_alone) {
    Tensor x = table(8, 8), i = picks_of({1, 1, 3});
    auto same = [&](const Tensor& written) {
        Array expected = interpret(written);
        EXPECT_EQ(difference(expected, written.array(), 0, 1e-6), "");
    };
    Tensor y = exp(x);
    same(scatter(y, i, take(y, i), 0, ScatterMode::add) + 0 * y);
    Tensor z = exp(x);
    same(scatter(z, iota(8), z.T(), 0, ScatterMode::add));
    Tensor n = iota(8) * 1;
    same(scatter(n, flip(n), n * n, 0, ScatterMode::set));
    auto donor = [&](const Tensor& updates) {
        return bound(scatter(x, flip(iota(8)), updates, 0, ScatterMode::add), x)->outputs[0].donor;
    };
    EXPECT_EQ(donor(x), -1);
    EXPECT_EQ(donor(x.T()), -1);
    EXPECT_GE(donor(x * 2), 0);  // written down before
}

// A step on a parameter, against the same formula of numbers.
TEST(ScatterInPlace, a_parameters_steps_are_those_of_the_interpreter) {
    for (DType dtype : {DType::float32, DType::float64}) {
        Parameter w(table(30, 4, dtype), "w");
        Tensor expected = w.value();
        CompiledFunction step([&](std::span<const Tensor> x) {
            w.set(updated(w.value(), x[0], x[1]));
            return std::vector<Tensor>{zeros({})};
        });
        for (int k = 0; k < 3; ++k) {
            Tensor i = picks_of({k, 7, 7, -1, 7}), j = picks_of({0, 7, 3, k, -30});
            expected = Tensor(interpret(updated(expected, i, j)));
            const Tensor arguments[] = {i, j};
            step(arguments);
            EXPECT_EQ(difference(expected.array(), w.value().array(), 0, dtype == DType::float32 ? 1e-6 : 1e-14), "");
        }
    }
}

// A kernel may write where it reads point by point, not where it picks_of.
TEST(ScatterInPlace, a_parameter_that_is_picked_from_is_not_written_over) {
    Parameter w(Tensor(contiguous(table(30).array())), "w");
    Tensor expected = Tensor(contiguous((w.value() * 1).array())), i = flip(iota(30));
    auto mixed = [&](const Tensor& x) { return take(x, i) * 0.5 + x; };
    CompiledFunction step([&](std::span<const Tensor>) {
        w.set(mixed(w.value()));
        return std::vector<Tensor>{zeros({})};
    });
    for (int k = 0; k < 3; ++k) {
        expected = Tensor(interpret(mixed(expected)));
        step({});
        EXPECT_EQ(difference(expected.array(), w.value().array(), 0, 1e-6), "");
    }
}

TEST(ScatterInPlace, the_memory_of_a_parameter_stays_where_it_is) {
    Parameter w(Tensor(contiguous(table(30).array())), "w");
    CompiledFunction step([&](std::span<const Tensor> x) {
        w.set(updated(w.value(), x[0], x[1]));
        return std::vector<Tensor>{zeros({})};
    });
    const Tensor arguments[] = {picks_of({1, 2, 2}), picks_of({2, 0, 29})};
    step(arguments);
    const void* first = w.value().node()->value().address();
    for (int k = 0; k < 3; ++k) step(arguments);
    EXPECT_EQ(w.value().node()->value().address(), first);
}

// Each of these writes over w before the bad index of a later step is met, if nobody looks ahead.
TEST(ScatterInPlace, an_index_outside_loses_nothing_of_what_was_donated) {
    auto refused = [](auto body, std::vector<Tensor> arguments) {
        Parameter w(Tensor(contiguous(table(10).array())), "w"), v(Tensor(contiguous(table(10).array())), "v");
        std::vector<float> w_before = w.value().to_vector<float>(), v_before = v.value().to_vector<float>();
        CompiledFunction step([&](std::span<const Tensor> x) {
            body(w, v, x);
            return std::vector<Tensor>{zeros({})};
        });
        for (int k = 0; k < 2; ++k) {
            try {
                step(arguments);
                FAIL() << "an index outside was taken";
            } catch (const IndexError& error) {
                EXPECT_NE(std::string(error.what()).find("is out of bounds for axis 0 of size 10"), std::string::npos)
                    << error.what();
            }
            EXPECT_EQ(w.value().to_vector<float>(), w_before);
            EXPECT_EQ(v.value().to_vector<float>(), v_before);
        }
    };
    Tensor good = picks_of({1, 2}), bad = picks_of({1, 10});
    using Cells = std::span<const Tensor>;
    refused(
        [](Parameter& w, Parameter&, Cells x) {
            w.set(scatter(w.value(), x[0], ones({2, 4}), 0, ScatterMode::add));
        },
        {bad});
    refused(
        [](Parameter& w, Parameter&, Cells x) {
            Tensor once = scatter(w.value(), x[0], ones({2, 4}), 0, ScatterMode::add);
            w.set(scatter(once, x[1], ones({2, 4}), 0, ScatterMode::add));
        },
        {good, bad});
    refused(
        [](Parameter& w, Parameter& v, Cells x) {
            w.set(w.value() * 2);
            v.set(scatter(v.value(), x[0], take(w.value(), x[0] * 1), 0, ScatterMode::add));
        },
        {bad});
    refused(
        [](Parameter& w, Parameter& v, Cells x) {
            Tensor once = scatter(w.value(), x[0], ones({2, 4}), 0, ScatterMode::add);
            w.set(once);
            v.set(v.value() + sum(take(once, astype(once[{slice(0, 2), 0}] * 0, DType::int64) + 11), 0));
        },
        {good});
}

TEST(ScatterInPlace, duplicates_add_up_and_the_same_step_gives_the_same_bits) {
    auto run = [] {
        Parameter w(Tensor(contiguous(zeros({6, 3}).array())), "w");
        CompiledFunction step([&](std::span<const Tensor> x) {
            w.set(w.value() - 0.5 * gradient(sum(take(w.value(), x[0]) * x[1]), w.value()));
            return std::vector<Tensor>{zeros({})};
        });
        const Tensor arguments[] = {picks_of({2, 2, 5, 2}), Tensor(Draw("g").array(DType::float32, {4, 3}))};
        step(arguments);
        return w.value().to_vector<float>();
    };
    std::vector<float> once = run();
    EXPECT_EQ(once, run());
    std::vector<float> g = Tensor(Draw("g").array(DType::float32, {4, 3})).to_vector<float>();
    EXPECT_NEAR(once[6], -0.5f * (g[0] + g[3] + g[9]), 1e-6);
    EXPECT_EQ(once[0], 0);
}

}  // namespace
}  // namespace weft
