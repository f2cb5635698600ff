#include "weft/core/buffer.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weft {
namespace {

TEST(Buffer, counts_are_of_all_threads_also_of_those_that_ended) {
    Buffer::Count before = Buffer::count();
    std::vector<BufferHandle> small(100), large(100);
    auto fill = [](std::vector<BufferHandle>& list, std::size_t bytes) {
        for (BufferHandle& buffer : list) buffer = Buffer::allocate(bytes);
    };
    std::thread a([&] { fill(small, 16); }), b([&] { fill(large, 1000); });
    a.join(), b.join();
    Buffer::Count between = Buffer::count();
    EXPECT_EQ(between.bytes - before.bytes, 101600u);
    EXPECT_EQ(between.buffers - before.buffers, 200u);
    EXPECT_EQ(between.allocations - before.allocations, 200u);
    small.clear();  // here, not where they began
    std::thread([&] { large.clear(); }).join();
    Buffer::Count after = Buffer::count();
    EXPECT_EQ(after.bytes, before.bytes);
    EXPECT_EQ(after.buffers, before.buffers);
    EXPECT_EQ(after.allocations - before.allocations, 200u);
}

TEST(Buffer, memory_of_small_ones_is_used_again_and_never_by_two) {
    std::vector<BufferHandle> kept;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 200; ++i) {
            kept.push_back(Buffer::allocate(4));
            *kept.back()->data() = std::byte(i);
        }
        for (int i = 0; i < 200; ++i) EXPECT_EQ(*kept[static_cast<std::size_t>(i)]->data(), std::byte(i));
        kept.clear();
    }
}

}  // namespace
}  // namespace weft
