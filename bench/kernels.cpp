// Kernels by themselves, on one thread: emitted, by the block evaluator, and as loops written by hand, in one run; and how long a
// kernel takes to compile. Counter "ns" is nanoseconds an element; "bandwidth" the share of what a copy far beyond the caches reaches
// in this run (backend/cpu/limits.cpp).
#include <benchmark/benchmark.h>

#include "hand_loops.h"
#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/compiler.h"
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
Program copy() {
    ProgramBuilder b;
    b.output(b.input(float32));
    return b.take();
}
Program add() {
    ProgramBuilder b;
    Scalar x = b.input(float32), y = b.input(float32);
    b.output(x + y);
    return b.take();
}
Program narrow(DType dtype) {
    ProgramBuilder b;
    Scalar x = b.input(dtype), y = b.input(dtype);
    b.output(x * y + x);
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

double bandwidth() {
    static const double bytes = cpu::measure_limits().bytes;
    return bytes;
}

Loop loop_over(Program program, std::int64_t count) {
    Loop loop;
    for (DType dtype : program.inputs) loop.loads.push_back({dtype, {1}});
    for (std::int32_t output : program.outputs) loop.stores.push_back({program.dtype(output), {1}});
    loop.program = std::move(program);
    loop.dims = {count};
    return loop;
}

/// Arrays that do not share the low bits of their addresses, small positive numbers in them.
struct Arrays {
    Arrays(std::size_t many, std::int64_t count, std::size_t width = sizeof(float)) {
        count *= static_cast<std::int64_t>(width / sizeof(float));
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

/// `bytes` that an element moves, where that is far more than the caches hold.
void report(benchmark::State& state, std::int64_t elements, std::size_t bytes = 0) {
    auto all = static_cast<double>(state.iterations() * elements);
    state.counters["ns"] = benchmark::Counter(all * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    if (bytes * static_cast<std::size_t>(elements) < (std::size_t{128} << 20)) return;
    state.counters["bandwidth"] =
        benchmark::Counter(all * static_cast<double>(bytes) / bandwidth(), benchmark::Counter::kIsRate);
}

void run_prepared(benchmark::State& state, const cpu::PreparedLoop& prepared, std::size_t loads, Arrays& arrays,
                  std::int64_t elements, std::size_t bytes = 0) {
    auto scratch = Buffer::allocate(prepared.scratch_bytes());
    for (auto _ : state) {
        prepared.run(reinterpret_cast<const void* const*>(arrays.all.data()),
                     reinterpret_cast<void* const*>(arrays.all.data() + loads), scratch->data());
        benchmark::ClobberMemory();
    }
    report(state, elements, bytes);
}

void add_map(const Subject& subject, std::int64_t count) {
    auto name = [&](const char* way) { return text(subject.name, "/", way, "/", count); };
    Loop loop = loop_over(subject.program, count);
    std::size_t loads = loop.loads.size(), all = loads + loop.stores.size();
    benchmark::RegisterBenchmark(name("emitter").c_str(), [=](benchmark::State& state) {
        Arrays arrays(all, count);
        auto prepared = cpu::emit::prepare_emitted_map(loop);
        if (!prepared) return state.SkipWithError("no emitter here");
        run_prepared(state, *prepared, loads, arrays, count, all * sizeof(float));
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

/// An array of a box reduced along one of its axes.
Loop reduction(Reduction how, DType dtype, const Dims& dims, std::size_t axis) {
    ProgramBuilder b;
    b.output(b.input(dtype));
    Loop loop;
    loop.program = b.take();
    loop.reduced = 1;
    loop.reductions = {how};
    Access load{dtype, {}}, store{result_dtype(how, dtype), {}};
    Dims strides(dims.size(), 1);
    for (std::size_t k = dims.size(); k-- > 1;) strides[k - 1] = strides[k] * dims[k];
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < dims.size(); ++k)
        if (k != axis) order.push_back(k);
    order.push_back(axis);
    for (std::size_t k : order) loop.dims.push_back(dims[k]), load.strides.push_back(strides[k]);
    store.strides = Dims(order.size() - 1, 1);
    for (std::size_t k = store.strides.size(); k-- > 1;) store.strides[k - 1] = store.strides[k] * loop.dims[k];
    loop.loads = {load};
    loop.stores = {store};
    return loop;
}

void add_reduction(const std::string& name, const Loop& loop) {
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        std::int64_t all = element_count(loop.dims);
        std::size_t width = size_of(loop.loads[0].dtype);
        Arrays arrays(2, all, std::max<std::size_t>(width, size_of(loop.stores[0].dtype)));
        run_prepared(state, *cpu::prepare_reduction(loop, true), 1, arrays, all, width);
    });
}

void add_cube(std::size_t axis) {
    constexpr std::int64_t side = 256, all = side * side * side;
    for (DType dtype : {DType::float32, DType::float64})
        add_reduction(text("cube_sum_", axis, "/", dtype), reduction(Reduction::sum, dtype, {side, side, side}, axis));
    benchmark::RegisterBenchmark(text("cube_sum_", axis, "/hand").c_str(), [=](benchmark::State& state) {
        Arrays arrays(2, all);
        for (auto _ : state) {
            hand_cube_sum(arrays.all[0], arrays.all[1], side, static_cast<int>(axis));
            benchmark::ClobberMemory();
        }
        report(state, all, sizeof(float));
    });
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
                                {"thicket", thicket(), nullptr},
                                {"int8", narrow(weft::DType::int8), nullptr},
                                {"int16", narrow(weft::DType::int16), nullptr}};
    for (const Subject& subject : subjects) {
        for (std::int64_t count : {1024, 98304, 4194304}) add_map(subject, count);
        add_compile(subject);
    }
    for (const Subject& subject :
         {Subject{"copy", copy(), nullptr}, {"add", add(), nullptr}, {"adam", adam(), hand_adam}})
        add_map(subject, 16777216);
    for (std::size_t axis : {0, 1, 2}) add_cube(axis);
    for (auto how : {weft::Reduction::sum, weft::Reduction::maximum, weft::Reduction::argmax})
        for (const weft::Dims& dims : {weft::Dims{1, 64}, {1, 256}, {1, 1000}, {100, 1000}, {1024, 1024}})
            for (std::size_t axis : {1, 0})
                if (dims[0] > 1 || axis == 1)
                    add_reduction(weft::text(name_of(how), "/axis", axis, "/", dims[0], "x", dims[1]),
                                  reduction(how, weft::DType::float32, dims, axis));
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
