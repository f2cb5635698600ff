// What kernels make of weights that are only read is kept from call to call: the same bits as without, and never of numbers that have
// changed meanwhile, whoever changed them.
#include <gtest/gtest.h>

#include "random_program.h"
#include "runtime/numbers.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/thread_pool.h"
#include "weft/check/compare.h"
#include "weft/compile/plan_cache.h"
#include "weft/graph/graph.h"
#include "weft/graph/node.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

// A network's way with one weight, and what reaches it.
struct Way {
    const char* name;
    Dims weight, x;
    std::function<Tensor(const Tensor& x, const Tensor& weight)> made;
};

const std::vector<Way>& ways() {
    static const std::vector<Way> all = {
        {"a product alone", {96, 64}, {40, 96}, [](auto& x, auto& w) { return matmul(x, w); }},
        {"a turned product", {80, 96}, {33, 96}, [](auto& x, auto& w) { return matmul(x, w.T()); }},
        {"one row", {80, 96}, {1, 96}, [](auto& x, auto& w) { return matmul(x, w.T()); }},
        {"one block of rows", {256, 192}, {64, 192}, [](auto& x, auto& w) { return tanh(matmul(x, w.T()) + 1); }},
        {"blocks of rows", {96, 192}, {700, 192}, [](auto& x, auto& w) { return relu(matmul(x, w.T()) - 0.5); }},
        {"batches", {48, 64}, {6, 20, 48}, [](auto& x, auto& w) { return exp(-abs(matmul(x, w))); }},
        {"a matrix of each batch", {5, 48, 64}, {5, 20, 48}, [](auto& x, auto& w) { return matmul(x, w) * 2; }},
        {"a convolution", {24, 16, 3, 3}, {3, 16, 12, 10}, [](auto& x, auto& w) { return conv2d(x, w); }},
        {"one large picture", {64, 64, 3, 3}, {1, 64, 30, 30}, [](auto& x, auto& w) { return relu(conv2d(x, w)); }},
        {"many pictures", {32, 8, 3, 3}, {20, 8, 16, 16}, [](auto& x, auto& w) { return relu(conv2d(x, w) + 1); }},
        {"a convolution the other way",
         {8, 12, 4, 4},
         {4, 8, 9, 9},
         [](auto& x, auto& w) { return conv_transpose2d(x, w, {}, {.stride = {2}}); }},
    };
    return all;
}

Array made_by(CompiledFunction& f, const Tensor& x) {
    const Tensor arguments[] = {x};
    Array value = f(arguments)[0].array(), copy = Array::empty(value.dtype, value.dims);
    copy_elements(value, copy);
    return copy;
}

CompiledFunction reading(const Way& way, const Parameter& weight) {
    return CompiledFunction(
        [&way, weight](std::span<const Tensor> x) { return std::vector<Tensor>{way.made(x[0], weight.value())}; });
}

Array expected(const Way& way, const Tensor& x, const Tensor& weight) {
    CompiledFunction both([&way](std::span<const Tensor> a) { return std::vector<Tensor>{way.made(a[0], a[1])}; });
    const Tensor arguments[] = {x, weight};
    return both(arguments)[0].array();
}

TEST(KeptWeights, give_the_bits_that_weights_packed_anew_give) {
    for (int threads : {1, 2}) {
        ThreadPool::instance().set_threads(threads);
        for (const Way& way : ways()) {
            Tensor x = numbers(way.x, 1), w = numbers(way.weight, 2);
            Parameter weight(w);
            CompiledFunction f = reading(way, weight);
            for (int call = 0; call < 3; ++call)
                EXPECT_EQ(difference(expected(way, x, w), made_by(f, x)), "") << way.name << ", " << threads;
        }
    }
    ThreadPool::instance().set_threads(1);
}

TEST(KeptWeights, are_made_anew_when_the_parameter_is_set) {
    for (const Way& way : ways()) {
        Tensor x = numbers(way.x, 1);
        Parameter weight(numbers(way.weight, 2));
        CompiledFunction f = reading(way, weight);
        made_by(f, x);
        Tensor other = numbers(way.weight, 3);
        weight.set(other);
        EXPECT_EQ(difference(expected(way, x, other), made_by(f, x)), "") << way.name;
    }
}

TEST(KeptWeights, are_made_anew_when_another_function_writes_over_the_parameter) {
    for (const Way& way : ways()) {
        Tensor x = numbers(way.x, 1);
        Parameter weight(numbers(way.weight, 2));
        CompiledFunction f = reading(way, weight);
        CompiledFunction update([weight](std::span<const Tensor>) {
            Parameter(weight).set(weight.value() * 0.5 + 0.25);
            return std::vector<Tensor>{};
        });
        for (int step = 0; step < 4; ++step) {  // from the second on in place
            const void* before = weight.value().array().address();
            update({});
            EXPECT_EQ(difference(expected(way, x, weight.value()), made_by(f, x)), "") << way.name << ", step " << step;
            if (step > 2) {
                EXPECT_EQ(weight.value().array().address(), before) << "the update does not write in place";
            }
        }
    }
}

TEST(KeptWeights, are_made_anew_when_a_program_writes_into_their_array) {
    for (const Way& way : ways()) {
        Tensor x = numbers(way.x, 1);
        Array array = numbers(way.weight, 2).array();
        Parameter weight{Tensor(array)};
        CompiledFunction f = reading(way, weight);
        made_by(f, x);
        array.data<float>()[5] = 7;
        EXPECT_EQ(difference(expected(way, x, weight.value()), made_by(f, x)), "") << way.name;
    }
}

