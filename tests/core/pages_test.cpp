#include "weft/core/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "weft/core/array.h"

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
#define WEFT_COUNTS_MAPPINGS
#endif
#endif

namespace weft {
namespace {

std::size_t in_memory([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
    std::size_t count = 0;
#if defined(__linux__)
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> there((bytes + page - 1) / page);
    EXPECT_EQ(mincore(const_cast<void*>(memory), bytes, there.data()), 0);
    for (unsigned char one : there) count += (one & 1u) * page;
#endif
    return count;
}

TEST(Pages, the_systems_table_says_how_much_is_free_in_large_pieces) {
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (page != 4096) GTEST_SKIP() << "the table below counts pieces of 4 KB, 8 KB ...";
    const char* table =
        "Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      3 \n"
        "Node 0, zone   Normal  10319   6509   4171   2045    879    541    284    748    802      5      2 \n";
    EXPECT_EQ(free_in_large_pages(table), (1 + 2 * 3 + 5 + 2 * 2) * large_page);
    EXPECT_EQ(free_in_large_pages("Node 0, zone Normal 7 7 7 7 7 7 7 7 7"), 0u);
    EXPECT_EQ(free_in_large_pages("Node 0, zone"), 0u);
    EXPECT_EQ(free_in_large_pages("nothing of the sort\nzone x y z\n"), 0u);
    EXPECT_EQ(free_in_large_pages(""), 0u);
}

TEST(Pages, whole_large_ones_are_taken_unless_much_of_the_last_would_be_empty) {
    EXPECT_EQ(in_large_pages(large_page), large_page);
    EXPECT_EQ(in_large_pages(2 * large_page - 64), 2 * large_page);
    EXPECT_EQ(in_large_pages(large_page + 64), large_page + 64);
    EXPECT_EQ(in_large_pages(8 * large_page + 64), 9 * large_page);
    EXPECT_EQ(in_large_pages(0), 0u);
}

TEST(Pages, mapped_ones_are_zeros_and_in_memory_only_when_touched) {
    std::size_t bytes = 2 * large_page + 12345;
    void* pages = map_pages(bytes);
    if (!pages) GTEST_SKIP() << "this system maps none";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages) % large_page, 0u);
    EXPECT_EQ(in_memory(pages, bytes), 0u);
    auto* at = static_cast<unsigned char*>(pages);
    at[bytes - 1] = 7;
    touch_pages(pages, bytes);
#if defined(MADV_POPULATE_WRITE)
    EXPECT_GE(in_memory(pages, bytes), bytes);
#endif
    EXPECT_EQ(at[bytes - 1], 7);  // what was there stays
    for (std::size_t i = 0; i + 1 < bytes; ++i) ASSERT_EQ(at[i], 0) << i;
    unmap_pages(pages, bytes);
}

TEST(Pages, more_than_there_are_addresses_for_are_refused) {
    EXPECT_EQ(map_pages(SIZE_MAX), nullptr);
    EXPECT_EQ(map_pages(SIZE_MAX - large_page), nullptr);
    EXPECT_THROW(Array::zeros(DType::float64, {std::int64_t{1} << 58}), OutOfMemory);
    EXPECT_THROW(Array::zeros(DType::float32, {2, -1}), ShapeError);
}

TEST(Pages, touching_part_of_one_keeps_what_is_beside) {
    std::vector<char> memory(100000, 'x');
    touch_pages(memory.data() + 17, 30001);
    touch_pages(memory.data() + 17, 1);
    touch_pages(memory.data(), 0);
    EXPECT_THAT(memory, testing::Each('x'));
}

TEST(Pages, large_ones_are_brought_one_by_one_until_one_is_late) {
    constexpr std::size_t bytes = 3 * large_page;
    void* pages = map_pages(bytes);
    if (!pages) GTEST_SKIP() << "this system maps none";
    auto there = [&](std::size_t page) {
        return in_memory(static_cast<std::byte*>(pages) + page * large_page, large_page) > 0;
    };
    want_large_pages(pages, bytes);
    bring_large_pages(pages, bytes - 1, -1);  // each is late
#if defined(__linux__)
    EXPECT_TRUE(there(0));
    EXPECT_FALSE(there(1));
    bring_large_pages(pages, bytes - 1, INT64_MAX);
    EXPECT_TRUE(there(1));
    EXPECT_FALSE(there(2)) << "a part of one";
#endif
    unmap_pages(pages, bytes);
}

TEST(Pages, memory_that_is_given_back_stays_once_the_heap_is_ready) {
#if !defined(WEFT_COUNTS_MAPPINGS) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "needs glibc 2.33, whose mappings it counts, and no sanitizer in its place";
#else
    ready_heap(0);
    ready_heap(large_page - 1);
    ready_heap(large_page);
    auto mappings = mallinfo2().hblks;
    void* volatile block = std::malloc(std::size_t{15} << 20);
    EXPECT_EQ(mallinfo2().hblks, mappings) << "it has no mapping of its own, which would go back with it";
    std::free(block);
    ready_heap(0);
    ready_heap(SIZE_MAX);
#endif
}

TEST(Pages, what_is_given_back_is_kept_for_who_asks_for_as_much_and_not_without_bound) {
    std::size_t bytes = 3 * large_page + 4096;
    void* first = take_large(bytes);
    ASSERT_NE(first, nullptr);
    std::memset(first, 1, bytes);
    give_large(first, bytes);
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "a build for the address sanitizer keeps nothing that it could not watch";
#endif
    void* other = take_large(10 * large_page);
    EXPECT_NE(other, first);
    EXPECT_EQ(take_large(bytes), first);
    give_large(first, bytes);
    give_large(other, 10 * large_page);
    std::vector<void*> many;
    for (int i = 0; i < 20; ++i) many.push_back(take_large(4 * large_page));
    for (void* one : many) give_large(one, 4 * large_page);
    EXPECT_LE(kept_bytes(), std::size_t{64} << 20);
    EXPECT_GT(kept_bytes(), std::size_t{32} << 20);
    std::size_t before = kept_bytes();
    give_large(take_large(100 * large_page), 100 * large_page);  // more than is ever kept
    EXPECT_EQ(kept_bytes(), before);
}

TEST(Buffers, of_several_threads_get_memory_of_their_own) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 50; ++i) {
                std::size_t bytes = large_page * static_cast<std::size_t>(1 + i % 3);
                BufferHandle a = Buffer::allocate(bytes), b = Buffer::allocate(bytes);
                for (BufferHandle* one : {&a, &b})
                    for (std::size_t at = 0; at < bytes; at += 4096)
                        (*one)->data()[at] = std::byte(one == &a ? t : 100 + t);
                for (std::size_t at = 0; at < bytes; at += 4096) {
                    ASSERT_EQ(a->data()[at], std::byte(t));
                    ASSERT_EQ(b->data()[at], std::byte(100 + t));
                }
            }
        });
    for (std::thread& thread : threads) thread.join();
}

TEST(Arrays, of_zeros_are_zeros_where_memory_was_written_before_and_let_go) {
    for (std::int64_t count : {1, 1000, 600000, 1300000, 5000000}) {
        for (int round = 0; round < 2; ++round) {
            Array zeros = Array::zeros(DType::float32, {count});
            const auto* values = zeros.data<float>();
            for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(values[i], 0) << count << ' ' << i;
            std::memset(zeros.address(), 1, zeros.bytes());
        }
        Buffer::Count before = Buffer::count();
        Array::zeros(DType::float32, {count});
        EXPECT_EQ(Buffer::count().bytes, before.bytes);
    }
}

}  // namespace
}  // namespace weft
