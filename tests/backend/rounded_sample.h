// Matrices for products of float32 as bfloat16, and the products. Callers: rounded_gemm_test.cpp, gemm_of_parts_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "weft/backend/cpu/gemm.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/thread_pool.h"
#include "weft/core/half.h"

namespace weft::cpu {

/// Puts instruction set, pairs, tiles and threads back.
struct RoundedSettings {
    ~RoundedSettings() {
        use_isa(isa), use_pairs(pairs), use_tiles(tiles);
        ThreadPool::instance().set_threads(threads);
    }
    Isa isa = best_isa();
    bool pairs = multiplies_pairs(), tiles = multiplies_tiles();
    int threads = ThreadPool::instance().threads();
};

struct RoundedSizes {
    std::int64_t m, n, k;
};
inline const RoundedSizes rounded_sizes[] = {
    {1, 1, 1},     {1, 40, 7},     {14, 32, 2},  {15, 33, 65},   {13, 31, 257}, {64, 64, 64},  {65, 10, 131},
    {100, 90, 80}, {128, 10, 513}, {3, 5, 5001}, {40, 33, 2101}, {7, 4200, 5},  {600, 40, 90}, {3, 4, 0}};

enum class MatrixLayout { rows, columns, apart };
inline const MatrixLayout rounded_layouts[] = {MatrixLayout::rows, MatrixLayout::columns, MatrixLayout::apart};

/// Rows lie an odd distance apart where they are apart; around the numbers there is NaN.
struct RoundedSample {
    RoundedSample(std::int64_t rows, std::int64_t columns, MatrixLayout layout, unsigned seed) : columns(columns) {
        std::int64_t row = layout == MatrixLayout::columns ? 1
                           : layout == MatrixLayout::rows  ? columns
                                                           : 2 * columns + 3;
        std::int64_t column = layout == MatrixLayout::columns ? rows : layout == MatrixLayout::rows ? 1 : 2;
        memory.assign(static_cast<std::size_t>((rows + 1) * (2 * columns + 5) + 8), NAN);
        std::mt19937 generator(seed);
        std::normal_distribution<float> normal;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                memory[static_cast<std::size_t>(i * row + j * column)] = normal(generator);
        matrix = {memory.data(), row, column};
    }
    float whole(std::int64_t i, std::int64_t j) const {
        return static_cast<const float*>(matrix.data)[i * matrix.row_stride + j * matrix.column_stride];
    }
    double at(std::int64_t i, std::int64_t j) const { return static_cast<float>(BFloat16(whole(i, j))); }
    std::int64_t columns;
    std::vector<float> memory;
    Matrix matrix;
};

inline std::vector<float> product(const RoundedSizes& s, const RoundedSample& a, const RoundedSample& b,
                                  int parts = 1) {
    std::vector<float> c(static_cast<std::size_t>(s.m * s.n), NAN);
    gemm({DType::float32, parts}, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), s.n);
    return c;
}

inline bool are_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// f of all sizes with k up to `most_k` (beyond, products are sums of sums), in all layouts.
template <class F>
void for_rounded_samples(std::int64_t most_k, F f) {
    for (const RoundedSizes& s : rounded_sizes)
        for (MatrixLayout of_a : rounded_layouts)
            for (MatrixLayout of_b : rounded_layouts)
                if (s.k <= most_k) f(s, RoundedSample(s.m, s.k, of_a, 1), RoundedSample(s.k, s.n, of_b, 2));
}

/// Whether on one thread and on three a product has these bits, element by element of i, j.
template <class F>
void expect_bits_of_order(std::int64_t most_k, int parts, F element) {
    RoundedSettings before;
    for_rounded_samples(most_k, [&](const RoundedSizes& s, const RoundedSample& a, const RoundedSample& b) {
        std::vector<float> wanted;
        for (std::int64_t i = 0; i < s.m; ++i)
            for (std::int64_t j = 0; j < s.n; ++j) wanted.push_back(element(a, b, i, j, s.k));
        for (int threads : {1, 3}) {
            ThreadPool::instance().set_threads(threads);
            EXPECT_TRUE(are_same_bits(product(s, a, b, parts), wanted))
                << parts << " parts, threads " << threads << ": " << s.m << "x" << s.n << "x" << s.k;
        }
    });
}

}  // namespace weft::cpu
