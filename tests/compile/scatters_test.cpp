// Scatters as loops: what is computed for one of them alone is computed in it, and never written down.
#include "weft/compile/scatters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/autodiff/derivative.h"
#include "weft/backend/cpu/isa.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scatter.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

using testing::HasSubstr;
constexpr ScatterMode all_modes[] = {ScatterMode::set, ScatterMode::add, ScatterMode::maximum, ScatterMode::minimum};

// How many of its scatters are loops.
int loops(const Graph& graph) {
    int count = 0;
    for (const Step& step : make_plan(graph).steps) count += step.kind == Step::scatter;
    return count;
}

// So many steps, one of them a scatter that is a loop; updates have no memory; the interpreter's bits on any number of threads.
void expect_loop(std::size_t steps, const Tensor& output) {
    Graph graph = graph_of({output});
    EXPECT_EQ(loops(graph), 1) << str(make_plan(graph), graph);
    Array expected = interpret(output);
    for (int threads : {1, 2, 5}) {  // a kernel is cut for as many as there are when it is made
        ThreadPool::instance().set_threads(threads);
        auto binding = make_binding(graph, {});
        EXPECT_EQ(binding->steps.size(), steps) << binding->str();
        EXPECT_TRUE(binding->placements.empty()) << binding->str();
        EXPECT_EQ(difference(expected, run_once(binding, graph)[0], 0, 0), "") << threads << " threads\n"
                                                                               << str(make_plan(graph), graph);
    }
    ThreadPool::instance().set_threads(1);
}

TEST(LoopScatters, of_every_type_and_mode_agree_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        for (ScatterMode mode : all_modes) {
            bool extreme = mode == ScatterMode::maximum || mode == ScatterMode::minimum;
            if (extreme && is_complex(dtype)) continue;
            auto twice = [&](const Tensor& x) { return dtype == DType::bool_ ? logical_not(x) : x + x; };
            Tensor x = drawn({30, 7}, dtype), g = drawn({50, 7}, dtype);
            expect_loop(1, scatter(x, picks({50}, 30), twice(g), 0, mode));
            expect_loop(1, scatter(x, picks({50, 2}, 7), twice(drawn({30, 50, 2}, dtype)), 1, mode));
            expect_loop(1, put_along_axis(x, picks({30, 9}, 7), twice(drawn({30, 9}, dtype)), 1, mode));
            expect_loop(1, put_along_axis(x, picks({90, 7}, 30), twice(drawn({90, 7}, dtype)), 0, mode));
        }
    }
}

TEST(LoopScatters, compute_what_they_join) {
    Tensor w = drawn({100, 24}), g = drawn({300, 24}), h = drawn({300, 24}), row = drawn({24}),
           column = drawn({300, 1}), i = picks({300}, 100), lr(Array::scalar(0.25));
    for (ScatterMode mode : all_modes) {
        expect_loop(1, scatter(w, i, -0.5 * g, 0, mode));
        expect_loop(1, scatter(w, i, g * h + row, 0, mode));
        expect_loop(1, scatter(w, i, exp(row * column), 0, mode));
        expect_loop(1, scatter(w.T(), i, exp(g.T()) * lr, 1, mode));
    }
    expect_loop(1, w.at({i}).add(-lr * g));
    expect_loop(1, w.at({i, picks({300}, 24)}).add(sin(column[{slice(), 0}])));
    expect_loop(1, scatter(w, i, 0.125, 0, ScatterMode::add));
    expect_loop(1, w.at({i}).set(take(drawn({70, 24}), picks({300}, 70))));
    expect_loop(1, w.at({i}).add(take(drawn({70, 24}), picks({300}, 70)) * g));
    expect_loop(1, w.at({i}).add(random::normal({300, 24}, 0, 1, random::key(3), DType::float64)));
    expect_loop(1, scatter(drawn({700}, DType::int64), picks({900}, 700), iota(900)));
    expect_loop(1, scatter(drawn({700}, DType::int64), picks({900}, 700), flip(iota(900)), 0, ScatterMode::add));
    expect_loop(1, put_along_axis(w, picks({100, 1}, 24), 2 * drawn({100, 1}), 1, ScatterMode::add));
    expect_loop(1, put_along_axis(w, picks({250, 24}, 100), drawn({250, 24}) * row, 0, ScatterMode::add));
    Tensor cube = drawn({40, 30, 20}), both[] = {picks({60}, 30), picks({60}, 20)};
    expect_loop(1, scatter(cube, std::span<const Tensor>(both), 1 / drawn({40, 60}), 1, ScatterMode::add));
    expect_loop(1, put_along_axis(cube, picks({40, 70, 20}, 30), drawn({40, 70, 20}) * 2, 1, ScatterMode::add));
}

