// What the machine can do is measured with the memory that there is.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

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

}  // namespace
}  // namespace weft::cpu
