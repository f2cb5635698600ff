// Few rows times a matrix beyond the caches, which is asked for ahead and read in longer parts: the bits of the same by parts that are near.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

template <class T>
void check(std::int64_t m, std::int64_t k, std::int64_t n) {
    std::vector<T> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(std::sin(0.7 * static_cast<double>(i)));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(static_cast<double>(i * 7919 % 1009) - 500);
    auto multiply = [&](std::vector<T>& c, std::int64_t first, std::int64_t columns) {
        std::vector<T> scratch(static_cast<std::size_t>(own_gemm_scratch<T>(m, columns, k)));
        own_gemm<T>({m, columns, k, a.data(), k, 1, b.data() + first, n, 1, c.data() + first, n}, scratch.data());
    };
    std::vector<T> near(static_cast<std::size_t>(m * n)), far = near;
    std::int64_t part = n / 3 + 1;  // near, and long enough for the same way
    for (std::int64_t first = 0; first < n; first += part) multiply(near, first, std::min(part, n - first));
    for (int threads : {1, 2}) {
        ThreadPool::instance().set_threads(threads);
        std::fill(far.begin(), far.end(), T(NAN));
        multiply(far, 0, n);
        EXPECT_EQ(std::memcmp(near.data(), far.data(), near.size() * sizeof(T)), 0)
            << m << "x" << k << "x" << n << ", " << threads << " threads";
    }
    ThreadPool::instance().set_threads(1);
}

TEST(FewRows, a_matrix_beyond_the_caches_gives_the_bits_of_its_parts) {
    check<float>(1, 1537, 5000);
    check<float>(3, 6401, 1100);
    check<double>(1, 800, 4500);
    check<double>(4, 1501, 2107);
}

}  // namespace
}  // namespace weft::cpu