TEST(LoopScatters, large_ones_on_several_threads) {
    Tensor ids = picks({3000}, 500);
    expect_loop(1, scatter(drawn({500, 128}), ids, drawn({3000, 128}) * 0.1, 0, ScatterMode::add));
    expect_loop(1, scatter(drawn({500, 80}), ids, exp(drawn({3000, 80})), 0, ScatterMode::add));
    expect_loop(1, scatter(drawn({500}), picks({100000}, 500), exp(drawn({100000})), 0, ScatterMode::add));
    expect_loop(1, put_along_axis(drawn({900, 50}), picks({900, 80}, 50), exp(drawn({900, 80})), 1));
    expect_loop(1, scatter(drawn({500, 64}, DType::complex64), ids, drawn({3000, 64}, DType::complex64) * 2, 0,
                           ScatterMode::add));
}

TEST(LoopScatters, nothing_is_scattered_into_anything) {
    expect_loop(1, scatter(drawn({5, 3}), picks({0}, 5), drawn({0, 3}) * 2, 0, ScatterMode::add));
    expect_loop(1, scatter(drawn({5, 0}), picks({4}, 5), drawn({4, 0}) * 2, 0, ScatterMode::add));
    expect_loop(1, put_along_axis(drawn({5, 3}), picks({0, 3}, 5), drawn({0, 3}) * 2, 0));
    expect_loop(1, scatter(drawn({5}), Tensor::of<std::int64_t>({-5}, {}), exp(drawn({})), 0, ScatterMode::add));
}

// The gradient of an embedding: zeros, and what is added to them where they lie.
TEST(LoopScatters, the_gradient_of_an_embedding_takes_no_memory_but_its_own) {
    Tensor ids = picks({2000}, 700), g = drawn({2000, 32}), scale = drawn({32});
    expect_loop(2, scatter(zeros({700, 32}, DType::float64), ids, g * scale, 0, ScatterMode::add));
    Tensor w = drawn({700, 32}), loss = sum(take(w, ids) * (g * scale));
    Graph graph = rewritten_graph({gradient(loss, w)});
    EXPECT_EQ(loops(graph), 1) << str(make_plan(graph), graph);
    EXPECT_TRUE(make_binding(graph, {})->placements.empty());
    EXPECT_EQ(difference(interpret(gradient(loss, w)), gradient(loss, w).array(), 1e-12, 1e-12), "");
}

TEST(LoopScatters, updates_that_lie_in_memory_are_a_librarys) {
    Tensor w = drawn({100, 24}), g = drawn({300, 24}), i = picks({300}, 100), twice = g * 2;
    auto count = [](std::initializer_list<Tensor> outputs) { return loops(graph_of(outputs)); };
    EXPECT_EQ(count({w.at({i}).add(g)}), 0);
    EXPECT_EQ(count({w.at({i}).add(broadcast_to(drawn({24}), {300, 24}))}), 0);
    EXPECT_EQ(count({w.at({i}).add(twice), twice}), 0);
    EXPECT_EQ(count({w.at({i}).add(matmul(g, drawn({24, 24})))}), 0);
    EXPECT_EQ(count({w.at({i}).add(twice), drawn({100, 24}).at({i}).add(twice)}), 0);
}

// Rows of up to 2,048 numbers are added whole or in pieces, by the instruction set's own loop where they are long.
TEST(Scatters, of_wide_rows_give_the_interpreters_bits_on_every_instruction_set) {
    cpu::Isa before = cpu::best_isa();
    for (DType dtype : {DType::float32, DType::float64})
        for (std::int64_t width : {127, 128, 133, 300, 2100}) {
            Tensor x = drawn({7, width}, dtype), updates = drawn({40, width}, dtype), i = picks({40}, 7);
            Tensor memory = scatter(x, i, updates, 0, ScatterMode::add);
            Tensor made = scatter(x, i, updates + updates, 0, ScatterMode::add);
            Array expected = interpret(memory);
            for (cpu::Isa isa : cpu::usable_isas()) {
                cpu::use_isa(isa);
                expect_loop(1, made);
                for (int threads : {1, 3}) {
                    ThreadPool::instance().set_threads(threads);
                    Graph graph = graph_of({memory});
                    EXPECT_EQ(difference(expected, run_once(make_binding(graph, {}), graph)[0], 0, 0), "")
                        << width << " numbers, " << threads << " threads, " << cpu::name_of(isa);
                }
                ThreadPool::instance().set_threads(1);
            }
        }
    cpu::use_isa(before);
}

