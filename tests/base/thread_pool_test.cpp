#include "weft/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "threads.h"
#include "weft/base/error.h"
#include "weft/base/processors.h"

namespace weft {
namespace {

TEST(ThreadPool, calls_each_block_once) {
    for (int threads : {1, 2, 4, 7}) {
        Threads guard(threads);
        for (std::int64_t blocks : {0, 1, 2, 3, 8, 1000}) {
            std::vector<std::atomic<int>> calls(static_cast<std::size_t>(blocks));
            for (int repeat = 0; repeat < 50; ++repeat)
                parallel_for(blocks, [&](std::int64_t block) { calls[static_cast<std::size_t>(block)].fetch_add(1); });
            for (auto& count : calls) EXPECT_EQ(count.load(), 50);
        }
    }
}

TEST(ThreadPool, writes_of_the_blocks_are_seen_after_the_loop) {
    Threads guard(4);
    std::vector<std::int64_t> values(64);
    for (std::int64_t round = 1; round <= 2000; ++round) {
        parallel_for(64, [&](std::int64_t block) { values[static_cast<std::size_t>(block)] += block; });
        for (std::int64_t block = 0; block < 64; ++block)
            ASSERT_EQ(values[static_cast<std::size_t>(block)], round * block);
    }
}

// But for one that comes from the loop before and finds this one under way: it may begin anywhere.
TEST(ThreadPool, a_thread_begins_with_blocks_of_its_own) {
    Threads guard(2);
    auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    auto first_of_other = [&] {
        std::atomic<std::int64_t> first{-1};
        parallel_for(8, [&](std::int64_t block, int slot) {
            std::int64_t none = -1;
            if (slot == 1) first.compare_exchange_strong(none, block);
            while (first < 0 && std::chrono::steady_clock::now() < enough) std::this_thread::yield();
        });
        return first.load();
    };
    std::int64_t first = -1;
    for (int i = 0; i < 20 && first != 4; ++i) first = first_of_other();
    EXPECT_EQ(first, 4);
}

TEST(ThreadPool, slots_are_apart_and_below_the_limit) {
    Threads guard(6);
    for (int limit : {1, 2, 3, 6}) {
        std::vector<std::atomic<int>> inside(static_cast<std::size_t>(limit));
        std::atomic<int> clashes{0};
        for (int round = 0; round < 50; ++round)
            parallel_for(
                100,
                [&](std::int64_t, int slot) {
                    if (slot >= limit || inside[static_cast<std::size_t>(slot)].fetch_add(1) != 0) clashes.fetch_add(1);
                    if (slot < limit) inside[static_cast<std::size_t>(slot)].fetch_sub(1);
                },
                limit);
        EXPECT_EQ(clashes.load(), 0);
    }
}

TEST(ThreadPool, a_loop_within_a_loop_runs_in_its_caller) {
    Threads guard(3);
    std::atomic<int> calls{0}, elsewhere{0};
    parallel_for(8, [&](std::int64_t) {
        std::thread::id here = std::this_thread::get_id();
        parallel_for(10, [&](std::int64_t, int slot) {
            calls.fetch_add(1);
            if (slot != 0 || std::this_thread::get_id() != here) elsewhere.fetch_add(1);
        });
    });
    EXPECT_EQ(calls.load(), 80);
    EXPECT_EQ(elsewhere.load(), 0);
}

TEST(ThreadPool, serves_several_users_at_once) {
    Threads guard(3);
    std::vector<std::thread> users;
    std::atomic<int> wrong{0};
    for (int user = 0; user < 4; ++user)
        users.emplace_back([&] {
            std::vector<int> values(33);
            for (int round = 1; round <= 500; ++round) {
                parallel_for(33, [&](std::int64_t block) { ++values[static_cast<std::size_t>(block)]; });
                for (int value : values) wrong += value != round;
            }
        });
    for (std::thread& user : users) user.join();
    EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, carries_the_exception_of_the_lowest_block_and_stays_usable) {
    for (int threads : {1, 4}) {
        Threads guard(threads);
        for (int round = 0; round < 100; ++round) {
            try {
                parallel_for(64, [](std::int64_t block) {
                    if (block % 5 == 3) throw std::runtime_error(std::to_string(block));
                });
                FAIL() << "nothing was thrown";
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "3");
            }
            std::atomic<int> calls{0};
            parallel_for(16, [&](std::int64_t) { calls.fetch_add(1); });
            EXPECT_EQ(calls.load(), 16);
        }
    }
}

TEST(ThreadPool, the_number_of_threads_may_change_within_a_loop) {
    Threads guard(2);
    std::atomic<int> calls{0};
    for (int round = 0; round < 100; ++round)
        parallel_for(8, [&](std::int64_t block) {
            ThreadPool::instance().set_threads(1 + static_cast<int>(block) % 4);
            calls.fetch_add(1);
        });
    EXPECT_EQ(calls.load(), 800);
}

TEST(ThreadPool, refuses_less_than_one_thread) {
    try {
        ThreadPool::instance().set_threads(0);
        FAIL();
    } catch (const ValueError& error) {
        EXPECT_STREQ(error.what(), "set_threads: the number of threads is 0, but must be at least 1");
    }
}

TEST(ThreadPool, a_process_may_exit_within_a_block) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            ThreadPool::instance().set_threads(4);
            parallel_for(64, [](std::int64_t block) {
                if (block == 17) std::exit(5);
            });
        },
        testing::ExitedWithCode(5), "");
}

TEST(Processors, quota_is_read_as_the_kernel_writes_it) {
    EXPECT_EQ(quota_of_cpu_max("max 100000\n"), std::nullopt);
    EXPECT_EQ(quota_of_cpu_max("150000 100000\n"), 1.5);
    EXPECT_EQ(quota_of_cpu_max("-1\n 100000\n"), std::nullopt);
    EXPECT_EQ(quota_of_cpu_max(""), std::nullopt);
    EXPECT_GE(usable_processors(), 1);
}

TEST(Processors, weft_threads_must_be_a_positive_number) {
    EXPECT_EQ(threads_from_text("3"), 3);
    for (const char* bad : {"0", "-2", "two", "2x", "99999999999"}) EXPECT_THROW(threads_from_text(bad), ValueError);
}

}  // namespace
}  // namespace weft
