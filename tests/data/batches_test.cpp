#include "weft/data/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include "io/scratch.h"
#include "weft/base/error.h"
#include "weft/data/files.h"
#include "weft/io/npy.h"

namespace weft::data {
namespace {

/// x is (n, 2): 10 i, 10 i + 1; y is i.
Dataset counting(std::int64_t n) {
    Array x = Array::empty(float32, {n, 2}), y = Array::empty(int64, {n});
    for (std::int64_t i = 0; i < n; ++i) {
        x.data<float>()[2 * i] = static_cast<float>(10 * i);
        x.data<float>()[2 * i + 1] = static_cast<float>(10 * i + 1);
        y.data<std::int64_t>()[i] = i;
    }
    return arrays(x, y);
}

std::vector<std::int64_t> labels(const Array& y) { return {y.data<std::int64_t>(), y.data<std::int64_t>() + y.size()}; }

std::vector<std::int64_t> all_labels(const Batches& batches) {
    std::vector<std::int64_t> all;
    for (auto [x, y] : batches) {
        for (std::int64_t i = 0; i < y.size(); ++i) {
            EXPECT_EQ(x.data<float>()[2 * i + 1], static_cast<float>(10 * y.data<std::int64_t>()[i] + 1));
        }
        for (std::int64_t label : labels(y)) all.push_back(label);
    }
    return all;
}

TEST(Batches, walk_over_every_row_in_order) {
    std::vector<std::int64_t> expected(10);
    for (int i = 0; i < 10; ++i) expected[static_cast<std::size_t>(i)] = i;
    for (int prefetch : {0, 1, 2, 5}) EXPECT_EQ(all_labels(counting(10).batches(3, {.prefetch = prefetch})), expected);
}

TEST(Batches, the_last_is_kept_dropped_or_padded) {
    Dataset set = counting(7);
    Batches kept = set.batches(3), dropped = set.batches(3, {.last = Last::drop}),
            padded = set.batches(3, {.last = Last::pad});
    EXPECT_EQ(kept.count(), 3);
    EXPECT_EQ(dropped.count(), 2);
    EXPECT_EQ(padded.count(), 3);
    EXPECT_EQ(labels(kept.at(2).y), (std::vector<std::int64_t>{6}));
    EXPECT_EQ(all_labels(dropped), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
    Batch last = padded.at(2);
    EXPECT_EQ(labels(last.y), (std::vector<std::int64_t>{6, 0, 1}));
    EXPECT_EQ(last.count, 1);
    EXPECT_EQ(last.index, 2);
    EXPECT_EQ(labels(counting(2).batches(5, {.last = Last::pad}).at(0).y), (std::vector<std::int64_t>{0, 1, 0, 1, 0}));
    EXPECT_EQ(counting(0).batches(3).count(), 0);
    EXPECT_TRUE(all_labels(counting(0).batches(3)).empty());
    EXPECT_EQ(counting(2).batches(5, {.last = Last::drop}).count(), 0);
}

TEST(Batches, a_shuffle_is_a_permutation_set_by_seed_and_epoch) {
    Dataset set = counting(1000);
    auto order = all_labels(set.batches(64, {.shuffle = 3}));
    EXPECT_EQ(order, all_labels(set.batches(64, {.shuffle = 3, .prefetch = 0})));
    EXPECT_EQ(order, all_labels(set.batches(10, {.shuffle = 3})));
    EXPECT_EQ(order, set.batches(10, {.shuffle = 3}).order());
    auto next = all_labels(set.batches(64, {.shuffle = 3, .epoch = 1})),
         other = all_labels(set.batches(64, {.shuffle = 4}));
    EXPECT_NE(order, next);
    EXPECT_NE(order, other);
    std::int64_t stays = 0;
    for (std::size_t i = 0; i < order.size(); ++i) stays += order[i] == static_cast<std::int64_t>(i);
    EXPECT_LE(stays, 8);  // a random permutation keeps one place on average
    for (auto* each : {&order, &next, &other}) {
        std::sort(each->begin(), each->end());
        for (std::size_t i = 0; i < each->size(); ++i) ASSERT_EQ((*each)[i], static_cast<std::int64_t>(i));
    }
}

TEST(Batches, a_shuffle_prefers_no_order) {
    std::array<int, 24> count{};
    Dataset set = counting(4);
    for (std::uint64_t seed = 0; seed < 24000; ++seed) {
        std::vector<std::int64_t> order = set.batches(4, {.shuffle = seed}).order();
        std::size_t which = 0;
        std::vector<std::int64_t> left{0, 1, 2, 3};
        for (std::int64_t row : order) {
            auto at = std::find(left.begin(), left.end(), row);
            which = which * left.size() + static_cast<std::size_t>(at - left.begin());
            left.erase(at);
        }
        ++count.at(which);
    }
    double chi2 = 0;
    for (int n : count) chi2 += (n - 1000.0) * (n - 1000.0) / 1000.0;
    EXPECT_LT(chi2, 49.7);  // 23 degrees of freedom, 0.1 %
}

TEST(Batches, a_walk_goes_on_at_any_batch) {
    Dataset set = counting(100);
    auto all = all_labels(set.batches(7, {.shuffle = 1, .epoch = 5}));
    for (std::int64_t first : {1, 9, 14, 15}) {
        auto rest = all_labels(set.batches(7, {.shuffle = 1, .epoch = 5, .first = first}));
        auto begin = all.begin() + std::min<std::int64_t>(7 * first, 100);
        EXPECT_EQ(rest, std::vector<std::int64_t>(begin, all.end())) << first;
    }
}

TEST(Batches, what_the_user_keeps_is_never_written_again) {
    std::vector<Batch> kept;
    for (const Batch& batch : counting(500).batches(5)) kept.push_back(batch);
    for (std::size_t b = 0; b < kept.size(); ++b) {
        for (std::int64_t i = 0; i < 5; ++i)
            ASSERT_EQ(kept[b].y.data<std::int64_t>()[i], static_cast<std::int64_t>(b) * 5 + i);
    }
}

TEST(Batches, a_walk_uses_its_memory_again) {
    Dataset set = counting(1000);
    std::size_t before = Buffer::count().allocations, batches = 0;
    for (auto [x, y] : set.batches(5)) batches += x.size() > 0;
    EXPECT_EQ(batches, 200u);
    EXPECT_LE(Buffer::count().allocations - before, 2 * 5u);  // two waiting, one being gathered, one or two in hand
}

TEST(Batches, a_walk_may_end_at_any_moment) {
    Dataset set = counting(1000);
    for (int stop = 0; stop < 60; ++stop) {
        int seen = 0;
        for (auto [x, y] : set.batches(10, {.shuffle = 1})) {
            if (seen++ == stop) break;
            if (stop % 7 == 3) std::this_thread::yield();
        }
    }
    { auto untouched = set.batches(10).begin(); }
    auto moved = set.batches(10).begin();
    auto other = std::move(moved);
    ++other;
    EXPECT_EQ((*other).index, 1);
}

TEST(Batches, an_exception_of_the_thread_reaches_the_user_after_the_batches_before_it) {
    for (int prefetch : {0, 1, 3}) {
        BatchOptions options;
        options.prefetch = prefetch;
        options.change = [](Batch& batch, std::int64_t) {
            if (batch.index == 4) throw ValueError("no luck");
        };
        int seen = 0;
        try {
            for (auto [x, y] : counting(100).batches(10, options)) seen += y.size() == 10;
            FAIL();
        } catch (const ValueError& error) {
            EXPECT_STREQ(error.what(), "no luck");
        }
        EXPECT_EQ(seen, 4);
    }
}

TEST(Batches, a_change_is_applied_with_its_epoch) {
    BatchOptions options;
    options.epoch = 3;
    options.change = [](Batch& batch, std::int64_t epoch) { batch.x.data<float>()[0] = static_cast<float>(epoch); };
    for (auto [x, y] : counting(10).batches(5, options)) EXPECT_EQ(x.data<float>()[0], 3);
}

TEST(Batches, several_walks_and_threads_do_not_disturb_each_other) {
    Batches batches = counting(300).batches(7, {.shuffle = 2});
    auto expected = all_labels(batches);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10; ++i) EXPECT_EQ(all_labels(batches), expected);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST(Batches, refuse_what_makes_no_sense) {
    Dataset set = counting(10);
    EXPECT_THROW((void)set.batches(0), ValueError);
    EXPECT_THROW((void)set.batches(5, {.first = 3}), ValueError);
    EXPECT_THROW((void)set.batches(5, {.prefetch = -1}), ValueError);
    EXPECT_THROW((void)set.batches(5).at(2), IndexError);
    EXPECT_THROW((void)set.rows(3, 11), IndexError);
    EXPECT_THROW((void)arrays(Array::zeros(float32, {3, 2}), Array::zeros(int64, {4})), ShapeError);
    EXPECT_THROW((void)set.reshaped({3}), ShapeError);
}

TEST(Batches, slices_are_walked_as_sets_of_their_own) {
    EXPECT_EQ(all_labels(counting(20).rows(5, 9).batches(3)), (std::vector<std::int64_t>{5, 6, 7, 8}));
}

TEST(Batches, several_readers_hand_out_the_same_batches_in_order) {
    for (int readers : {1, 2, 5}) {
        BatchOptions options{.shuffle = 4};
        std::vector<std::int64_t> alone = all_labels(counting(100).batches(3, options));
        options.readers = readers;
        EXPECT_EQ(all_labels(counting(100).batches(3, options)), alone);
        options.first = 30;
        std::vector<std::int64_t> rest = all_labels(counting(100).batches(3, options));
        EXPECT_EQ(rest, std::vector<std::int64_t>(alone.begin() + 90, alone.end()));
    }
}

TEST(Batches, an_error_of_one_of_several_readers_comes_in_its_turn) {
    BatchOptions options{.change = [](Batch& batch, std::int64_t) {
        if (batch.index >= 5) throw ValueError(text("batch ", batch.index));
    }};
    options.readers = 4;
    Batches batches = counting(100).batches(3, options);
    Batches::Iterator at = batches.begin();
    for (int i = 0; i < 4; ++i) ++at;
    EXPECT_EQ((*at).index, 4);
    for (int again : {1, 2}) {
        try {
            ++at;
            ADD_FAILURE() << again;
        } catch (const ValueError& error) {
            EXPECT_STREQ(error.what(), "batch 5");
        }
    }
}

TEST(Batches, a_window_shuffles_rows_near_their_places) {
    BatchOptions options{.shuffle = 1};
    options.window = 50;
    std::vector<std::int64_t> order = counting(2000).batches(10, options).order(), sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::int64_t i = 0; i < 2000; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
    for (std::int64_t i = 0; i < 2000; ++i)
        EXPECT_LE(order[static_cast<std::size_t>(i)], i + 50);  // none before it came
    EXPECT_FALSE(std::is_sorted(order.begin(), order.begin() + 20));
    EXPECT_THROW((void)counting(5).batches(2, {.readers = 0}), ValueError);
}

/// Of this process, in megabytes; 0 where the system does not say.
std::int64_t memory_in_use() {
    std::ifstream file("/proc/self/statm");
    std::int64_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * 4096 >> 20;
}

TEST(Batches, a_file_of_four_times_the_memory_allowed_is_walked_in_steady_memory) {
    constexpr std::int64_t rows = 2048, width = 16384, allowed = 32;  // 128 MB of float32
    if (memory_in_use() == 0) GTEST_SKIP() << "lacks /proc/self/statm";
    Scratch scratch;
    std::string header = io::npy_header(unread(float32, {rows, width}));
    put_file(scratch / "x.npy", header);
    std::filesystem::resize_file(scratch / "x.npy", header.size() + rows * width * 4);  // zeros that take no room
    io::save_npy(scratch / "y.npy", Array::zeros(int64, {rows}));
    Dataset set = npy(scratch / "x.npy", scratch / "y.npy", true);
    BatchOptions options{.shuffle = 1};
    options.window = 256, options.readers = 2;
    std::int64_t before = memory_in_use(), most = 0;
    for (const Batch& batch : set.batches(16, options)) {
        EXPECT_EQ(batch.x.data<float>()[width - 1], 0);
        most = std::max(most, memory_in_use());
    }
    EXPECT_LE(most - before, allowed);
}

}  // namespace
}  // namespace weft::data
