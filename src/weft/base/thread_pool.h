// The threads of the process: one pool, made on first use. Work comes in numbered blocks, which depend on sizes alone;
// each thread, the caller too, claims those of its own range one by one, then others', so results never depend on the
// number of threads and nobody waits for a worker that woke late. Within a block, and while another thread holds the pool, a further loop runs in its
// caller, serially. A loop allocates nothing. Callers: runtime/, backend/cpu/, data/.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>

#include "weft/base/waiting.h"

namespace weft {

class ThreadPool {
  public:
    static ThreadPool& instance();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Threads that a loop may use, its caller among them; at first usable_processors().
    int threads() const { return threads_.load(std::memory_order_relaxed); }
    /// From the next loop on; more than there are processors is allowed. ValueError below 1.
    void set_threads(int threads);

    /// Calls body(block), or body(block, slot), once for each block in [0, blocks), from at most `limit` threads (0: no
    /// limit but threads()). Slots number the threads of this one loop from 0: what keeps scratch memory apart. If
    /// bodies throw, the other blocks still run (serial loops stop at once), and the exception of the lowest block goes
    /// on.
    template <class Body>
    void parallel_for(std::int64_t blocks, Body&& body, int limit = 0) {
        using Plain = std::remove_reference_t<Body>;
        run(blocks, limit, const_cast<void*>(static_cast<const void*>(std::addressof(body))),
            [](void* context, std::int64_t block, int slot) {
                if constexpr (std::is_invocable_v<Plain&, std::int64_t, int>)
                    (*static_cast<Plain*>(context))(block, slot);
                else
                    (*static_cast<Plain*>(context))(block);
            });
    }

  private:
    using Call = void (*)(void* context, std::int64_t block, int slot);
    struct Range;
    static constexpr std::int64_t most_blocks = std::int64_t{1} << 30;

    ThreadPool();
    ~ThreadPool() = default;
    void run(std::int64_t blocks, int limit, void* context, Call call);
    void run_shared(std::int64_t first, std::int64_t blocks, int limit, void* context, Call call);
    void start_workers(int wanted);
    void wake(std::int64_t wanted);
    std::int64_t work(int slot);  // blocks that it did
    std::int64_t work_in(Range& range, int slot);
    void call_block(Call call, void* context, std::int64_t first, std::int64_t block, int slot);
    void wait_for_claimed(std::uint32_t blocks);
    [[noreturn]] void serve(int slot);

    std::atomic<int> threads_;
    std::atomic<bool> busy_{false};  // a loop is running
    int workers_ = 0;                // threads started, guarded by busy_
    detail::LoopTimes times_;        // guarded by busy_

    // The running loop. Its blocks lie in ranges, one a thread, which begins with its own, so that what it did the last time it does again, from its own
    // caches, and what it does follows in memory; then it takes of the others'. A ticket is (epoch << 32 | blocks of the range not yet claimed). Whoever
    // lowers a ticket of epoch e has seen e's other members, for they only change once no block of e is left; a late worker sees 0 left, or fails to
    // lower it.
    struct alignas(64) Range {
        std::atomic<std::uint64_t> ticket{0};
    };
    static constexpr std::int64_t most_ranges = 64;
    std::array<Range, most_ranges> ranges_;
    std::atomic<std::uint32_t> range_count_{1};
    std::uint32_t epoch_ = 0;  // guarded by busy_
    std::atomic<Call> call_{nullptr};
    std::atomic<void*> context_{nullptr};
    std::atomic<std::int64_t> first_{0};
    std::atomic<std::uint32_t> blocks_{0};
    std::atomic<int> limit_{1};
    alignas(64) std::atomic<std::uint32_t> finished_{0};
    alignas(64) std::atomic<std::uint32_t> signal_{0};  // what idle workers wait on
    std::atomic<int> awake_{0};                         // workers that do not sleep, or nearly so

    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::int64_t failed_block_ = 0;
};

/// On the process's pool.
template <class Body>
void parallel_for(std::int64_t blocks, Body&& body, int limit = 0) {
    ThreadPool::instance().parallel_for(blocks, static_cast<Body&&>(body), limit);
}

}  // namespace weft
