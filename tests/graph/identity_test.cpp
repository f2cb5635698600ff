#include "weft/graph/identity.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace weft {
namespace {

TEST(Identity, is_no_others_while_it_lives_and_none_that_was) {
    std::set<Identity> seen;
    std::vector<Identity> living;
    for (int i = 0; i < 5000; ++i) {  // beyond the first piece of the table, and what a thread has at hand
        living.push_back(Identity::fresh());
        EXPECT_TRUE(living.back().lives());
        EXPECT_TRUE(seen.insert(living.back()).second);
        if (i % 3 == 0) {
            Identity gone = living[living.size() / 2];
            living.erase(living.begin() + static_cast<std::ptrdiff_t>(living.size() / 2));
            gone.end();
            EXPECT_FALSE(gone.lives());
        }
    }
    for (Identity identity : living) EXPECT_TRUE(identity.lives());
    for (Identity identity : living) identity.end();
    for (Identity identity : seen) EXPECT_FALSE(identity.lives());
    EXPECT_FALSE(Identity());
}

TEST(Identity, may_end_on_another_thread_than_it_began) {
    std::vector<std::vector<Identity>> begun(4);
    std::vector<std::thread> threads;
    for (auto& list : begun)
        threads.emplace_back([&list] {
            for (int i = 0; i < 1000; ++i) list.push_back(Identity::fresh());
        });
    for (std::thread& thread : threads) thread.join();
    std::set<Identity> all;
    for (const auto& list : begun) all.insert(list.begin(), list.end());
    EXPECT_EQ(all.size(), 4000u);
    threads.clear();
    for (std::size_t t = 0; t < begun.size(); ++t)
        threads.emplace_back([&, t] {
            for (Identity identity : begun[(t + 1) % begun.size()]) identity.end();
        });
    for (std::thread& thread : threads) thread.join();
    for (Identity identity : all) EXPECT_FALSE(identity.lives());
}

}  // namespace
}  // namespace weft
