// Products of float32 rounded to bfloat16 on the way: with the processor's instruction for pairs, by AMX and without, whole and packed before.
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/rounded_sample.h"
#include "weft/base/error.h"

namespace weft::cpu {
namespace {

const ProductType rounded{DType::float32, 1};

TEST(RoundedGemm, is_the_product_of_rounded_numbers_summed_in_float32) {
    for (const RoundedSizes& s : rounded_sizes)
        for (MatrixLayout of_a : rounded_layouts)
            for (MatrixLayout of_b : rounded_layouts) {
                RoundedSample a(s.m, s.k, of_a, 1), b(s.k, s.n, of_b, 2);
                std::vector<float> c = product(s, a, b);
                for (std::int64_t i = 0; i < s.m; ++i)
                    for (std::int64_t j = 0; j < s.n; ++j) {
                        double sum = 0, magnitude = 0;
                        for (std::int64_t k = 0; k < s.k; ++k) {
                            sum += a.at(i, k) * b.at(k, j);
                            magnitude += std::abs(a.at(i, k) * b.at(k, j));
                        }
                        ASSERT_NEAR(c[static_cast<std::size_t>(i * s.n + j)], sum,
                                    1.2e-7 * (static_cast<double>(s.k) + 3) * magnitude)
                            << s.m << "x" << s.n << "x" << s.k << " at " << i << "," << j;
                    }
            }
}

TEST(RoundedGemm, has_the_same_bits_on_every_processor_without_AMX_and_with_any_number_of_threads) {
    RoundedSettings before;
    use_tiles(false);
    for (const RoundedSizes& s : rounded_sizes) {
        RoundedSample a(s.m, s.k, MatrixLayout::rows, 1), b(s.k, s.n, MatrixLayout::columns, 2);
        std::vector<float> reference = product(s, a, b);
        for (Isa isa : usable_isas())
            for (bool pairs : {false, true})
                for (int threads : {1, 3}) {
                    use_isa(isa), use_pairs(pairs);
                    ThreadPool::instance().set_threads(threads);
                    EXPECT_TRUE(are_same_bits(product(s, a, b), reference))
                        << name_of(isa) << ", pairs " << pairs << ", threads " << threads << ": " << s.m << "x" << s.n
                        << "x" << s.k;
                }
    }
}

// A sum for the even and one for the odd numbers of 32, both, then what came before: isa/gemm_amx.cpp.
float sum_by_tiles(const RoundedSample& a, const RoundedSample& b, std::int64_t i, std::int64_t j, std::int64_t k) {
    float all = 0;
    for (std::int64_t from = 0; from < k; from += 32) {
        float sums[2] = {};
        for (std::int64_t p = from; p < std::min(k, from + 32); ++p)
            sums[p % 2] = std::fma(static_cast<float>(a.at(i, p)), static_cast<float>(b.at(p, j)), sums[p % 2]);
        all += sums[0] + sums[1];
    }
    return all;
}

TEST(RoundedGemm, has_by_AMX_the_bits_of_its_order_with_any_number_of_threads) {
    if (!multiplies_tiles()) GTEST_SKIP() << "this processor has no AMX, or the system keeps it";
    expect_bits_of_order(1000, 1, sum_by_tiles);
}

TEST(RoundedGemm, by_AMX_has_tiles_of_any_height) {
    if (!multiplies_tiles()) GTEST_SKIP() << "this processor has no AMX, or the system keeps it";
    // Tiles of other heights, one after the other, on the threads of a pool: each sets the unit up for its own.
    for (std::int64_t m : {40, 7, 33, 16, 64, 17, 1}) {
        RoundedSizes s{m, 50, 70};
        RoundedSample a(s.m, s.k, MatrixLayout::rows, 1), b(s.k, s.n, MatrixLayout::rows, 2);
        std::vector<float> c = product(s, a, b);
        for (std::int64_t i = 0; i < m; ++i)
            ASSERT_EQ(c[static_cast<std::size_t>(i * s.n)], sum_by_tiles(a, b, i, 0, s.k)) << m << " rows, row " << i;
    }
}

TEST(RoundedGemm, reads_what_was_packed_before) {
    for (const RoundedSizes& s : rounded_sizes)
        for (MatrixLayout of_b : rounded_layouts) {
            RoundedSample a(s.m, s.k, MatrixLayout::rows, 1), b(s.k, s.n, of_b, 2);
            std::size_t bytes = gemm_packed_bytes(rounded, s.m, s.n, s.k, a.matrix, b.matrix, true);
            if (bytes == 0) continue;
            std::vector<float> packed(bytes / sizeof(float)), c(static_cast<std::size_t>(s.m * s.n));
            gemm_pack(rounded, s.n, s.k, b.matrix, packed.data());
            gemm(rounded, s.m, s.n, s.k, a.matrix,
                 {nullptr, b.matrix.row_stride, b.matrix.column_stride, packed.data()}, c.data(), s.n);
            EXPECT_TRUE(are_same_bits(c, product(s, a, b))) << s.m << "x" << s.n << "x" << s.k;
        }
}

TEST(RoundedGemm, rounds_ties_to_even_and_keeps_nan_and_infinities) {
    // 1 + 2^-8 lies between 1 and 1 + 2^-7, 1 + 3 * 2^-8 between 1 + 2^-7 and 1 + 2^-6: to even, both times.
    float given[] = {1.00390625f, 1.01171875f, -1.00390625f, INFINITY, NAN, 3.4e38f},
          wanted[] = {1, 1.015625f, -1, INFINITY, NAN, INFINITY};
    // Each place of a pair in either operand, lying in rows and in columns: by vectors, and what is left over.
    for (std::int64_t n = 0; n < 6; ++n)
        for (std::int64_t k : {2, 40, 47})
            for (bool in_a : {true, false})
                for (bool rows : {true, false})
                    for (std::int64_t at = 0; at < k; at += 3) {
                        std::vector<float> numbers(static_cast<std::size_t>(32 * k), 0),
                            ones(static_cast<std::size_t>(32 * k), 0), c(32 * 32);
                        for (std::int64_t i = 0; i < 32; ++i) {
                            numbers[static_cast<std::size_t>(rows == in_a ? i * k + at : at * 32 + i)] = given[n];
                            ones[static_cast<std::size_t>(at * 32 + i)] = 1;
                        }
                        Matrix of_a{numbers.data(), rows ? k : 1, rows ? 1 : 32},
                            of_b{numbers.data(), rows ? 32 : 1, rows ? 1 : k};
                        Matrix one_a{ones.data(), 1, 32}, one_b{ones.data(), 32, 1};
                        gemm(rounded, 32, 32, k, in_a ? of_a : one_a, in_a ? one_b : of_b, c.data(), 32);
                        for (float got : c) {
                            if (std::isnan(wanted[n]))
                                ASSERT_TRUE(std::isnan(got));
                            else
                                ASSERT_EQ(got, wanted[n])
                                    << given[n] << " at " << at << " of " << k << (in_a ? " in A" : " in B") << rows;
                        }
                    }
}

TEST(RoundedGemm, a_batch_is_its_items) {
    RoundedSizes s{20, 33, 41};
    RoundedSample a(3 * s.m, s.k, MatrixLayout::rows, 1), b(3 * s.k, s.n, MatrixLayout::rows, 2);
    std::vector<float> together(static_cast<std::size_t>(3 * s.m * s.n)), alone;
    Batch batch{3, s.m * s.k, s.k * s.n, s.m * s.n};
    batched_gemm(rounded, batch, s.m, s.n, s.k, a.matrix, b.matrix, together.data(), s.n);
    for (std::int64_t i = 0; i < 3; ++i) {
        std::vector<float> c(static_cast<std::size_t>(s.m * s.n));
        gemm(rounded, s.m, s.n, s.k, {a.memory.data() + i * batch.a_stride, s.k, 1},
             {b.memory.data() + i * batch.b_stride, s.n, 1}, c.data(), s.n);
        alone.insert(alone.end(), c.begin(), c.end());
    }
    EXPECT_TRUE(are_same_bits(together, alone));
}

TEST(RoundedGemm, is_for_float32) {
    double number = 1;
    EXPECT_THROW(gemm({DType::float64, 1}, 1, 1, 1, {&number, 1, 1}, {&number, 1, 1}, &number, 1), DTypeError);
}

}  // namespace
}  // namespace weft::cpu
