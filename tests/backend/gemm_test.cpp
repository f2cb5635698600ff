// Products of matrices against sums in double, on every instruction set and number of threads; what types other than floats do.
#include <complex>

#include "backend/gemm_cases.h"

namespace weft::cpu {
namespace {

template <class T>
void check_all_sizes() {
    for (const Sizes& s : all_sizes)
        for (OperandLayout of_a : all_layouts)
            for (OperandLayout of_b : all_layouts)
                for (bool accumulate : {false, true}) {
                    Sample<T> a(s.m, s.k, of_a, 1), b(s.k, s.n, of_b, 2);
                    std::int64_t c_row = s.n + 3;
                    std::vector<T> c(static_cast<std::size_t>(s.m * c_row), T(0.5)),
                        bias(static_cast<std::size_t>(s.n), T(0.25));
                    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), c_row, accumulate,
                         {bias.data(), true});
                    for (std::int64_t i = 0; i < s.m; ++i)
                        for (std::int64_t j = 0; j < c_row; ++j) {
                            double got = static_cast<double>(c[static_cast<std::size_t>(i * c_row + j)]);
                            if (j >= s.n) {
                                ASSERT_EQ(got, 0.5) << "written outside";
                                continue;
                            }
                            Expected expected = inner_product(a.values, b.values, s, i, j);
                            double value = std::max(0.0, expected.value + (accumulate ? 0.5 : 0) + 0.25);
                            double unit = std::numeric_limits<T>::epsilon();
                            double bound = unit * (static_cast<double>(s.k) + 3) * (expected.magnitude + 0.75);
                            ASSERT_NEAR(got, value, bound)
                                << s.m << "x" << s.n << "x" << s.k << " at " << i << "," << j;
                        }
                }
}

TEST(Gemm, float32_agrees_with_sums_in_double_for_every_instruction_set) {
    for (Isa isa : usable_isas()) {
        InstructionSet guard(isa);
        check_all_sizes<float>();
    }
}

TEST(Gemm, float64_agrees_with_sums_in_double_for_every_instruction_set) {
    for (Isa isa : usable_isas()) {
        InstructionSet guard(isa);
        check_all_sizes<double>();
    }
}

TEST(Gemm, results_are_the_same_bits_for_any_number_of_threads) {
    for (const Sizes& s : larger_sizes)
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns})
            for (OperandLayout of_b : {OperandLayout::rows, OperandLayout::columns}) {
                std::vector<float> reference;
                for (int threads : {1, 2, 5}) {
                    Threads guard(threads);
                    std::vector<float> c = product<float>(s, of_a, of_b);
                    if (threads == 1) reference = c;
                    EXPECT_TRUE(same_bits(c, reference))
                        << s.m << "x" << s.n << "x" << s.k << ", " << threads << " threads";
                }
            }
}

TEST(Gemm, own_kernel_gives_the_same_bits_for_every_instruction_set) {
    for (const Sizes& s : larger_sizes) {
        if (s.m * s.n * s.k > 10'000'000) continue;  // without vectors that takes long
        std::vector<float> reference;
        std::vector<double> reference_64;
        for (Isa isa : usable_isas()) {
            InstructionSet guard(isa);
            std::vector<float> c = own_product<float>(s, OperandLayout::rows, OperandLayout::columns);
            std::vector<double> c_64 = own_product<double>(s, OperandLayout::columns, OperandLayout::rows);
            if (reference.empty()) reference = c, reference_64 = c_64;
            EXPECT_TRUE(same_bits(c, reference)) << name_of(isa) << " " << s.m << "x" << s.n << "x" << s.k;
            EXPECT_TRUE(same_bits(c_64, reference_64)) << name_of(isa) << " " << s.m << "x" << s.n << "x" << s.k;
        }
    }
}

template <class T>
void check_prepared(const Sizes& s, OperandLayout of_a, OperandLayout of_b, int& prepared) {
    Sample<T> a(s.m, s.k, of_a, 1), b(s.k, s.n, of_b, 2);
    std::int64_t c_row = s.n + 3;
    std::vector<T> expected(static_cast<std::size_t>(s.m * c_row), T(0.5)), found = expected;
    auto small = small_gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, c_row);
    if (!small) return;
    ++prepared;
    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, expected.data(), c_row);
    small->run(a.matrix.data, b.matrix.data, found.data(), {});
    EXPECT_TRUE(same_bits(found, expected)) << s.m << "x" << s.n << "x" << s.k;
}

TEST(Gemm, prepared_products_are_those_of_calls_and_of_rows_by_themselves) {
    std::vector<Sizes> sizes(std::begin(all_sizes), std::end(all_sizes));
    for (std::int64_t n : {1, 5, 16, 33, 63, 64, 65, 96, 131, 200})
        for (std::int64_t k : {1, 3, 16, 70}) sizes.push_back({1, n, k}), sizes.push_back({n, 1, k});
    for (Isa isa : usable_isas()) {
        InstructionSet guard(isa);
        int prepared = 0;
        for (const Sizes& s : sizes)
            for (OperandLayout of_a : all_layouts)
                for (OperandLayout of_b : all_layouts) {
                    check_prepared<float>(s, of_a, of_b, prepared);
                    check_prepared<double>(s, of_a, of_b, prepared);
                }
        EXPECT_GT(prepared, 500);
    }
    // One row is a row of many: each element is one chain in the order of k.
    for (std::int64_t n : {40, 64, 70, 130}) {
        Sample<float> a(3, 50, OperandLayout::rows, 1), b(50, n, OperandLayout::rows, 2);
        std::vector<float> rows(static_cast<std::size_t>(3 * n)), one(static_cast<std::size_t>(n));
        gemm(DType::float32, 3, n, 50, a.matrix, b.matrix, rows.data(), n);
        gemm(DType::float32, 1, n, 50, a.matrix, b.matrix, one.data(), n);
        rows.resize(static_cast<std::size_t>(n));
        EXPECT_TRUE(same_bits(one, rows)) << n;
    }
}

