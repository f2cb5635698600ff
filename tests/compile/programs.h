// What tests of plans share: programs as they are compiled, run in blocks of rows, step by step, and by the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "weft/base/thread_pool.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/compile/plan_cache.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/executor.h"
#include "weft/runtime/oracle.h"

namespace weft {

inline Tensor numbers(const char* seed, const Dims& dims, DType dtype = DType::float32) {
    static const Domain domain{-1, 1};
    return Tensor(Draw(seed).array(dtype, dims, &domain));
}

/// Numbers of any size, the same for the same dims.
inline Tensor drawn(const Dims& dims, DType dtype = DType::float64) {
    return Tensor(Draw(text("data ", dims)).array(dtype, dims));
}

/// Floats, of some rows NaN or infinite.
inline Tensor rows_with_none(std::int64_t rows, std::int64_t length) {
    Array values = Draw("none").array(DType::float32, {rows, length});
    float* at = values.data<float>();
    at[5] = std::numeric_limits<float>::quiet_NaN();
    at[5 * length] = std::numeric_limits<float>::infinity();
    at[7 * length - 1] = -std::numeric_limits<float>::infinity();
    return Tensor(values);
}

/// Indices into an axis of `size`, some counted from its end.
inline Tensor picks(const Dims& dims, std::int64_t size, DType dtype = DType::int64) {
    Draw draw(text("picks ", dims, size));
    Array array = Array::empty(dtype, dims);
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            for (std::int64_t i = 0; i < array.size(); ++i) {
                std::int64_t index = draw.below(size);
                array.data<T>()[i] = static_cast<T>(std::is_signed_v<T> && draw.below(2) ? index - size : index);
            }
        }
    });
    return Tensor(array);
}

/// As it is written: nothing is rewritten.
inline Graph graph_of(std::span<const Tensor> outputs) {
    std::vector<Node*> nodes;
    for (const Tensor& output : outputs) nodes.push_back(output.node());
    return gather(nodes);
}
inline Graph graph_of(std::initializer_list<Tensor> outputs) {
    return graph_of(std::span<const Tensor>(outputs.begin(), outputs.size()));
}

inline Graph rewritten_graph(const std::vector<Tensor>& outputs) { return graph_of(rewritten(outputs)); }

inline std::vector<Array> run(const Graph& graph, const PartitionOptions& options, int threads,
                              const KernelCompiler& compiler = cpu_compiler()) {
    ThreadPool& pool = ThreadPool::instance();
    int before = pool.threads();
    pool.set_threads(threads);
    auto plan = std::make_shared<const Plan>(make_plan(graph, options));
    std::vector<Array> results = run_once(weft::bind(plan, graph, compiler), graph);
    pool.set_threads(before);
    return results;
}

/// Step by step, in blocks of rows by one thread and by three, the same bits.
inline void expect_bits_in_blocks(const std::vector<Tensor>& outputs, const KernelCompiler& compiler = cpu_compiler()) {
    Graph graph = rewritten_graph(outputs);
    std::vector<Array> plain = run(graph, {.rows = false}, 1);
    for (int threads : {1, 3}) {
        std::vector<Array> blocks = run(graph, {}, threads, compiler);
        for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(difference(plain[i], blocks[i]), "") << threads;
    }
}

// In blocks as step by step and as the interpreter has it, but for rounding; the same bits on one thread and on two. `sums`: terms of
// the longest sum.
inline void expect_values(const std::vector<Tensor>& outputs, double sums) {
    Graph graph = rewritten_graph(outputs);
    std::vector<Array> one = run(graph, {}, 1), two = run(graph, {}, 2), plain = run(graph, {.rows = false}, 2),
                       expected = interpret(outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        double bound = 4 * epsilon_of(outputs[i].dtype()) * (sums + 8);
        EXPECT_EQ(difference(one[i], two[i]), "");
        EXPECT_EQ(difference(plain[i], one[i], bound, bound), "");
        EXPECT_EQ(difference(expected[i], one[i], bound, bound), "");
    }
}

}  // namespace weft
