// A number of threads for the length of a test. Callers: tests that run with several.
#pragma once

#include "weft/base/thread_pool.h"

namespace weft {

struct Threads {
    explicit Threads(int threads) : before(ThreadPool::instance().threads()) {
        ThreadPool::instance().set_threads(threads);
    }
    ~Threads() { ThreadPool::instance().set_threads(before); }
    int before;
};

}  // namespace weft
