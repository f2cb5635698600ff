#include "weft/runtime/allowance.h"

#include <gtest/gtest.h>

#include <thread>

#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

/// A function of one tensor that counts how often it is traced.
struct Counted {
    std::atomic<int> traces{0};
    CompiledFunction function;
    explicit Counted(std::shared_ptr<Allowance> allowance)
        : function(
              [this](std::span<const Tensor> x) {
                  ++traces;
                  return std::vector<Tensor>{x[0] * 2 + 1};
              },
              {}, std::move(allowance)) {}
    /// The first number of what it makes of `size` ones.
    float operator()(std::int64_t size) {
        std::vector<float> ones(static_cast<std::size_t>(size), 1);
        Tensor x = Tensor::of(ones, {size});
        return function(std::span<const Tensor>(&x, 1))[0].to_vector<float>()[0];
    }
};

TEST(Allowance, lets_go_of_the_program_that_was_not_run_for_the_longest_time) {
    Counted f(std::make_shared<Allowance>(3));
    for (std::int64_t size : {1, 2, 3, 1, 2, 3}) EXPECT_EQ(f(size), 3);
    EXPECT_EQ(f.traces, 3);
    f(1), f(4);  // goes: 2
    EXPECT_EQ(f.traces, 4);
    f(1), f(3), f(4);
    EXPECT_EQ(f.traces, 4);
    EXPECT_EQ(f(2), 3);
    EXPECT_EQ(f.traces, 5);
}

TEST(Allowance, is_of_all_functions_that_share_it) {
    auto allowance = std::make_shared<Allowance>(2);
    Counted f(allowance), g(allowance);
    f(1), g(1), f(1);
    EXPECT_EQ(f.traces + g.traces, 2);
    f(2);  // goes: g's
    f(1), f(2);
    EXPECT_EQ(f.traces, 2);
    EXPECT_EQ(g(1), 3);
    EXPECT_EQ(g.traces, 2);
    {
        Counted gone(allowance);
        gone(1);
    }
    EXPECT_EQ(g(1), 3);
}

TEST(Allowance, of_bytes_leaves_at_least_the_program_that_was_just_made) {
    Counted f(std::make_shared<Allowance>(100, 1));
    EXPECT_EQ(f(1), 3);
    EXPECT_EQ(f(1), 3);
    EXPECT_EQ(f.traces, 1);
    f(2), f(1);
    EXPECT_EQ(f.traces, 3);
}

TEST(Allowance, holds_however_many_threads_run_its_functions) {
    auto allowance = std::make_shared<Allowance>(2);
    Counted f(allowance), g(allowance);
    auto run = [](Counted& own, Counted& other) {
        for (int i = 0; i < 60; ++i) EXPECT_EQ(own(1 + i % 3) + other(1 + i % 2), 6);
    };
    std::thread one(run, std::ref(f), std::ref(g)), two(run, std::ref(g), std::ref(f));
    one.join(), two.join();
    EXPECT_GT(f.traces + g.traces, 6) << "programs of six kinds, and two are kept";
}

TEST(Allowance, counts_programs_that_keep_copies_of_weights_until_they_go) {
    auto allowance = std::make_shared<Allowance>(6);
    Tensor w = Tensor::of(std::vector<float>(64 * 64, 1), {64, 64});
    {
        auto product = [&](std::span<const Tensor> x) { return std::vector<Tensor>{matmul(x[0], w)}; };
        CompiledFunction f(product, {}, allowance);
        std::vector<int> keeping;
        for (std::int64_t rows = 20; rows < 30; ++rows) {
            Tensor x = Tensor::of(std::vector<float>(static_cast<std::size_t>(rows * 64), 1), {rows, 64});
            EXPECT_EQ(f(std::span<const Tensor>(&x, 1))[0].to_vector<float>()[0], 64);
            keeping.push_back(allowance->keeping);
        }
        // From the seventh on each is made before the oldest, which keeps copies, has gone.
        EXPECT_EQ(keeping, (std::vector<int>{1, 2, 3, 4, 4, 4, 3, 3, 3, 3}));
    }
    EXPECT_EQ(allowance->keeping, 0);
}

}  // namespace
}  // namespace weft
