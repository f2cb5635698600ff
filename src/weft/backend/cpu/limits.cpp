// The machine's limits, measured rather than looked up: processors of one name differ, and what else runs on them matters.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "weft/backend/cpu/compiler.h"
#include "weft/backend/cpu/isa/peak.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

PeakLoop peak_of(Isa isa) {
    switch (isa) {
#define WEFT_CASE(name) \
    case Isa::name:     \
        return name::peak_loop;
        WEFT_FOR_EACH_ISA(WEFT_CASE)
#undef WEFT_CASE
    }
    return baseline::peak_loop;
}

// Seconds of the fastest of several runs.
template <class F>
double fastest(int runs, F&& f) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < runs; ++i) {
        auto start = std::chrono::steady_clock::now();
        f();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

}  // namespace

Limits measure_limits() {
    Limits limits;
    int threads = ThreadPool::instance().threads();
    PeakLoop peak = peak_of(best_isa());
    constexpr std::int64_t rounds = 100'000;
    float results[256];
    double seconds =
        fastest(5, [&] { parallel_for(threads, [&](std::int64_t i) { results[i % 256] = peak.run(rounds); }); });
    limits.operations = peak.operations_in_round * static_cast<double>(rounds) * threads / seconds;

    // A sum read from memory far larger than the caches, and the same bytes written: what streams through at best.
    constexpr std::size_t bytes = std::size_t{64} << 20, part = std::size_t{1} << 20;
    BufferHandle from = Buffer::allocate(bytes), to = Buffer::allocate(bytes);
    std::memset(from->data(), 1, bytes), std::memset(to->data(), 1, bytes);
    seconds = fastest(5, [&] {
        parallel_for(static_cast<std::int64_t>(bytes / part), [&](std::int64_t i) {
            std::memcpy(to->data() + static_cast<std::size_t>(i) * part,
                        from->data() + static_cast<std::size_t>(i) * part, part);
        });
    });
    limits.bytes = 2.0 * static_cast<double>(bytes) / seconds;
    return limits;
}

}  // namespace weft::cpu
