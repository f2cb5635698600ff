#include "weft/core/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
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

TEST(Buffer, memory_is_used_again_and_never_by_two) {
    const std::size_t sizes[] = {4, 256, 257, 1000, 1024, 5000, 40000, 65536, 1000000};
    std::vector<BufferHandle> kept;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 200; ++i) {
            std::size_t bytes = sizes[static_cast<std::size_t>(i) % std::size(sizes)];
            kept.push_back(Buffer::allocate(bytes));
            std::memset(kept.back()->data(), i, bytes);
        }
        for (int i = 0; i < 200; ++i) {
            const Buffer& buffer = *kept[static_cast<std::size_t>(i)];
            EXPECT_EQ(buffer.data()[0], std::byte(i));
            EXPECT_EQ(buffer.data()[buffer.bytes() - 1], std::byte(i));
        }
        kept.clear();
    }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Buffer, memory_of_the_size_that_was_let_go_of_last_is_taken_again) {
    std::vector<BufferHandle> many;
    for (std::size_t bytes : {16u, 1000u, 16384u, 65536u, 1000000u, 1048576u, 1u << 20, 700000u, 1000u}) {
        std::vector<BufferHandle>(5, nullptr).swap(many);
        for (BufferHandle& large : many) large = Buffer::allocate(1 << 20);  // as many as are kept, and one more
        many.clear();
        BufferHandle buffer = Buffer::allocate(bytes), other = Buffer::allocate(bytes);
        void* first = buffer->data();
        buffer.reset();
        EXPECT_EQ((buffer = Buffer::allocate(bytes))->data(), first) << bytes;
        EXPECT_NE(buffer->data(), other->data()) << bytes;
    }
}
#endif

}  // namespace
}  // namespace weft
