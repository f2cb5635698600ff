#include "weft/base/content_table.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

Hash128 key(std::uint64_t i) {
    Hasher hasher;
    hasher.add(i);
    return hasher.result();
}

TEST(ContentTable, keeps_the_first_value_of_a_key_however_many_there_are) {
    ContentTable<int> table;
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(table.known(key(static_cast<std::uint64_t>(i)), i), std::pair(i, true));
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(table.known(key(static_cast<std::uint64_t>(i)), -1), std::pair(i, false));
    EXPECT_EQ(table.size(), 5000u);
}

TEST(ContentTable, tells_keys_apart_that_begin_at_the_same_place) {
    ContentTable<int> table;
    for (std::uint64_t high = 0; high < 100; ++high) table.known({high, 31}, static_cast<int>(high));
    for (std::uint64_t high = 0; high < 100; ++high)
        EXPECT_EQ(table.known({high, 31}, -1), std::pair(static_cast<int>(high), false));
    EXPECT_EQ(table.known({0, 0}, 7), std::pair(7, true));
    EXPECT_EQ(table.known({0, 0}, 8), std::pair(7, false));
    table.exchange({0, 0}, 9);
    EXPECT_EQ(table.known({0, 0}, 8), std::pair(9, false));
}

TEST(ContentTable, keeps_what_it_holds_when_room_is_made_for_more) {
    ContentTable<int> table(10);
    table.known(key(1), 1);
    table.reserve(100000);
    table.reserve(1);
    EXPECT_EQ(table.known(key(1), 2), std::pair(1, false));
}

// As many at each place as have room there, twice as many, all at one: none is lost, and none is looked for all over the table.
TEST(ContentTable, keeps_many_things_of_one_place) {
    for (int each : {1, 2, 4, 7, 20000}) {
        ContentTable<int> table;
        auto at = [&](int i) { return key_near(key(static_cast<std::uint64_t>(i)), i / each); };
        for (int i = 0; i < 20000; ++i) EXPECT_EQ(table.known(at(i), i), std::pair(i, true));
        for (int i = 0; i < 20000; ++i) EXPECT_EQ(table.known(at(i), -1), std::pair(i, false));
        EXPECT_EQ(table.known(key_near(key(3), -1), -1), std::pair(-1, true));  // the same with no place
    }
}

}  // namespace
}  // namespace weft
