#include "weft/base/waiting.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "threads.h"
#include "weft/base/thread_pool.h"

namespace weft::detail {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(LoopTimes, short_loops_after_a_rest_are_better_run_alone) {
    LoopTimes times;
    int one = 0, other = 0;
    Clock::time_point now = Clock::now();
    EXPECT_FALSE(times.better_alone(&one, 4, 2, now)) << "nothing is known of it";
    times.ended(&one, 4, 2, microseconds(2), now);  // half of its blocks: 4 us of work, of which another would spare 2
    EXPECT_FALSE(times.better_alone(&one, 4, 2, now + microseconds(10))) << "one ended just before";
    now += milliseconds(1);
    EXPECT_TRUE(times.better_alone(&one, 4, 2, now));
    EXPECT_FALSE(times.better_alone(&one, 5, 2, now)) << "of other blocks";
    EXPECT_FALSE(times.better_alone(&other, 4, 2, now));

    times.ended(&one, 4, 4, milliseconds(10), now);
    times.ended(&one, 4, 4, microseconds(4), now);
    EXPECT_FALSE(times.better_alone(&one, 4, 2, now + milliseconds(1))) << "it was long a short while ago";
    for (int i = 0; i < 100; ++i) times.ended(&one, 4, 4, microseconds(4), now);
    EXPECT_TRUE(times.better_alone(&one, 4, 2, now + milliseconds(1)));
}

TEST(LoopTimes, the_longest_loops_can_be_told) {
    LoopTimes times;
    int loop = 0;
    Clock::time_point now = Clock::now();
    std::int64_t blocks = std::int64_t{1} << 30;
    for (int i = 0; i < 3; ++i) times.ended(&loop, blocks, 1, std::chrono::hours(1000), now);
    EXPECT_FALSE(times.better_alone(&loop, blocks, 2, now + milliseconds(1)));
}

TEST(LoopTimes, what_waking_takes_decides) {
    LoopTimes times;
    int loop = 0;
    Clock::time_point now = Clock::now();
    times.ended(&loop, 8, 8, microseconds(100), now);
    now += milliseconds(1);
    EXPECT_FALSE(times.better_alone(&loop, 8, 2, now));
    for (int i = 0; i < 100; ++i) times.woke(microseconds(60));
    EXPECT_TRUE(times.better_alone(&loop, 8, 2, now));
    EXPECT_TRUE(times.better_alone(&loop, 8, 8, now)) << "of 100 us 7 others spare 87, 60 and a half of it are 90";
    for (int i = 0; i < 100; ++i) times.woke(microseconds(1));
    EXPECT_FALSE(times.better_alone(&loop, 8, 2, now));
}

TEST(LoopTimes, loops_of_a_pool_that_rests_between_them_run_every_block_once) {
    Threads guard(4);
    for (int loop = 0; loop < 30; ++loop) {
        std::vector<std::atomic<int>> runs(5);
        parallel_for(5, [&](std::int64_t block) { ++runs[static_cast<std::size_t>(block)]; });
        for (const auto& count : runs) EXPECT_EQ(count, 1);
        std::this_thread::sleep_for(microseconds(loop % 3 * 400));  // its workers fall asleep, or nearly so
    }
}

}  // namespace
}  // namespace weft::detail
