#include "weft/base/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "weft/base/error.h"
#include "weft/base/integers.h"
#include "weft/base/processors.h"

namespace weft {

using detail::spin_until;

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
    std::int64_t threads = std::min<std::int64_t>(limit, blocks), ranges = std::min(threads, most_ranges);
    range_count_.store(static_cast<std::uint32_t>(ranges), std::memory_order_relaxed);
    ++epoch_;
    for (std::int64_t range = 0; range < ranges; ++range) {
        std::int64_t size = begin_of(range + 1, ranges, blocks) - begin_of(range, ranges, blocks);
        ranges_[range].ticket.store((std::uint64_t{epoch_} << 32) | static_cast<std::uint64_t>(size),
                                    std::memory_order_release);
    }
    const void* called = reinterpret_cast<const void*>(call);
    bool asleep = awake_.load(std::memory_order_relaxed) < threads - 1;
    auto begin = detail::Clock::now();
    signal_.fetch_add(1, std::memory_order_release);
    if (!asleep || !times_.better_alone(called, blocks, threads, begin)) {
        wake(threads - 1);
        auto woken = detail::Clock::now();
        if (asleep) times_.woke(woken - begin);
        begin = woken;
    }
    std::int64_t done = work(0);
    auto end = detail::Clock::now();
    times_.ended(called, blocks, done, end - begin, end);
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
    if (wanted >= workers_ || workers_ > limit_.load(std::memory_order_relaxed) - 1)
        signal_.notify_all();  // also where one woken alone might be one who may not take part
    else
        for (std::int64_t i = 0; i < wanted; ++i) signal_.notify_one();
}

std::int64_t ThreadPool::work(int slot) {
    std::uint32_t ranges = range_count_.load(std::memory_order_relaxed);
    std::int64_t done = 0;
    for (std::uint32_t i = 0; i < ranges; ++i)
        done += work_in(ranges_[(static_cast<std::uint32_t>(slot) + i) % ranges], slot);
    return done;
}

std::int64_t ThreadPool::work_in(Range& range, int slot) {
    for (std::int64_t done = 0;;) {
        std::uint64_t ticket = range.ticket.load(std::memory_order_acquire);
        auto left = static_cast<std::uint32_t>(ticket);
        if (left == 0) return done;
        Call call = call_.load(std::memory_order_relaxed);
        void* context = context_.load(std::memory_order_relaxed);
        std::int64_t first = first_.load(std::memory_order_relaxed);
        std::uint32_t blocks = blocks_.load(std::memory_order_relaxed);
        std::uint32_t ranges = range_count_.load(std::memory_order_relaxed);
        if (slot >= limit_.load(std::memory_order_relaxed)) return done;
        if (!range.ticket.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel,
                                                std::memory_order_acquire))
            continue;
        std::int64_t end = begin_of(&range - ranges_.data() + 1, ranges, blocks);
        call_block(call, context, first, end - left, slot);
        ++done;
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
    awake_.fetch_add(1, std::memory_order_relaxed);
    std::uint32_t seen = 0;  // the signal only counts up from 0: a loop that began before this thread did is not missed
    for (;;) {
        spin_until([&] { return signal_.load(std::memory_order_acquire) != seen; });
        awake_.fetch_sub(1, std::memory_order_relaxed);
        signal_.wait(seen, std::memory_order_acquire);
        awake_.fetch_add(1, std::memory_order_relaxed);
        seen = signal_.load(std::memory_order_acquire);
        work(slot);
    }
}

}  // namespace weft
