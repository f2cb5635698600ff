// How threads of the pool wait: awake for a while, since who sleeps is woken by a system call and an interrupt, which take 25 us on a virtual machine; and
// whether a loop is worth waking those that sleep. All of it decides time alone. Callers: base/thread_pool.h.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace weft::detail {

using Clock = std::chrono::steady_clock;

// (Xeon, two threads, of the time of some 3 us of waiting: train.gpt256 0.88, .mlp 0.92, .lstm 0.92, infer.resnet18.1 0.89; 800 us gave 0.01 more.)
inline constexpr std::chrono::microseconds patient{200};
// Where another program wants the processor, waiting uses up this thread's share of it, and the next block waits (200 us beside a busy loop 1.1).
inline constexpr std::chrono::microseconds hasty{3};

/// How often the system has taken the processor from this thread for another; -1: it does not say.
inline long times_interrupted() {
#if defined(RUSAGE_THREAD)
    rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0) return usage.ru_nivcsw;
#endif
    return -1;
}

/// For how long a thread waits awake: long, unless it was interrupted often of late. (Of a busy processor some 250 times a second, of one with nothing else
/// to do below 30.)
class Patience {
  public:
    Clock::duration at(Clock::time_point now) {
        if (now - since_ < period) return most_;
        long seen = times_interrupted();
        auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - since_).count();
        most_ = seen >= 0 && (seen - interrupted_) * 10 < passed ? patient : hasty;
        since_ = now, interrupted_ = seen;
        return most_;
    }

  private:
    static constexpr std::chrono::milliseconds period{40};
    Clock::time_point since_;
    long interrupted_ = 0;
    Clock::duration most_ = hasty;
};

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Until done(), or for as long as the thread is to wait awake.
template <class Done>
void spin_until(Done done) {
    thread_local Patience patience;
    constexpr int between = 16;  // pauses from one look at the clock to the next
    if (done()) return;
    auto begin = Clock::now(), end = begin + patience.at(begin);
    do {
        for (int i = 0; i < between; ++i) {
            pause();
            if (done()) return;
        }
    } while (Clock::now() < end);
}

/// What loops took of late, by what they call and how many blocks they have, and what it takes to wake others for them. (Xeon, two threads, 1 ms after the
/// last loop: a product of 80 cubed 30 to 11 us, of 128 cubed 47 to 25.)
class LoopTimes {
  public:
    /// Whether a loop is better run by its caller alone than by so many threads, most of which sleep: it was short the last time, and no other ended
    /// just before, nor is one likely to follow.
    bool better_alone(const void* call, std::int64_t blocks, std::int64_t threads, Clock::time_point now) {
        const Entry& entry = entry_of(call, blocks);
        if (entry.call != call || entry.blocks != blocks || now - last_ < patient) return false;
        return entry.work - entry.work / threads < waking_ * 3 / 2;
    }
    /// So many of its blocks took its caller so long.
    void ended(const void* call, std::int64_t blocks, std::int64_t done, Clock::duration took, Clock::time_point now) {
        last_ = now;
        if (done == 0) return;
        Entry& entry = entry_of(call, blocks);
        constexpr double longest = 1e15;  // ticks: what is beyond is no less worth waking for
        auto ticks = static_cast<double>(took.count()) * static_cast<double>(blocks) / static_cast<double>(done);
        Clock::duration work(static_cast<Clock::rep>(std::min(ticks, longest)));
        if (entry.call != call || entry.blocks != blocks) entry = {call, blocks, work};
        // The same may be called with other sizes: one long loop is remembered for many short ones.
        entry.work = std::max(work, entry.work - (entry.work - work) / 8);
    }
    void woke(Clock::duration took) { waking_ += (took - waking_) / 8; }

  private:
    struct Entry {
        const void* call = nullptr;
        std::int64_t blocks = 0;
        Clock::duration work{};  // of all its blocks
    };
    Entry& entry_of(const void* call, std::int64_t blocks) {
        return entries_[(reinterpret_cast<std::uintptr_t>(call) / 16 * 31 + static_cast<std::uintptr_t>(blocks)) % 64];
    }
    std::array<Entry, 64> entries_;
    Clock::time_point last_;
    Clock::duration waking_ = std::chrono::microseconds(10);
};

}  // namespace weft::detail
