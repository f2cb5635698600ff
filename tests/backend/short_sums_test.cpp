// Products whose sums are short: each element is the chain of fused multiply-adds that the definition says, on every instruction set, wherever
// columns end, and nothing beside the result is touched.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "backend/tile_kernels.h"
#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T>
std::vector<T> numbers(std::int64_t count, double seed) {
    std::vector<T> made(at(count));
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<T>(std::sin(seed + 0.7 * static_cast<double>(i)));
    return made;
}

/// `how`: bits for accumulate, bias, relu, a turned.
template <class T>
void check(Isa isa, int m, std::int64_t k, int n, unsigned how) {
    const std::int64_t gap = 3, b_row = n + gap, c_row = n + gap;
    std::vector<T> a = numbers<T>(m * k, 1), b = numbers<T>(k * b_row, 2), c = numbers<T>(m * c_row, 3),
                   bias = numbers<T>(n, 4), expected = c;
    GemmTile<T> tile{.a = a.data(),
                     .a_row = how & 8 ? 1 : k,
                     .a_column = how & 8 ? m : 1,
                     .b = b.data(),
                     .b_row = b_row,
                     .c = c.data(),
                     .c_row = c_row,
                     .k = k,
                     .rows = m,
                     .columns = n,
                     .accumulate = (how & 1) != 0,
                     .bias = how & 2 ? bias.data() : nullptr,
                     .relu = (how & 4) != 0,
                     .fetch = nullptr,
                     .fetch_step = 0};
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            T& element = expected[at(i * c_row + j)];
            T sum = tile.accumulate ? element : T(0);
            for (std::int64_t p = 0; p < k; ++p)
                sum = std::fma(a[at(i * tile.a_row + p * tile.a_column)], b[at(p * b_row + j)], sum);
            if (tile.bias) sum += bias[at(j)];
            element = tile.relu && sum < 0 ? T(0) : sum;
        }
    tile_kernels<T>(isa).short_sums(tile);
    ASSERT_EQ(c, expected) << name_of(isa) << ' ' << m << " x " << k << " by " << n << ", how " << how;
}

TEST(ShortSums, are_chains_of_fused_multiply_adds_wherever_columns_end) {
    for (Isa isa : usable_isas())
        for (std::int64_t k = 1; k <= most_short; ++k)
            for (int n : {1, 3, 8, 16, 17, 40, 64, 131, 300})
                for (unsigned how = 0; how < 16; ++how) {
                    check<float>(isa, 5, k, n, how);
                    check<double>(isa, 5, k, n, how);
                    if (HasFatalFailure()) return;
                }
}

TEST(ShortSums, are_the_same_on_two_threads) {
    std::int64_t m = 3001, k = 4, n = 130;
    std::vector<float> a = numbers<float>(m * k, 1), b = numbers<float>(k * n, 2), one(at(m * n)), two(at(m * n));
    for (int threads : {1, 2}) {
        ThreadPool::instance().set_threads(threads);
        std::vector<float> scratch(at(own_gemm_scratch<float>(m, n, k, threads)));
        own_gemm<float>({m, n, k, a.data(), k, 1, b.data(), n, 1, (threads == 1 ? one : two).data(), n}, scratch.data(),
                        threads);
    }
    ThreadPool::instance().set_threads(1);
    EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace weft::cpu
