// What the machine can do is measured with the memory that there is; what its caches decide.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

#include "weft/backend/cpu/caches.h"
#include "weft/backend/cpu/compiler.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

/// Ends the process with 0 if limits are measured while it may take no more than so many bytes.
void measure_within(rlim_t bytes) {
    ThreadPool::instance();  // which reads files: what libraries take when they are loaded may be as much already
    rlimit memory{bytes, bytes};
    setrlimit(RLIMIT_AS, &memory);
    Limits limits = measure_limits();
    std::_Exit(limits.operations > 0 ? 0 : 1);
}

TEST(Limits, are_measured_where_memory_is_short) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (rlim_t megabytes : {300, 100}) EXPECT_EXIT(measure_within(megabytes << 20), testing::ExitedWithCode(0), "");
}

TEST(Limits, results_of_blocks_stay_in_a_third_level_cache_that_has_room) {
    for (std::size_t megabytes : {0, 32, 105, 320, 480}) {
        EXPECT_FALSE(go_past_caches(std::size_t{15} << 20, megabytes << 20)) << megabytes;
        EXPECT_EQ(go_past_caches(std::size_t{16} << 20, megabytes << 20), megabytes < 384) << megabytes;
        EXPECT_TRUE(go_past_caches(std::size_t{32} << 20, megabytes << 20)) << megabytes;
    }
}

}  // namespace
}  // namespace weft::cpu