template <class T>
class GenericGemm : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(GenericGemm, Integers);

TYPED_TEST(GenericGemm, integers_wrap) {
    using T = TypeParam;
    std::vector<T> a(3 * 5), b(5 * 70), c(3 * 70);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(7 * i));
    for (std::size_t i = 0; i < b.size(); ++i)
        b[i] = static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(3 * i));
    gemm(dtype_of<T>, 3, 70, 5, {a.data(), 5, 1}, {b.data(), 70, 1}, c.data(), 70);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 70; ++j) {
            std::uint64_t sum = 0;
            for (std::size_t k = 0; k < 5; ++k)
                sum += static_cast<std::uint64_t>(a[i * 5 + k]) * static_cast<std::uint64_t>(b[k * 70 + j]);
            ASSERT_EQ(c[i * 70 + j], static_cast<T>(sum));
        }
}

TEST(Gemm, bool_is_or_of_and) {
    bool a[] = {true, false, false, false}, b[] = {true, false, true, true}, c[4];
    gemm(bool_, 2, 2, 2, {a, 2, 1}, {b, 2, 1}, c, 2);
    EXPECT_TRUE(c[0]);
    EXPECT_FALSE(c[1]);
    EXPECT_FALSE(c[2]);
    EXPECT_FALSE(c[3]);
}

TEST(Gemm, halves_are_summed_in_float32_and_rounded_once) {
    std::vector<Float16> a(4097, Float16(1.0f)), b(4097, Float16(1.0f));
    Float16 c;
    gemm(float16, 1, 1, 4097, {a.data(), 4097, 1}, {b.data(), 1, 1}, &c, 1);
    EXPECT_EQ(static_cast<float>(c), 4096.0f);  // 4097 rounds to it; summed in halves it would stop at 2048
    std::vector<BFloat16> d(1000, BFloat16(1.0f));
    BFloat16 e, bias(8.0f);
    gemm(bfloat16, 1, 1, 1000, {d.data(), 1000, 1}, {d.data(), 1, 1}, &e, 1, false, {&bias, true});
    EXPECT_EQ(static_cast<float>(e), 1008.0f);
}

TEST(Gemm, complex_products_are_complex) {
    using C = std::complex<double>;
    C a[] = {{1, 2}, {3, -1}}, b[] = {{0, 1}, {2, 2}}, c;
    gemm(complex128, 1, 1, 2, {a, 2, 1}, {b, 1, 1}, &c, 1);
    EXPECT_EQ(c, (C{1, 2} * C{0, 1} + C{3, -1} * C{2, 2}));
    std::complex<float> d(1, 1), e(5, 0);
    gemm(complex64, 1, 1, 1, {&d, 1, 1}, {&d, 1, 1}, &e, 1, true);
    EXPECT_EQ(e, std::complex<float>(5, 2));
}

TEST(Gemm, rows_and_columns_that_are_one_number_are_read_as_such) {
    for (Isa isa : usable_isas()) {
        InstructionSet guard(isa);
        for (Sizes s : {Sizes{5, 70, 9}, Sizes{3, 200, 300}, Sizes{40, 300, 300}, Sizes{100, 130, 64}}) {
            std::vector<float> a(static_cast<std::size_t>(s.m)), b(static_cast<std::size_t>(s.n)),
                c(static_cast<std::size_t>(s.m * s.n));
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
            for (std::size_t j = 0; j < b.size(); ++j) b[j] = static_cast<float>(j % 5);
            gemm(float32, s.m, s.n, s.k, {a.data(), 1, 0}, {b.data(), 0, 1}, c.data(), s.n);
            for (std::int64_t i = 0; i < s.m; ++i)
                for (std::int64_t j = 0; j < s.n; ++j)
                    ASSERT_EQ(c[static_cast<std::size_t>(i * s.n + j)], static_cast<float>(i % 7 * (j % 5) * s.k));
        }
    }
}

TEST(Gemm, relu_keeps_nan) {
    float a = NAN, b = 1, c = 0;
    for (Isa isa : usable_isas()) {
        InstructionSet guard(isa);
        gemm(float32, 1, 1, 1, {&a, 0, 0}, {&b, 0, 0}, &c, 1, false, {nullptr, true});
        EXPECT_TRUE(std::isnan(c));
    }
}

TEST(Gemm, epilogue_is_for_floating_types) {
    std::int32_t a = 1, c;
    try {
        gemm(int32, 1, 1, 1, {&a, 1, 1}, {&a, 1, 1}, &c, 1, false, {nullptr, true});
        FAIL();
    } catch (const DTypeError& error) {
        EXPECT_STREQ(error.what(), "gemm: bias and relu are for floating types, not for int32");
    }
}

}  // namespace
}  // namespace weft::cpu
