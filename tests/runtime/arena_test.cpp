// The memory that a thread's runs compute in.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#if defined(__linux__)
#include <unistd.h>
#endif

#include "weft/check/compare.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

// Of its first call: the second product reads the first from the arena.
std::size_t allocations(std::int64_t n) {
    Tensor x = ones({n, n}).eval();
    CompiledFunction twice([](std::span<const Tensor> a) { return std::vector{matmul(matmul(a[0], a[0]), a[0])}; });
    std::size_t before = Buffer::count().allocations;
    std::vector<Tensor> results = twice({&x, 1});
    return Buffer::count().allocations - before;
}

TEST(Arena, has_room_for_the_next_size) {
    std::thread([] {
        std::size_t first = allocations(60), somewhat_more = allocations(72), much_more = allocations(144);
        EXPECT_EQ(somewhat_more + 1, first);  // all but the arena
        EXPECT_EQ(much_more, first);
        EXPECT_EQ(allocations(60) + 1, first);
    }).join();
}

TEST(Arena, that_no_machine_has_is_refused) {
    std::int64_t rows = 219604096115609900;  // half as much again of it is more than there are addresses
    Tensor five = ones({5});
    CompiledFunction twice([&](std::span<const Tensor> a) {
        return std::vector{sum(sort(sort(broadcast_to(a[0], {rows, 5}) * 2.0f, 0), 1), 0)};
    });
    EXPECT_THROW(twice({&five, 1}), OutOfMemory);
}

TEST(Arena, holds_other_sizes_one_after_the_other) {
    std::thread([] {
        CompiledFunction twice([](std::span<const Tensor> a) { return std::vector{matmul(matmul(a[0], a[0]), a[0])}; });
        for (std::int64_t n : {16, 75, 82, 125, 5, 155, 152}) {
            Tensor x = eye(n).eval();
            Tensor three[] = {(x * 3.0f).eval()};
            EXPECT_EQ(difference(twice(three)[0].array(), (x * 27.0f).array()), "") << n;
        }
    }).join();
}

#if defined(__linux__)
std::size_t bytes_in_memory() {
    std::size_t all = 0, there = 0;
    std::ifstream("/proc/self/statm") >> all >> there;
    return there * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Arena, gives_back_what_many_runs_did_not_need) {
    std::thread([] {
        constexpr std::int64_t many = 12'000'000;
        CompiledFunction small([](std::span<const Tensor> a) { return std::vector{matmul(matmul(a[0], a[0]), a[0])}; });
        CompiledFunction large([](std::span<const Tensor> a) {
            return std::vector{sum(cumulative_sum(cumulative_sum(broadcast_to(a[0], {many / 4, 4}), 0), 0), 0)};
        });
        Tensor x = ones({4, 4}).eval(), row = ones({4}).eval();
        std::vector<float> first = large({&row, 1})[0].to_vector<float>();
        std::size_t before = bytes_in_memory();
        for (int run = 0; run < 16500; ++run) (void)small({&x, 1});
        EXPECT_LT(bytes_in_memory() + many * sizeof(float) / 2, before);
        EXPECT_EQ(large({&row, 1})[0].to_vector<float>(), first);
    }).join();
}
#endif

}  // namespace
}  // namespace weft
