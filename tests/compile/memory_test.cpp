#include "weft/compile/memory.h"

#include <gtest/gtest.h>

#include "weft/check/draw.h"

namespace weft {
namespace {

bool overlap(std::size_t a, std::size_t a_bytes, std::size_t b, std::size_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

TEST(Memory, no_two_that_are_alive_at_once_share_a_byte) {
    for (int seed = 0; seed < 500; ++seed) {
        Draw draw(text("lifetimes ", seed));
        std::vector<Lifetime> lives;
        for (std::int64_t i = 0, n = 1 + draw.below(60); i < n; ++i) {
            auto first = static_cast<std::int32_t>(draw.below(30));
            lives.push_back({static_cast<std::size_t>(draw.below(5) ? draw.below(5000) : 0), first,
                             first + static_cast<std::int32_t>(draw.below(8)), -1});
        }
        for (std::size_t i = 0; i < lives.size(); ++i) {  // some may take the place of one that ends where they begin
            for (std::size_t j = 0; j < lives.size() && draw.below(2); ++j) {
                if (j != i && lives[j].last == lives[i].first && lives[j].first < lives[i].first)
                    lives[i].may_reuse = static_cast<std::int32_t>(j);
            }
        }
        MemoryPlan plan = plan_memory(lives);
        for (std::size_t i = 0; i < lives.size(); ++i) {
            if (lives[i].bytes == 0) continue;
            EXPECT_EQ(plan.offsets[i] % 64, 0u);
            EXPECT_LE(plan.offsets[i] + lives[i].bytes, plan.bytes);
            for (std::size_t j = 0; j < i; ++j) {
                if (lives[j].bytes == 0 || lives[i].last < lives[j].first || lives[j].last < lives[i].first) continue;
                bool in_place =
                    (lives[i].may_reuse == static_cast<std::int32_t>(j) && lives[j].last == lives[i].first) ||
                    (lives[j].may_reuse == static_cast<std::int32_t>(i) && lives[i].last == lives[j].first);
                if (in_place && plan.offsets[i] == plan.offsets[j]) continue;
                ASSERT_FALSE(overlap(plan.offsets[i], lives[i].bytes, plan.offsets[j], lives[j].bytes))
                    << "seed " << seed << ": " << i << " and " << j;
            }
        }
    }
}

TEST(Memory, a_place_that_dies_is_taken_in_place) {
    MemoryPlan plan = plan_memory({{256, 0, 1, -1}, {256, 1, 2, 0}, {256, 2, 3, 1}});
    EXPECT_EQ(plan.bytes, 256u);
}

TEST(Memory, what_is_dead_is_used_again) {
    MemoryPlan plan = plan_memory({{640, 0, 1, -1}, {64, 0, 5, -1}, {640, 2, 3, -1}});
    EXPECT_EQ(plan.bytes, 704u);
    EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

}  // namespace
}  // namespace weft
