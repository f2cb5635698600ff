#include "weft/graph/node_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace weft {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool pooled = false;
#else
constexpr bool pooled = true;
#endif

void* filled_place(int value) {
    void* place = take_node_place();
    std::memset(place, value, node_place);
    return place;
}
bool holds(const void* place, int value) {
    auto* bytes = static_cast<const unsigned char*>(place);
    for (std::size_t i = 0; i < node_place; ++i)
        if (bytes[i] != static_cast<unsigned char>(value)) return false;
    return true;
}

TEST(NodeMemory, places_do_not_overlap_and_go_back_in_any_order) {
    std::size_t before = node_memory_bytes();
    std::vector<void*> places;
    for (int i = 0; i < 60000; ++i) places.push_back(filled_place(i % 251));  // several large regions
    EXPECT_EQ(std::set<void*>(places.begin(), places.end()).size(), places.size());
    for (std::size_t i = 0; i < places.size(); ++i) ASSERT_TRUE(holds(places[i], static_cast<int>(i % 251))) << i;
    if (pooled) {
        EXPECT_GE(node_memory_bytes(), 60000 * node_place);
        EXPECT_LE(node_memory_bytes(), before + 60000 * node_place * 5 / 4);
    }
    for (std::size_t i = 0; i < places.size(); i += 2) give_node_place(places[i]);
    for (std::size_t i = 1; i < places.size(); i += 2) ASSERT_TRUE(holds(places[i], static_cast<int>(i % 251))) << i;
    for (std::size_t i = 1; i < places.size(); i += 2) give_node_place(places[i]);
    EXPECT_LE(node_memory_bytes(), before + (3 << 20))
        << "all but what holds the chunk that is being filled is given back";
}

TEST(NodeMemory, chunks_are_used_again) {
    std::size_t most = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<void*> places;
        for (int i = 0; i < 3000; ++i) places.push_back(take_node_place());
        for (void* place : places) give_node_place(place);
        if (round == 1) most = node_memory_bytes();
    }
    EXPECT_LE(node_memory_bytes(), most);
}

TEST(NodeMemory, a_place_may_go_back_on_another_thread_after_its_own_has_ended) {
    std::size_t before = node_memory_bytes();
    for (int round = 0; round < 20; ++round) {
        std::vector<std::vector<void*>> taken(4);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&taken, t] {
                auto& mine = taken[static_cast<std::size_t>(t)];
                for (int i = 0; i < 2000; ++i) mine.push_back(filled_place(t + 1));
                for (int i = 0; i < 500; ++i) give_node_place(mine.back()), mine.pop_back();
            });
        for (std::thread& thread : threads) thread.join();
        threads.clear();
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&taken, t] {
                for (void* place : taken[static_cast<std::size_t>((t + 1) % 4)]) {
                    EXPECT_TRUE(holds(place, (t + 1) % 4 + 1));
                    give_node_place(place);
                }
            });
        for (std::thread& thread : threads) thread.join();
    }
    EXPECT_LE(node_memory_bytes(), before + (2 << 20)) << "chunks of threads that have ended are given back";
}

}  // namespace
}  // namespace weft