// A loop reads while it writes, and late: not what it changes, nor what another would write over.
TEST(LoopScatters, what_is_written_in_place_is_read_before) {
    Tensor w = drawn({100, 24}), v = drawn({100, 24}), i = picks({300}, 100), j = picks({300}, 100),
           d = drawn({300, 1});
    Tensor y = w * 2;
    for (const std::vector<Tensor>& outputs :
         std::vector<std::vector<Tensor>>{{w.at({i}).add(take(w, j) * 2)},
                                          {scatter(w, iota(100), w.T().T() * 2, 0, ScatterMode::add)},
                                          {w.at({i}).add(d * take(v, j)), v.at({j}).add(d * take(w, i))},
                                          {y.at({i}).add(take(y, j) * 3), y},
                                          {w.at({i}).add(d * 2).at({j}).add(take(w, j) * d)}}) {
        Graph graph = graph_of(outputs);
        for (const Step& step : make_plan(graph).steps) {
            if (step.kind != Step::scatter) continue;
            for (std::size_t k = 1; k < step.loads.size(); ++k)
                for (const Tensor& changed : {w, v, y}) EXPECT_NE(graph.node(step.loads[k]).shape, changed.shape());
        }
        std::vector<Array> expected = interpret(outputs), got = run(graph, {}, 2);
        for (std::size_t k = 0; k < outputs.size(); ++k) EXPECT_EQ(difference(expected[k], got[k], 0, 0), "");
    }
}

TEST(LoopScatters, one_computed_array_is_read_instead_of_the_updates_and_more_are_not) {
    Tensor w = drawn({100, 24}), i = picks({300}, 100), a = drawn({300, 24}), b = drawn({24, 24});
    Tensor product = matmul(a, b), other = softmax(a, 1);
    EXPECT_EQ(loops(graph_of({w.at({i}).add(-0.1 * product)})), 1);
    EXPECT_EQ(loops(graph_of({w.at({i}).add(product * other)})), 0);
    for (const Tensor& output : {w.at({i}).add(-0.1 * product), w.at({i}).add(product * other)})
        EXPECT_EQ(difference(interpret(output), run(graph_of({output}), {}, 2)[0], 1e-12, 1e-12), "");
}

TEST(LoopScatters, are_named_in_the_plan) {
    Tensor w = drawn({9, 4}), ids = picks({5}, 9), output = exp(w.at({ids}).add(sin(drawn({5, 4}))));
    Graph graph = graph_of({output});
    std::string said = str(make_plan(graph), graph);
    EXPECT_THAT(said, HasSubstr("scatter of sin %"));
    EXPECT_THAT(said, HasSubstr("scatter is joined where indices say: its loop gives no points to others"));
}

// A step on Parameters, with updates computed in the scatter: it writes where the table lies, and nothing else of its size.
TEST(LoopScatters, write_over_a_parameter) {
    for (DType dtype : {DType::float32, DType::float16, DType::complex64}) {
        Parameter w(Tensor(contiguous(drawn({50, 8}, dtype).array())), "w");
        Tensor expected = w.value();
        CompiledFunction step([&](std::span<const Tensor> x) {
            w.set(w.value().at({x[0]}).add(x[1] * x[1]));
            return std::vector<Tensor>{zeros({})};
        });
        const void* first = nullptr;
        for (int k = 0; k < 4; ++k) {
            const Tensor arguments[] = {picks({20 + k}, 50), drawn({20 + k, 8}, dtype)};
            expected = Tensor(interpret(expected.at({arguments[0]}).add(arguments[1] * arguments[1])));
            step(arguments);
            EXPECT_EQ(difference(expected.array(), w.value().array(), 0, 0), "");
            if (k == 1) first = w.value().node()->value().address();
            if (k > 1) {
                EXPECT_EQ(w.value().node()->value().address(), first);
            }
        }
    }
}

