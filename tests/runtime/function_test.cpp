#include "weft/runtime/function.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "effort.h"
#include "must_fail.h"
#include "random_program.h"
#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/graph/node.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/runtime/oracle.h"

namespace {
std::atomic<std::size_t> news{0};
}  // namespace

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // g++ does not see that both sides are replaced
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers bring their own
// Every allocation of this program is counted: a steady step makes none.
void* operator new(std::size_t size) {
    news.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t align) {
    news.fetch_add(1, std::memory_order_relaxed);
    auto alignment = static_cast<std::size_t>(align);
    if (void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace weft {
namespace {

std::vector<Tensor> copies(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> result;
    for (const Tensor& tensor : tensors) {
        Array from = tensor.array(), to = Array::empty(from.dtype, from.dims);
        copy_elements(from, to);
        result.emplace_back(to);
    }
    return result;
}

// What one call computes from arguments and the values of cells: results, and new values of some cells.
struct Outcome {
    std::vector<Tensor> results, cells;
};
Outcome outcome(std::uint64_t seed, const std::vector<Tensor>& arguments, const std::vector<Tensor>& cells) {
    RandomProgram program(seed);
    std::vector<Tensor> inputs = arguments;
    inputs.insert(inputs.end(), cells.begin(), cells.end());
    std::vector<Tensor> all = program.run(inputs, 3 + static_cast<int>(seed % 14));
    Outcome out;
    for (int i = 0; i < 3; ++i) out.results.push_back(program.any());
    for (const Tensor& cell :
         cells) {  // the latest of the cell's shape: often the cell itself, another cell, or a view of one
        std::vector<Tensor> fitting;
        for (const Tensor& tensor : all)
            if (tensor.shape() == cell.shape()) fitting.push_back(tensor);
        out.cells.push_back(
            fitting[static_cast<std::size_t>(program.draw().below(static_cast<std::int64_t>(fitting.size())))]);
    }
    return out;
}

void check_function(std::uint64_t seed) {
    Draw draw(text("function ", seed));
    std::vector<Parameter> parameters;
    std::vector<Tensor> state;
    for (const Dims& dims : {Dims{3, 4}, Dims{4}, Dims{4, 3}, Dims{3, 4}}) {
        state.emplace_back(small_integers(dims, draw));
        parameters.emplace_back(copies({state.back()})[0], "cell");
    }
    CompiledFunction step([&](std::span<const Tensor> arguments) {
        std::vector<Tensor> cells;
        for (const Parameter& parameter : parameters) cells.push_back(parameter.value());
        Outcome out = outcome(seed, {arguments.begin(), arguments.end()}, cells);
        for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].set(out.cells[i]);
        return out.results;
    });
    std::vector<std::pair<Tensor, Array>> held;  // what was handed out must stay as it was
    std::vector<Tensor> results;
    for (int call = 0; call < 5; ++call) {
        std::vector<Tensor> arguments{Tensor(small_integers({3, 4}, draw)), Tensor(small_integers({2, 1, 4}, draw))};
        Outcome expected = outcome(seed, arguments, state);
        state = copies(expected.cells);
        step.call(arguments, results);
        for (std::size_t i = 0; i < results.size(); ++i) {
            ASSERT_EQ(difference(interpret(expected.results[i]), results[i].array(), 0, 0), "")
                << "seed " << seed << " call " << call << " result " << i;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            ASSERT_EQ(difference(state[i].array(), parameters[i].value().array(), 0, 0), "")
                << "seed " << seed << " call " << call << " cell " << i;
        }
        for (auto& [tensor, value] : held)
            ASSERT_EQ(difference(value, tensor.array()), "")
                << "seed " << seed << " call " << call << " changed what was handed out before";
        if (seed % 2 == 0) {
            for (const Tensor& tensor : results) held.emplace_back(tensor, copies({tensor})[0].array());
            if (seed % 4 == 0)
                for (const Parameter& parameter : parameters)
                    held.emplace_back(parameter.value(), copies({parameter.value()})[0].array());
        }
    }
}

TEST(CompiledFunction, random_programs_with_cells_do_what_eager_evaluation_does) {
    for (std::uint64_t seed = 0; seed < cases(1500, 20000); ++seed) {
        ASSERT_NO_THROW(check_function(seed)) << "seed " << seed;
        if (HasFailure()) return;
    }
}

// A training step of two layers.
struct Net {
    Parameter w1{random::normal({8, 16}, 0, 0.3, random::key(1)).eval(), "w1"}, b1{zeros({16}).eval(), "b1"};
    Parameter w2{random::normal({16, 3}, 0, 0.3, random::key(2)).eval(), "w2"},
        m{zeros({8, 16}).eval(), "momentum", false};
    std::vector<Tensor> step(std::span<const Tensor> x) {
        Tensor p[] = {w1.value(), b1.value(), w2.value()};
        Tensor loss = mean(square(matmul(tanh(matmul(x[0], p[0]) + p[1]), p[2]) - x[1]));
        std::vector<Tensor> g = gradient(loss, p);
        m.set(m.value() * 0.9f + g[0]);
        w1.set(p[0] - m.value() * 0.1f), b1.set(p[1] - g[1] * 0.1f), w2.set(p[2] - g[2] * 0.1f);
        return {loss};
    }
};

TEST(CompiledFunction, a_steady_step_allocates_nothing) {
    Net net;
    CompiledFunction step([&](std::span<const Tensor> x) { return net.step(x); });
    Tensor arguments[] = {random::normal({32, 8}, 0, 1, random::key(3)).eval(),
                          random::normal({32, 3}, 0, 1, random::key(4)).eval()};
    std::vector<Tensor> results;
    for (int i = 0; i < 4; ++i) step.call(arguments, results);
    std::size_t before = news, buffers = Buffer::count().allocations;
    for (int i = 0; i < 20; ++i) step.call(arguments, results);
    EXPECT_EQ(news - before, 0u);
    EXPECT_EQ(Buffer::count().allocations, buffers);
}

TEST(CompiledFunction, is_the_eager_step_to_the_bit) {
    Net traced, eager;
    CompiledFunction step([&](std::span<const Tensor> x) { return traced.step(x); });
    Tensor arguments[] = {random::normal({32, 8}, 0, 1, random::key(3)).eval(),
                          random::normal({32, 3}, 0, 1, random::key(4)).eval()};
    for (int i = 0; i < 10; ++i) {
        float loss = step(arguments)[0].item<float>();
        std::vector<Tensor> alone = eager.step(arguments);
        for (Parameter* p : {&eager.w1, &eager.b1, &eager.w2, &eager.m}) alone.push_back(p->value());
        eval(alone);
        ASSERT_EQ(loss, alone[0].item<float>()) << i;
    }
    EXPECT_EQ(difference(eager.w1.value().array(), traced.w1.value().array()), "");
}

TEST(CompiledFunction, traces_again_for_other_shapes_and_dtypes_only) {
    int traced = 0;
    CompiledFunction twice([&](std::span<const Tensor> x) { return ++traced, std::vector<Tensor>{x[0] * 2}; });
    auto call = [&](const Tensor& x) { return twice(std::span<const Tensor>(&x, 1))[0]; };
    EXPECT_EQ(call(Tensor::of<float>({1, 2})).to_vector<float>(), (std::vector<float>{2, 4}));
    EXPECT_EQ(call(Tensor::of<float>({3, 4})).to_vector<float>(), (std::vector<float>{6, 8}));
    EXPECT_EQ(traced, 1);
    EXPECT_EQ(call(Tensor::of<double>({3, 4})).to_vector<double>(), (std::vector<double>{6, 8}));
    EXPECT_EQ(call(Tensor::of<float>({3})).to_vector<float>(), (std::vector<float>{6}));
    EXPECT_EQ(traced, 3);
}

TEST(CompiledFunction, takes_arguments_however_they_lie) {
    CompiledFunction f([](std::span<const Tensor> x) { return std::vector<Tensor>{x[0] - x[1]}; });
    Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
    Tensor arguments[] = {a.T(), flip(a.reshape({3, 2}))};
    EXPECT_EQ(f(arguments)[0].to_vector<float>(), (std::vector<float>{-5, -1, -2, 2, 1, 5}));
}

TEST(CompiledFunction, a_result_that_is_an_argument_or_a_number_is_handed_out) {
    CompiledFunction f([](std::span<const Tensor> x) {
        return std::vector<Tensor>{x[0], full({2}, 3), x[0].T(), x[0] * 0 + 1};
    });
    Tensor a = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
    std::vector<Tensor> results = f(std::span<const Tensor>(&a, 1));
    EXPECT_EQ(results[0].to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(results[1].to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 3}));
    EXPECT_EQ(results[2].to_vector<float>(), (std::vector<float>{1, 3, 2, 4}));
}

TEST(CompiledFunction, parameters_swap_without_losing_either) {
    Parameter a(Tensor::of<float>({1, 2}), "a"), b(Tensor::of<float>({3, 4}), "b");
    CompiledFunction swap([&](std::span<const Tensor>) {
        Tensor old = a.value();
        a.set(b.value()), b.set(old);
        return std::vector<Tensor>{};
    });
    for (int i = 0; i < 3; ++i) swap({});
    EXPECT_EQ(a.value().to_vector<float>(), (std::vector<float>{3, 4}));
    EXPECT_EQ(b.value().to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(CompiledFunction, draws_anew_at_every_call) {
    random::seed(11);
    CompiledFunction draw([](std::span<const Tensor>) { return std::vector<Tensor>{random::uniform({4})}; });
    std::vector<float> first = draw({})[0].to_vector<float>(), second = draw({})[0].to_vector<float>();
    EXPECT_NE(first, second);
    random::seed(11);
    EXPECT_EQ(draw({})[0].to_vector<float>(), first);
    random::seed(11);
    EXPECT_EQ(random::uniform({4}).to_vector<float>(), first);
}

TEST(CompiledFunction, asking_for_a_value_while_tracing_is_refused) {
    CompiledFunction f([](std::span<const Tensor> x) { return std::vector<Tensor>{x[0] * sum(x[0]).item<float>()}; });
    Tensor a = Tensor::of<float>({1, 2});
    EXPECT_PLAIN_MESSAGE(ValueError,
                         "the value of the input 'argument 0' float32 (2,) is not known here: a function is being "
                         "traced, or the input was declared and not given. "
                         "Numbers can be asked for when the function is called, not while it is written",
                         f(std::span<const Tensor>(&a, 1)));
    int declared_line = __LINE__ + 1;
    Tensor declared = input("x", {"batch", 784});
    EXPECT_PLAIN_MESSAGE(ValueError,
                         text("the value of the input 'x' float32 (batch, 784) is not known here: a function is being "
                              "traced, or the input was declared and not given. "
                              "Numbers can be asked for when the function is called, not while it is written\n  at ",
                              __FILE__, ":", declared_line),
                         (declared + 1).eval());
}

TEST(CompiledFunction, a_body_that_throws_leaves_cells_as_they_were) {
    Parameter w(Tensor::of<float>({1, 2}), "w");
    CompiledFunction f([&](std::span<const Tensor> x) {
        w.set(w.value() + 1);
        return std::vector<Tensor>{matmul(x[0], w.value())};
    });
    Tensor wrong = Tensor::of<float>({1, 2, 3});
    EXPECT_THROW(f(std::span<const Tensor>(&wrong, 1)), ShapeError);
    EXPECT_EQ(w.value().to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(CompiledFunction, inside_another_becomes_part_of_it) {
    Parameter count(Tensor::of<float>({0}), "count");
    CompiledFunction inner([&](std::span<const Tensor> x) {
        count.set(count.value() + 1);
        return std::vector<Tensor>{x[0] * 2};
    });
    CompiledFunction outer([&](std::span<const Tensor> x) { return inner(inner(x)); });
    Tensor a = Tensor::of<float>({1});
    EXPECT_EQ(outer(std::span<const Tensor>(&a, 1))[0].item<float>(), 4);
    EXPECT_EQ(outer(std::span<const Tensor>(&a, 1))[0].item<float>(), 4);
    EXPECT_EQ(count.value().item<float>(), 4);
}

TEST(CompiledFunction, may_be_called_by_several_threads) {
    Parameter total(Tensor::of<float>({0}), "total");
    CompiledFunction add([&](std::span<const Tensor> x) {
        total.set(total.value() + x[0]);
        return std::vector<Tensor>{x[0] * 2};
    });
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 100; ++i) {
                Tensor x = Tensor::of<float>({static_cast<float>(t)});
                if (add(std::span<const Tensor>(&x, 1))[0].item<float>() != 2 * static_cast<float>(t)) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(total.value().item<float>(), 600);
}

TEST(Evaluate, threads_may_share_what_is_pending) {
    for (int round = 0; round < 50; ++round) {
        Tensor x = Tensor::of<float>({1, 2, 3, 4}), shared = exp(x) + 1, left = shared * 2, right = sum(shared);
        float sums[2];
        std::thread a([&] { sums[0] = sum(left).item<float>(); }), b([&] {
            sums[1] = right.item<float>();
            shared.eval();
        });
        std::vector<float> here = shared.to_vector<float>();
        a.join(), b.join();
        EXPECT_FLOAT_EQ(sums[0], 2 * sums[1]);
    }
}

TEST(Compile, wraps_a_callable) {
    auto f = compile([](const Tensor& x, const Tensor& y) { return x * y + 1; });
    EXPECT_EQ(f(Tensor::of<float>({2}), Tensor::of<float>({5})).item<float>(), 11);
    EXPECT_EQ(f(Tensor::of<float>({3}), 2.0f).item<float>(), 7);
}

}  // namespace
}  // namespace weft
