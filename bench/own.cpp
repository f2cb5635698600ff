// weft's own benchmarks, by Google Benchmark: each workload on one thread, with the share of the machine's multiply-add peak where
// the work is known.
#include <benchmark/benchmark.h>

#include "weft/base/thread_pool.h"
#include "workloads.h"

int main(int argc, char** argv) {
    weft::ThreadPool::instance().set_threads(1);
    for (const std::string& name : weft::bench::workload_names()) {
        auto workload = std::make_shared<weft::bench::Workload>(
            weft::bench::make_workload(name, weft::bench::default_arrays(name)));
        for (int i = 0; i < 3; ++i) workload->run();
        benchmark::RegisterBenchmark(name.c_str(), [workload](benchmark::State& state) {
            std::size_t before = weft::Buffer::count().allocations;
            for (auto _ : state) benchmark::DoNotOptimize(workload->run());
            state.counters["allocations"] = static_cast<double>(weft::Buffer::count().allocations - before);
        });
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
