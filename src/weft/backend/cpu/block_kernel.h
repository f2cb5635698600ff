// The two kinds of BlockKernel: a map and a reduction, each prepared once and run by any number of threads.
// Callers: block_evaluator.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "weft/backend/cpu/block_runner.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {

class PreparedLoop {
  public:
    virtual ~PreparedLoop() = default;
    virtual std::size_t scratch_bytes() const = 0;
    /// What runs it, for the profile.
    virtual std::string_view by() const { return "block evaluator"; }
    virtual void run(const void* const* loads, void* const* stores, std::byte* scratch) const = 0;
    virtual void finish() const {}
    /// A few rows at a time: as of a Kernel.
    virtual std::size_t cursor_bytes(std::int64_t rows, std::int64_t step) const { return (void)rows, (void)step, 0; }
    virtual void start_rows(std::int64_t rows, std::int64_t first, const void* const* loads, void* const* stores,
                            std::byte* cursor) const {
        (void)rows, (void)first, (void)loads, (void)stores, (void)cursor;
    }
};

std::unique_ptr<const PreparedLoop> prepare_map(const Loop& loop);
/// `emitted`: values are computed by machine code where there is any; they are joined by the same loops, to the same bits.
std::unique_ptr<const PreparedLoop> prepare_reduction(const Loop& loop, bool emitted = false);

inline constexpr std::int64_t task_elements = 32768;  // that a thread claims at a time, about
inline constexpr std::int64_t row_threshold = 128;    // innermost axes this long are cut into blocks of their own

inline constexpr std::size_t beyond_caches = std::size_t{4}
                                             << 20;  // bytes that the second-level cache is too small for

/// Whether the next block of a load is fetched while this one is computed: it comes from beyond the second-level cache. Measured on rows
/// of 1,024, 16 MB, on Emerald Rapids: softmax 2.03 -> 1.75 ms, layer norm 1.63 -> 1.38, its gradient 6.1 -> 5.4; on another day, when
/// memory answered sooner, layer norm 1.76 -> 1.86.
/// Of what is written over, which came from memory when it was stored, the lines of the next block are fetched too, before they are stored to:
/// softmax of 2,000 x 768 and 3,000 x 1,024 on the same in 0.95 of their time.
inline bool fetched_ahead(const Access& load) {
    constexpr std::size_t replaced = std::size_t{3} << 20;
    if (load.replaced) return load.plain() && load.passes >= replaced && is_no_zen();
    return load.plain() && load.passes >= beyond_caches;
}

/// Threads that a kernel of so many tasks can use: what scratch is for.
inline int slots_for(std::int64_t tasks) {
    return static_cast<int>(std::clamp<std::int64_t>(tasks, 1, ThreadPool::instance().threads()));
}

/// body(task, slot) for every task; a single task costs nothing more than itself.
template <class Body>
void for_each_task(std::int64_t tasks, int slots, Body&& body) {
    if (tasks == 1 || slots == 1) {
        for (std::int64_t task = 0; task < tasks; ++task) body(task, 0);
    } else {
        ThreadPool::instance().parallel_for(tasks, body, slots);
    }
}

}  // namespace weft::cpu
