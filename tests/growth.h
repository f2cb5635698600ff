// How the time of work grows with its size. A limit in seconds holds on some machines alone; how many times as long eight times as much
// takes is the same on all.
// Callers: tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace weft {

/// What this thread's processor spends on `f`, in seconds: other programs and threads do not count.
double seconds_of(auto f) {
    auto now = [] {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    double start = now();
    f();
    return now() - start;
}

/// What growth() stays below where time grows with the size: what is larger finds less of itself in the caches (7 to 13 were seen).
inline constexpr double linear = 16;

/// How many times as long the work of size 8n takes as that of size n: 8 where time grows with the size, 64 where it does with its square.
/// `prepare(size)` gives the work to time. The least of up to three tries, each of another size (what was compiled is kept), since the memory
/// and the clock that a thread gets change from moment to moment: a try that gives less than `linear` is the last.
double growth(std::int64_t n, auto prepare) {
    double least = 1e9;
    for (std::int64_t size = n; size < n + 3 && least >= linear; ++size) {
        double once = seconds_of(prepare(size)), larger = seconds_of(prepare(8 * size));
        std::printf("%.4f s, eight times as much %.4f s\n", once, larger);
        least = std::min(least, larger / once);
    }
    return least;
}

}  // namespace weft