// As the steps of a recurrent layer do: one copy a run serves them all, whatever the matrix is.
TEST(KeptWeights, of_a_matrix_that_several_products_of_a_run_read_are_made_anew_for_each_run) {
    auto steps = [](const Tensor& x, const Tensor& w) {
        Tensor h = x;
        for (int i = 0; i < 6; ++i) h = tanh(matmul(h, w.T()));
        return h;
    };
    Tensor x = numbers({40, 96}, 1);
    CompiledFunction f([&](std::span<const Tensor> in) { return std::vector<Tensor>{steps(in[0], in[1])}; });
    for (std::uint64_t seed : {2, 3, 3, 4}) {
        Tensor w = numbers({96, 96}, seed);
        const Tensor arguments[] = {x, w};
        Array found = f(arguments)[0].array();
        Tensor h = x;
        for (int i = 0; i < 6; ++i) h = tanh(matmul(h, w.T())).eval();  // one product a program
        EXPECT_EQ(difference(h.array(), found), "") << seed;
    }
    KeepPending keep;
    Tensor pending = steps(x, numbers({96, 96}, 5));
    Node* result[] = {pending.node()};
    std::size_t kept = 0;
    std::shared_ptr<const Binding> binding = make_binding(gather(result));
    for (const BoundStep& step : binding->steps) kept += step.kept_of.size();
    EXPECT_EQ(kept, 6) << "products that read one copy";
}

TEST(KeptWeights, of_memory_that_others_may_write_are_not_trusted) {
    std::vector<float> memory(96 * 64, 0.5f);
    Tensor theirs(
        Array{DType::float32, {96, 64}, {64, 1}, 0, Buffer::wrap(memory.data(), memory.size() * sizeof(float), {})});
    CompiledFunction constant([&](std::span<const Tensor> x) { return std::vector<Tensor>{matmul(x[0], theirs)}; });
    Tensor x = numbers({40, 96}, 1);
    Array before = made_by(constant, x);
    for (float& number : memory) number = 2;
    EXPECT_EQ(difference((Tensor(before) * 4).array(), made_by(constant, x), 1e-5, 1e-5), "");
}

TEST(KeptWeights, a_parameter_has_numbers_of_its_own) {
    std::vector<float> memory(6, 0.5f);
    Array array{DType::float32, {6}, {1}, 0, Buffer::wrap(memory.data(), memory.size() * sizeof(float), {})};
    Parameter made{Tensor(array)}, set(Tensor::of(std::vector<float>(6), {6}));
    set.set(Tensor(array));
    memory[0] = 2;
    for (const Parameter& one : {made, set}) EXPECT_EQ(max(one.value()).item<float>(), 0.5f);
}

// A recurrent layer written down reads one weight in each of its steps: there is one copy for all.
TEST(KeptWeights, are_one_copy_for_all_steps_that_read_them_alike) {
    constexpr int steps = 12;
    Tensor x = numbers({40, 96}, 1);
    Parameter weight(numbers({96, 96}, 2));
    CompiledFunction f([&](std::span<const Tensor> arguments) {
        Tensor h = arguments[0];
        for (int i = 0; i < steps; ++i) h = tanh(matmul(h, weight.value().T()) * 0.1);
        return std::vector<Tensor>{h};
    });
    made_by(f, x);
    std::size_t before = Buffer::count().bytes;
    { CompiledFunction g = std::move(f); }
    std::size_t kept = before - Buffer::count().bytes;
    EXPECT_GE(kept, std::size_t{96 * 96 * 4});
    EXPECT_LT(kept, std::size_t{3 * 96 * 96 * 4});
}

TEST(KeptWeights, are_copied_for_four_sizes_of_arguments_and_no_more) {
    Parameter weight(numbers({256, 256}, 2));
    CompiledFunction f(
        [&](std::span<const Tensor> x) { return std::vector<Tensor>{matmul(x[0], weight.value().T())}; });
    std::size_t before = Buffer::count().bytes;
    for (int rows = 20; rows < 40; ++rows) {
        Tensor x = numbers({rows, 256}, 1);
        Array made = made_by(f, x);
        EXPECT_EQ(difference(matmul(x, weight.value().T()).array(), made, 1e-5, 1e-4), "") << rows;
    }
    EXPECT_LT(Buffer::count().bytes - before, std::size_t{4 * 256 * 256 * 4} + (1 << 20));
}

// Which steps keep: those of weights that are only read.
TEST(KeptWeights, are_those_of_steady_leaves_alone) {
    Tensor x = numbers({40, 96}, 1), w = numbers({80, 96}, 2);
    Tensor product = matmul(x, w.T());
    Node* outputs[] = {product.node()};
    Graph graph = gather(outputs);
    for (bool steady : {false, true}) {
        std::vector<bool> leaves(graph.leaves.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = steady && &graph.node(graph.leaves[i]) == w.node();
        auto binding = make_binding(graph, {.steady = leaves});
        ASSERT_EQ(binding->steps.size(), 1u);
        EXPECT_EQ(binding->steps[0].kept_of.size(), steady ? 1u : 0u);
        EXPECT_EQ(binding->steps[0].kernel->shared_bytes() > 0, steady);
    }
}

}  // namespace
}  // namespace weft
