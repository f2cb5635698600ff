// Products of float32 as sums of two or three bfloat16, by AMX: what they come to, and what is not finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "backend/rounded_sample.h"

namespace weft::cpu {
namespace {

// Part by part: a number's first, what is left of it rounded, what is left then.
float part_of(float number, int part) {
    for (int i = 0; i < part; ++i) {
        std::uint32_t bits = std::bit_cast<std::uint32_t>(number);
        number -= std::bit_cast<float>((bits + 0x8000u) & 0xffff0000u);
    }
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(number) + 0x8000u) & 0xffff0000u);
}

// Of each 32 of k the products of b's first part with a's parts, then of its second: isa/gemm_amx.cpp.
float sum_of_parts(const RoundedSample& a, const RoundedSample& b, std::int64_t i, std::int64_t j, std::int64_t k,
                   int parts) {
    float all = 0;
    for (std::int64_t from = 0; from < k; from += 32)
        for (int of_b = 0; of_b < parts; ++of_b)
            for (int of_a = 0; of_a < parts - of_b; ++of_a) {
                float sums[2] = {};
                for (std::int64_t p = from; p < std::min(k, from + 32); ++p)
                    sums[p % 2] = std::fma(part_of(a.whole(i, p), of_a), part_of(b.whole(p, j), of_b), sums[p % 2]);
                all += sums[0] + sums[1];
            }
    return all;
}

TEST(GemmOfParts, has_the_bits_of_its_order_with_any_number_of_threads) {
    if (!multiplies_tiles()) GTEST_SKIP() << "this processor has no AMX, or the system keeps it";
    for (int parts : {2, 3})
        expect_bits_of_order(300, parts, [parts](auto& a, auto& b, std::int64_t i, std::int64_t j, std::int64_t k) {
            return sum_of_parts(a, b, i, j, k, parts);
        });
}

TEST(GemmOfParts, is_off_by_what_is_left_out_and_summing_rounds) {
    // Left out are 2^-17 of each operand, or 2^-25 of each product; a sum of k numbers in pieces of 32 rounds some 6 times each.
    const double left_out[] = {0, 0, 1.6e-5, 6e-8};
    for (int parts : {2, 3})
        for (const RoundedSizes& s :
             {RoundedSizes{70, 50, 700}, {33, 65, 2101}, {300, 96, 1400}, {5, 4, 9000}, {520, 70, 4200}}) {
            RoundedSample a(s.m, s.k, MatrixLayout::rows, 1), b(s.k, s.n, MatrixLayout::columns, 2);
            std::vector<float> c = product(s, a, b, parts), plain = product(s, a, b, 0);
            double squares = 0, squares_plain = 0;
            for (std::int64_t i = 0; i < s.m; ++i)
                for (std::int64_t j = 0; j < s.n; ++j) {
                    double sum = 0, magnitude = 0;
                    for (std::int64_t k = 0; k < s.k; ++k) {
                        double one = static_cast<double>(a.whole(i, k)) * b.whole(k, j);
                        sum += one, magnitude += std::abs(one);
                    }
                    auto at = static_cast<std::size_t>(i * s.n + j);
                    ASSERT_NEAR(c[at], sum, (left_out[parts] + 1.2e-7 * static_cast<double>(s.k)) * magnitude)
                        << parts << " parts";
                    squares += std::pow(c[at] - sum, 2), squares_plain += std::pow(plain[at] - sum, 2);
                }
            double most = parts == 3 ? 1.1 * squares_plain : INFINITY;
            EXPECT_LE(squares, most) << s.m << "x" << s.n << "x" << s.k;
        }
}

TEST(GemmOfParts, is_the_product_of_float32_without_AMX) {
    RoundedSettings before;
    use_tiles(false);
    for (int parts : {2, 3}) {
        EXPECT_EQ(ProductType(DType::float32, parts).parts, 0);
        RoundedSizes s{65, 33, 70};
        RoundedSample a(s.m, s.k, MatrixLayout::rows, 1), b(s.k, s.n, MatrixLayout::rows, 2);
        EXPECT_TRUE(are_same_bits(product(s, a, b, parts), product(s, a, b, 0)));
    }
}

