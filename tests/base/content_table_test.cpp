#include "weft/base/content_table.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

Hash128 key(std::uint64_t i) {
    Hasher hasher;
    hasher.add(i);
    return hasher.result();
}

TEST(ContentTable, KeepsTheFirstValueOfAKeyHoweverManyThereAre) {
    ContentTable<int> table;
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(table.known(key(static_cast<std::uint64_t>(i)), i), std::pair(i, true));
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(table.known(key(static_cast<std::uint64_t>(i)), -1), std::pair(i, false));
    EXPECT_EQ(table.size(), 5000u);
}

TEST(ContentTable, TellsKeysApartThatBeginAtTheSamePlace) {
    ContentTable<int> table;
    for (std::uint64_t high = 0; high < 100; ++high) table.known({high, 31}, static_cast<int>(high));
    for (std::uint64_t high = 0; high < 100; ++high)
        EXPECT_EQ(table.known({high, 31}, -1), std::pair(static_cast<int>(high), false));
    EXPECT_EQ(table.known({0, 0}, 7), std::pair(7, true));
    EXPECT_EQ(table.known({0, 0}, 8), std::pair(7, false));
}

TEST(ContentTable, KeepsWhatItHoldsWhenRoomIsMadeForMore) {
    ContentTable<int> table(10);
    table.known(key(1), 1);
    table.reserve(100000);
    table.reserve(1);
    EXPECT_EQ(table.known(key(1), 2), std::pair(1, false));
}

}  // namespace
}  // namespace weft
