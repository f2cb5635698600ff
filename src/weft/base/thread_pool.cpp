#include "weft/base/thread_pool.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "weft/base/error.h"
#include "weft/base/processors.h"

namespace weft {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

// Who sleeps is woken by a system call and an interrupt, 25 us on a virtual machine, as often as a step has loops. (Xeon, two threads, of the time of some
// 3 us of waiting: train.gpt256 0.88, .mlp 0.92, .lstm 0.92, infer.resnet18.1 0.89; 800 us gave 0.01 more.)
constexpr microseconds patient{200};
// Where another program wants the processor, waiting uses up this thread's share of it, and the next block waits (200 us beside a busy loop 1.1).
constexpr microseconds hasty{3};

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// How often the system has taken the processor from this thread for another; -1: it does not say.
long times_interrupted() {
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
    microseconds at(Clock::time_point now) {
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
    microseconds most_ = hasty;
};

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

}  // namespace

// Never destroyed, its threads never joined: a process may end, by exit() within a block too, while workers sleep.
ThreadPool& ThreadPool::instance() {
    static ThreadPool* pool = new ThreadPool;
    return *pool;
}

ThreadPool::ThreadPool() : threads_(usable_processors()) {}

void ThreadPool::set_threads(int threads) {
    if (threads < 1)
        throw ValueError(text("set_threads: the number of threads is ", threads, ", but must be at least 1"));
    threads_.store(threads, std::memory_order_relaxed);
}

void ThreadPool::run(std::int64_t blocks, int limit, void* context, Call call) {
    int most = threads();
    if (limit > 0) most = std::min(most, limit);
    most = static_cast<int>(std::min<std::int64_t>(most, blocks));
    if (most <= 1 || busy_.exchange(true, std::memory_order_acquire)) {
        for (std::int64_t block = 0; block < blocks; ++block) call(context, block, 0);
        return;
    }
    struct Release {
        std::atomic<bool>& busy;
        ~Release() { busy.store(false, std::memory_order_release); }
    } release{busy_};
    start_workers(most - 1);
    for (std::int64_t first = 0; first < blocks; first += most_blocks)
        run_shared(first, std::min(most_blocks, blocks - first), most, context, call);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::run_shared(std::int64_t first, std::int64_t blocks, int limit, void* context, Call call) {
    call_.store(call, std::memory_order_relaxed);
    context_.store(context, std::memory_order_relaxed);
    first_.store(first, std::memory_order_relaxed);
    blocks_.store(static_cast<std::uint32_t>(blocks), std::memory_order_relaxed);
    limit_.store(limit, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    std::uint64_t epoch = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    ticket_.store((epoch << 32) | static_cast<std::uint64_t>(blocks), std::memory_order_release);
    wake(std::min<std::int64_t>(limit, blocks) - 1);
    work(0);
    wait_for_claimed(static_cast<std::uint32_t>(blocks));
}

void ThreadPool::start_workers(int wanted) {
    if (workers_ >= wanted) return;
    sigset_t all, before;  // signals are for the user's threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        for (; workers_ < wanted; ++workers_) std::thread([this, slot = workers_ + 1] { serve(slot); }).detach();
    } catch (const std::system_error&) {
        // The system gives no more threads: the loop runs on those that there are.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::wake(std::int64_t wanted) {
    signal_.fetch_add(1, std::memory_order_release);
    if (wanted >= workers_ || workers_ > limit_.load(std::memory_order_relaxed) - 1)
        signal_.notify_all();  // also where one woken alone might be one who may not take part
    else
        for (std::int64_t i = 0; i < wanted; ++i) signal_.notify_one();
}

void ThreadPool::work(int slot) {
    for (;;) {
        std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
        auto left = static_cast<std::uint32_t>(ticket);
        if (left == 0) return;
        Call call = call_.load(std::memory_order_relaxed);
        void* context = context_.load(std::memory_order_relaxed);
        std::int64_t first = first_.load(std::memory_order_relaxed);
        std::uint32_t blocks = blocks_.load(std::memory_order_relaxed);
        if (slot >= limit_.load(std::memory_order_relaxed)) return;
        if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire))
            continue;
        call_block(call, context, first, blocks - left, slot);
        if (finished_.fetch_add(1, std::memory_order_acq_rel) + 1 == blocks && slot != 0) finished_.notify_one();
    }
}

void ThreadPool::call_block(Call call, void* context, std::int64_t first, std::int64_t block, int slot) {
    try {
        call(context, first + block, slot);
    } catch (...) {
        std::lock_guard lock(failure_mutex_);
        if (failure_ && failed_block_ <= first + block) return;
        failure_ = std::current_exception();
        failed_block_ = first + block;
    }
}

void ThreadPool::wait_for_claimed(std::uint32_t blocks) {
    spin_until([&] { return finished_.load(std::memory_order_acquire) == blocks; });
    for (std::uint32_t seen; (seen = finished_.load(std::memory_order_acquire)) != blocks;)
        finished_.wait(seen, std::memory_order_acquire);
}

void ThreadPool::serve(int slot) {
    std::uint32_t seen = 0;  // the signal only counts up from 0: a loop that began before this thread did is not missed
    for (;;) {
        spin_until([&] { return signal_.load(std::memory_order_acquire) != seen; });
        signal_.wait(seen, std::memory_order_acquire);
        seen = signal_.load(std::memory_order_acquire);
        work(slot);
    }
}

}  // namespace weft