// The index that is refused is the scatter's, or that of a gather in it: each names its own line, and the table stays as it was.
TEST(LoopScatters, an_index_outside_is_named_by_its_line_and_loses_nothing) {
    Tensor from = drawn({40, 4}, DType::float32), good = picks({3}, 10);
    auto refused = [&](const Tensor& i, const Tensor& j, const std::string& message, bool gathers) {
        Parameter w(Tensor(contiguous(drawn({10, 4}, DType::float32).array())), "w");
        std::vector<float> before = w.value().to_vector<float>();
        unsigned line = 0;
        CompiledFunction step([&](std::span<const Tensor> x) {
            line = __LINE__ + 1;
            Tensor picked = take(from, x[1]);
            w.set(w.value().at({x[0]}).add(picked * 2));
            return std::vector<Tensor>{zeros({})};
        });
        for (int k = 0; k < 2; ++k) {
            try {
                const Tensor arguments[] = {i, j};
                step(arguments);
                ADD_FAILURE() << "was taken";
            } catch (const IndexError& error) {
                EXPECT_THAT(error.what(), HasSubstr(message));
                EXPECT_THAT(error.what(), HasSubstr(text("scatters_test.cpp:", gathers ? line : line + 1)));
                EXPECT_THAT(error.what(),
                            testing::Not(HasSubstr(text("scatters_test.cpp:", gathers ? line + 1 : line))));
            }
            EXPECT_EQ(w.value().to_vector<float>(), before);
        }
    };
    refused(Tensor::of<std::int64_t>({0, 10, 1}), good, "scatter: index 10 is out of bounds for axis 0 of size 10",
            false);
    refused(Tensor::of<std::int64_t>({0, 1, -11}), good, "scatter: index -11 is out of bounds for axis 0 of size 10",
            false);
    refused(good, Tensor::of<std::int64_t>({0, 40, 1}), "take: index 40 is out of bounds for axis 0 of size 40", true);
}

// A later scatter's index is checked before the first table is written over.
TEST(LoopScatters, tables_are_left_alone_by_a_later_index) {
    Parameter w(Tensor(contiguous(drawn({10, 4}, DType::float32).array())), "w"),
        v(Tensor(contiguous(drawn({12, 4}, DType::float32).array())), "v");
    std::vector<float> w_before = w.value().to_vector<float>(), v_before = v.value().to_vector<float>();
    CompiledFunction step([&](std::span<const Tensor> x) {
        w.set(w.value().at({x[0]}).add(x[2] * 2));
        v.set(v.value().at({x[1]}).add(exp(x[2])));
        return std::vector<Tensor>{zeros({})};
    });
    Tensor g = drawn({3, 4}, DType::float32), good = picks({3}, 10);
    for (const Tensor& bad : {Tensor::of<std::int64_t>({0, 12, 1}), Tensor::of<std::int64_t>({-13, 2, 1})}) {
        const Tensor arguments[] = {good, bad, g};
        EXPECT_THROW(step(arguments), IndexError);
        EXPECT_EQ(w.value().to_vector<float>(), w_before);
        EXPECT_EQ(v.value().to_vector<float>(), v_before);
    }
    const Tensor arguments[] = {good, good, g};
    EXPECT_NO_THROW(step(arguments));
}

// What the output held is not lost to an index that is refused either.
TEST(LoopScatters, copy_what_they_change_after_indices_were_checked) {
    Graph graph = graph_of({scatter(drawn({3, 2}), picks({4}, 3), drawn({4, 2}) * 2, 0, ScatterMode::add)});
    Loop loop = make_binding(graph, {.donors = {}, .keep_loops = true})->steps[0].loops[0];
    ASSERT_TRUE(loop.scatter);
    auto kernel =
        scatter_kernel(cpu_compiler(), loop, {DType::float64, {3, 2}, {1, 3}}, {DType::float64, {3, 2}, {2, 1}});
    auto scratch = Buffer::allocate(kernel->scratch_bytes());
    double x[] = {1, 2, 3, 4, 5, 6}, g[] = {1, 1, 2, 2, 3, 3, 4, 4};
    alignas(64) double y[] = {0, 0, 0, 0, 0, 0};  // as the output that the loop was bound to
    std::int64_t index[] = {0, 2, 0, 3};
    void* operands[] = {x, index, g, y};
    EXPECT_THROW(kernel->run(operands, scratch->data()), IndexError);
    EXPECT_THAT(y, testing::Each(0));
    index[3] = -1;
    kernel->run(operands, scratch->data());
    EXPECT_THAT(y, testing::ElementsAre(1 + 8, 4 + 8, 2, 5, 3 + 12, 6 + 12));
}

}  // namespace
}  // namespace weft
