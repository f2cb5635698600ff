// Kernels by themselves, on one thread: emitted, by the block evaluator, and as loops written by hand, in one run; and how long a
// kernel takes to compile. Counter "ns" is nanoseconds an element.
#include <benchmark/benchmark.h>

#include "hand_loops.h"
#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/emit/emitted_kernel.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"

namespace weft::bench {
namespace {

struct Subject {
    const char* name;
    Program program;
    HandLoop hand;
};

Program gelu() {
    ProgramBuilder b;
    Scalar x = b.input(float32);
    b.output(x * 0.5 * (tanh((x + x * 0.044715 * x * x) * 0.7978845608) + 1));
    return b.take();
}
Program mix() {
    ProgramBuilder b;
    Scalar x = b.input(float32), y = b.input(float32);
    b.output(sigmoid(x) * exp(-y) + x * y);
    return b.take();
}
Program adam() {
    ProgramBuilder b;
    Scalar p = b.input(float32), g = b.input(float32), m = b.input(float32), v = b.input(float32);
    m = m * 0.9 + g * 0.1;
    v = v * 0.999 + g * 0.001 * g;
    b.output(p - m * 0.001 / (sqrt(v) + 1e-8));
    b.output(m);
    b.output(v);
    return b.take();
}
Program chain() {
    ProgramBuilder b;
    Scalar x = b.input(float32), y = x;
    for (int i = 0; i < 100; ++i) y = (i % 3 == 0 ? y * x : i % 3 == 1 ? y + 0.5 : y - x * 0.25) * 0.99;
    b.output(y);
    return b.take();
}
/// 1,500 operations that each need values of long before.
Program thicket() {
    ProgramBuilder b;
    std::vector<Scalar> values{b.input(float32), b.input(float32)};
    auto before = [&](std::size_t distance) { return values[values.size() - 1 - distance % values.size()]; };
    for (std::size_t i = 0; i < 750; ++i) {
        Scalar x = before(i * 7 % 40), y = before(i * 3 % 37);
        values.push_back(i % 3 == 0 ? x * 0.5 + y : i % 3 == 1 ? x - y * 0.25 : x * y);
        values.push_back(values.back() + 0.125 * static_cast<double>(i % 5 + 1));
    }
    b.output(values.back());
    return b.take();
}

Loop loop_over(Program program, std::int64_t count) {
    Access access{float32, {1}};
    Loop loop;
    loop.loads.assign(program.inputs.size(), access);
    loop.stores.assign(program.outputs.size(), access);
    loop.program = std::move(program);
    loop.dims = {count};
    return loop;
}

/// Arrays that do not share the low bits of their addresses, small positive numbers in them.
struct Arrays {
    Arrays(std::size_t many, std::int64_t count) {
        for (std::size_t i = 0; i < many; ++i) {
            auto buffer = Buffer::allocate(static_cast<std::size_t>(count) * sizeof(float) + 4096);
            auto* data = reinterpret_cast<float*>(buffer->data()) + 160 * i % 1024;
            for (std::int64_t k = 0; k < count; ++k) data[k] = 0.001f * static_cast<float>((k * 7 + 13) % 3000);
            buffers.push_back(std::move(buffer));
            all.push_back(data);
        }
    }
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<float*> all;
};

void report(benchmark::State& state, std::int64_t elements) {
    state.counters["ns"] = benchmark::Counter(static_cast<double>(state.iterations() * elements) * 1e-9,
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void run_prepared(benchmark::State& state, const cpu::PreparedLoop& prepared, std::size_t loads, Arrays& arrays,
                  std::int64_t elements) {
    auto scratch = Buffer::allocate(prepared.scratch_bytes());
    for (auto _ : state) {
        prepared.run(reinterpret_cast<const void* const*>(arrays.all.data()),
                     reinterpret_cast<void* const*>(arrays.all.data() + loads), scratch->data());
        benchmark::ClobberMemory();
    }
    report(state, elements);
}

void add_map(const Subject& subject, std::int64_t count) {
    auto name = [&](const char* way) { return text(subject.name, "/", way, "/", count); };
    Loop loop = loop_over(subject.program, count);
    std::size_t loads = loop.loads.size(), all = loads + loop.stores.size();
    benchmark::RegisterBenchmark(name("emitter").c_str(), [=](benchmark::State& state) {
        Arrays arrays(all, count);
        auto prepared = cpu::emit::prepare_emitted_map(loop);
        if (!prepared) return state.SkipWithError("no emitter here");
        run_prepared(state, *prepared, loads, arrays, count);
    });
    benchmark::RegisterBenchmark(name("block").c_str(), [=](benchmark::State& state) {
        Arrays arrays(all, count);
        run_prepared(state, *cpu::prepare_map(loop), loads, arrays, count);
    });
    if (!subject.hand) return;
    benchmark::RegisterBenchmark(name("hand").c_str(), [=, hand = subject.hand](benchmark::State& state) {
        Arrays arrays(all, count);
        for (auto _ : state) {
            hand(arrays.all.data(), count);
            benchmark::ClobberMemory();
        }
        report(state, count);
    });
}

void add_compile(const Subject& subject) {
    benchmark::RegisterBenchmark(text(subject.name, "/compile").c_str(), [=](benchmark::State& state) {
        Loop loop = loop_over(subject.program, 1000);
        for (auto _ : state) benchmark::DoNotOptimize(cpu::emit::prepare_emitted_map(loop));
    })->Unit(benchmark::kMicrosecond);
}

void add_cube(int axis) {
    constexpr std::int64_t side = 256, all = side * side * side;
    ProgramBuilder b;
    b.output(b.input(float32));
    Loop loop;
    loop.program = b.take();
    loop.dims = {side, side, side};
    loop.reduced = 1;
    Dims strides{side * side, side, 1}, kept;
    for (int k = 0; k < 3; ++k)
        if (k != axis) kept.push_back(strides[static_cast<std::size_t>(k)]);
    Dims ordered = kept;
    ordered.push_back(strides[static_cast<std::size_t>(axis)]);
    loop.loads = {{float32, ordered}};
    loop.stores = {{float32, {side, 1}}};
    loop.reductions = {Reduction::sum};
    for (bool hand : {false, true}) {
        benchmark::RegisterBenchmark(
            text("cube_sum_", axis, hand ? "/hand" : "/weft").c_str(), [=](benchmark::State& state) {
                Arrays arrays(2, all);
                if (!hand) return run_prepared(state, *cpu::prepare_reduction(loop, true), 1, arrays, all);
                for (auto _ : state) {
                    hand_cube_sum(arrays.all[0], arrays.all[1], side, axis);
                    benchmark::ClobberMemory();
                }
                report(state, all);
            });
    }
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
    using namespace weft::bench;
    weft::ThreadPool::instance().set_threads(1);
    const Subject subjects[] = {{"gelu", gelu(), hand_gelu},
                                {"mix", mix(), hand_mix},
                                {"adam", adam(), hand_adam},
                                {"chain", chain(), hand_chain},
                                {"thicket", thicket(), nullptr}};
    for (const Subject& subject : subjects) {
        for (std::int64_t count : {1024, 98304, 4194304}) add_map(subject, count);
        add_compile(subject);
    }
    for (int axis : {0, 1, 2}) add_cube(axis);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