// What parts alone would make NaN of: an infinity times a part that is 0, and large numbers that round to infinity.
TEST(GemmOfParts, keeps_infinities_nan_and_the_largest_numbers) {
    float largest = std::numeric_limits<float>::max();
    struct Case {
        float a, b, wanted;
    };
    for (int parts : {2, 3})
        for (Case one : {Case{INFINITY, 1, INFINITY},
                         {INFINITY, 1.5f, INFINITY},
                         {INFINITY, -0.1f, -INFINITY},
                         {INFINITY, 0, NAN},
                         {NAN, 1, NAN},
                         {1, -INFINITY, -INFINITY},
                         {largest, 1, largest},
                         {-largest, 1, -largest},
                         {1, largest, largest},
                         {largest, 0.5f, largest / 2},
                         {largest, 2, INFINITY},
                         {3.3961776e38f, 1, 3.3961776e38f}})
            for (std::int64_t at : {0, 1, 16, 33, 39})
                for (bool rows : {true, false}) {
                    constexpr std::int64_t m = 40, n = 35, k = 40;
                    std::vector<float> a(m * k, 0.25f), b(k * n, 0), c(m * n);
                    a[static_cast<std::size_t>(rows ? 7 * k + at : at * m + 7)] = one.a;
                    for (std::int64_t j = 0; j < n; ++j)
                        b[static_cast<std::size_t>(rows ? at * n + j : j * k + at)] = one.b;
                    gemm({DType::float32, parts}, m, n, k, {a.data(), rows ? k : 1, rows ? 1 : m},
                         {b.data(), rows ? n : 1, rows ? 1 : k}, c.data(), n);
                    for (std::int64_t j = 0; j < n; ++j) {
                        float got = c[7 * n + static_cast<std::size_t>(j)];
                        if (std::isnan(one.wanted))
                            ASSERT_TRUE(std::isnan(got)) << one.a << " * " << one.b << " gave " << got;
                        else if (parts == 2 && std::isfinite(one.wanted))
                            ASSERT_NEAR(got, one.wanted, std::abs(one.wanted) * 3e-5) << one.a << " * " << one.b;
                        else
                            ASSERT_EQ(got, one.wanted)
                                << one.a << " * " << one.b << " at " << at << ", " << parts << " parts";
                        float other = c[8 * n + static_cast<std::size_t>(j)];
                        if (std::isfinite(one.b)) {
                            ASSERT_NEAR(other, 0.25f * one.b, std::abs(one.b) * 1e-5) << "the row below";
                        }
                    }
                }
}

TEST(GemmOfParts, reads_what_was_packed_before_and_adds_to_what_is_there) {
    for (int parts : {2, 3}) {
        ProductType type{DType::float32, parts};
        for (const RoundedSizes& s : rounded_sizes) {
            RoundedSample a(s.m, s.k, MatrixLayout::rows, 1), b(s.k, s.n, MatrixLayout::columns, 2);
            std::size_t bytes = gemm_packed_bytes(type, s.m, s.n, s.k, a.matrix, b.matrix, true);
            if (bytes == 0) continue;
            std::vector<float> packed(bytes / sizeof(float)), c(static_cast<std::size_t>(s.m * s.n), 1),
                bias(static_cast<std::size_t>(s.n), 2);
            gemm_pack(type, s.n, s.k, b.matrix, packed.data());
            gemm(type, s.m, s.n, s.k, a.matrix, {nullptr, b.matrix.row_stride, b.matrix.column_stride, packed.data()},
                 c.data(), s.n, true, {.bias = bias.data(), .relu = true});
            std::vector<float> wanted = product(s, a, b, parts);
            for (std::size_t i = 0; i < c.size(); ++i)
                ASSERT_NEAR(c[i], std::max(0.0f, wanted[i] + 3), 1e-5 * (1 + std::abs(wanted[i])))
                    << s.m << "x" << s.n << "x" << s.k;
        }
    }
}

}  // namespace
}  // namespace weft::cpu
