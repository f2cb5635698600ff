// The machine's limits, measured rather than looked up: processors of one name differ, and what else runs on them matters.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "weft/backend/cpu/compiler.h"
#include "weft/backend/cpu/isa/peak.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

PeakLoop peak_of(Isa isa) { return WEFT_OF_ISA(isa, peak_loop); }

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

// Two buffers of `bytes`, or of what is left of them where memory is short; none below 16 MB, which caches hold.
std::pair<BufferHandle, BufferHandle> two_buffers(std::size_t& bytes) {
    for (; bytes >= std::size_t{16} << 20; bytes /= 2) {
        try {
            BufferHandle from = Buffer::allocate(bytes);
            return {from, Buffer::allocate(bytes)};
        } catch (const OutOfMemory&) {
        }
    }
    return {};
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

    // Memory far larger than the caches, copied: by the system's way and past the caches, whichever is faster here.
    constexpr std::size_t part = std::size_t{4} << 20;
    std::size_t bytes = std::size_t{128} << 20;
    auto [from, to] = two_buffers(bytes);
    if (!to) return limits;
    std::memset(from->data(), 1, bytes), std::memset(to->data(), 1, bytes);
    auto in_parts = [&](auto&& copy) {
        return fastest(5, [&] {
            parallel_for(static_cast<std::int64_t>(bytes / part), [&](std::int64_t i) {
                std::size_t at = static_cast<std::size_t>(i) * part;
                copy(from->data() + at, to->data() + at);
            });
        });
    };
    double by_system = in_parts([](const std::byte* a, std::byte* b) { std::memcpy(b, a, part); });
    double past_caches = in_parts([&](const std::byte* a, std::byte* b) {
        peak.copy(reinterpret_cast<const float*>(a), reinterpret_cast<float*>(b), part / sizeof(float));
    });
    double by_reading = in_parts([&](const std::byte* a, std::byte* b) {
        float sum = peak.read(reinterpret_cast<const float*>(a), part / sizeof(float));
        std::memcpy(b, &sum, sizeof sum);
    });
    limits.read_bytes = static_cast<double>(bytes) / by_reading;
    limits.bytes = 2.0 * static_cast<double>(bytes) / std::min(by_system, past_caches);
    return limits;
}

}  // namespace weft::cpu
