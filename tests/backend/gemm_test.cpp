#include "weft/backend/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "threads.h"
#include "weft/backend/cpu/arithmetic.h"
#include "weft/backend/cpu/isa.h"
#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

struct InstructionSet {
    explicit InstructionSet(Isa isa) : before(best_isa()) { use_isa(isa); }
    ~InstructionSet() { use_isa(before); }
    Isa before;
};

struct Sizes {
    std::int64_t m, n, k;
};

const Sizes all_sizes[] = {{0, 3, 4},    {3, 0, 4},      {3, 4, 0},     {1, 1, 1},    {1, 1, 100},   {1, 17, 33},
                           {29, 1, 40},  {8, 4, 8},      {7, 9, 300},   {14, 32, 64}, {15, 33, 65},  {13, 31, 257},
                           {64, 64, 64}, {65, 10, 130},  {10, 130, 65}, {33, 70, 9},  {100, 90, 80}, {128, 10, 512},
                           {3, 5, 5000}, {40, 33, 2100}, {2, 4200, 5},  {1, 300, 91}, {3, 1030, 20}, {4, 257, 70}};

enum class Layout { rows, columns, strided, reversed };
const Layout all_layouts[] = {Layout::rows, Layout::columns, Layout::strided, Layout::reversed};

/// A matrix of small random numbers in some layout, and the numbers.
template <class T>
struct Sample {
    Sample(std::int64_t rows, std::int64_t columns, Layout layout, unsigned seed) : values(rows * columns) {
        std::mt19937 generator(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (double& value : values) value = static_cast<double>(static_cast<T>(uniform(generator)));
        std::int64_t row = columns, column = 1, gap = 1;
        if (layout == Layout::columns) row = 1, column = rows;
        if (layout == Layout::strided) row = 2 * columns + 3, column = 2;
        if (layout == Layout::reversed) gap = -1;
        memory.assign(static_cast<std::size_t>((rows + 1) * (2 * columns + 5) + 8), static_cast<T>(NAN));
        T* origin = memory.data() + (layout == Layout::reversed ? std::max<std::int64_t>(0, rows - 1) * columns : 0);
        row *= gap;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                origin[i * row + j * column] = static_cast<T>(values[i * columns + j]);
        matrix = {origin, row, column};
    }
    std::vector<double> values;
    std::vector<T> memory;
    Matrix matrix;
};

/// The judge: sums in double, and the sum of magnitudes, which bounds the error.
struct Expected {
    double value, magnitude;
};
Expected inner_product(const std::vector<double>& a, const std::vector<double>& b, const Sizes& s, std::int64_t i,
                       std::int64_t j) {
    Expected sum{0, 0};
    for (std::int64_t k = 0; k < s.k; ++k) {
        double product = a[i * s.k + k] * b[k * s.n + j];
        sum.value += product;
        sum.magnitude += std::abs(product);
    }
    return sum;
}

template <class T>
void check_all_sizes() {
    for (const Sizes& s : all_sizes)
        for (Layout of_a : all_layouts)
            for (Layout of_b : all_layouts)
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

template <class T>
std::vector<T> product(const Sizes& s, Layout of_a, Layout of_b, Scratch scratch = {}) {
    Sample<T> a(s.m, s.k, of_a, 3), b(s.k, s.n, of_b, 4);
    std::vector<T> c(static_cast<std::size_t>(s.m * s.n));
    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), s.n, false, {}, scratch);
    return c;
}

template <class T>
std::vector<T> own_product(const Sizes& s, Layout of_a, Layout of_b) {
    Sample<T> a(s.m, s.k, of_a, 3), b(s.k, s.n, of_b, 4);
    std::vector<T> c(static_cast<std::size_t>(s.m * s.n)), scratch(own_gemm_scratch<T>(s.m, s.n, s.k));
    own_gemm<T>({s.m, s.n, s.k, static_cast<const T*>(a.matrix.data), a.matrix.row_stride, a.matrix.column_stride,
                 static_cast<const T*>(b.matrix.data), b.matrix.row_stride, b.matrix.column_stride, c.data(), s.n},
                scratch.data());
    return c;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

const Sizes larger_sizes[] = {{128, 784, 256}, {200, 300, 300}, {300, 40, 2500},  {20, 20, 9000},
                              {4100, 8, 70},   {5, 4100, 70},   {128, 128, 2100}, {1, 300, 3000},
                              {300, 1, 3000},  {1, 2050, 301},  {2, 300, 70},     {3, 4100, 9},
                              {4, 1000, 130},  {700, 140, 500}, {530, 130, 1024}, {4800, 100, 300}};

TEST(Gemm, results_are_the_same_bits_for_any_number_of_threads) {
    for (const Sizes& s : larger_sizes)
        for (Layout of_a : {Layout::rows, Layout::columns})
            for (Layout of_b : {Layout::rows, Layout::columns}) {
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
            std::vector<float> c = own_product<float>(s, Layout::rows, Layout::columns);
            std::vector<double> c_64 = own_product<double>(s, Layout::columns, Layout::rows);
            if (reference.empty()) reference = c, reference_64 = c_64;
            EXPECT_TRUE(same_bits(c, reference)) << name_of(isa) << " " << s.m << "x" << s.n << "x" << s.k;
            EXPECT_TRUE(same_bits(c_64, reference_64)) << name_of(isa) << " " << s.m << "x" << s.n << "x" << s.k;
        }
    }
}

template <class T>
std::vector<T> with_epilogue(const Sizes& s, Layout of_a, bool accumulate) {
    Sample<T> a(s.m, s.k, of_a, 3), b(s.k, s.n, Layout::rows, 4);
    std::vector<T> c(static_cast<std::size_t>(s.m * (s.n + 3)), T(0.5)), bias(static_cast<std::size_t>(s.n));
    for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<T>(0.01) * static_cast<T>(j);
    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), s.n + 3, accumulate, {bias.data(), true});
    return c;
}

template <class T>
void check_halves() {
    for (std::int64_t n = 2; n <= 42; ++n)
        for (Sizes s : {Sizes{17, n, 15}, Sizes{29, n, 16}, Sizes{45, n, 130}})
            for (Layout of_a : {Layout::rows, Layout::columns})
                for (bool accumulate : {false, true}) {
                    use_halves(false);
                    std::vector<T> whole = with_epilogue<T>(s, of_a, accumulate);
                    use_halves(true);
                    EXPECT_TRUE(same_bits(with_epilogue<T>(s, of_a, accumulate), whole))
                        << s.m << "x" << n << "x" << s.k;
                }
}

TEST(Gemm, half_a_vector_gives_the_same_bits_as_a_whole_one) {
    bool before = computes_in_halves();
    check_halves<float>();
    check_halves<double>();
    use_halves(before);
}

/// Where vectors are computed as halves tiles have fewer rows, and b is read as it lies more often.
template <class T>
void check_tiles_for_halves() {
    for (Sizes s : {Sizes{64, 64, 64}, Sizes{65, 100, 7}, Sizes{100, 80, 50}, Sizes{200, 300, 40}, Sizes{20, 130, 512},
                    Sizes{33, 4100, 3}, Sizes{130, 4100, 5}, Sizes{64, 32, 65}, Sizes{3, 200, 700}})
        for (Layout of_a : {Layout::rows, Layout::columns})
            for (bool accumulate : {false, true}) {
                use_halves(false);
                std::vector<T> whole = with_epilogue<T>(s, of_a, accumulate);
                use_halves(true);
                EXPECT_TRUE(same_bits(with_epilogue<T>(s, of_a, accumulate), whole)) << s.m << "x" << s.n << "x" << s.k;
            }
}

TEST(Gemm, tiles_for_halves_of_vectors_give_the_same_bits) {
    bool before = computes_in_halves();
    check_tiles_for_halves<float>();
    check_tiles_for_halves<double>();
    use_halves(before);
}

/// A batch beyond the caches asks for what comes next; each of its products is the one that stands alone.
template <class T>
void check_far_batch(std::int64_t m, std::int64_t n, std::int64_t k) {
    std::int64_t count = (1 << 21) / (m * k + k * n + m * n) / static_cast<std::int64_t>(sizeof(T)) + 2;
    Sample<T> a(count * m, k, Layout::rows, 5), b(count * k, n, Layout::rows, 6);
    std::vector<T> together(static_cast<std::size_t>(count * m * n)), alone = together;
    batched_gemm(dtype_of<T>, {count, m * k, k * n, m * n}, m, n, k, a.matrix, b.matrix, together.data(), n);
    for (std::int64_t i = 0; i < count; ++i) {
        Matrix of_a = a.matrix, of_b = b.matrix;
        of_a.data = static_cast<const T*>(of_a.data) + i * m * k,
        of_b.data = static_cast<const T*>(of_b.data) + i * k * n;
        gemm(dtype_of<T>, m, n, k, of_a, of_b, alone.data() + i * m * n, n);
    }
    EXPECT_TRUE(same_bits(together, alone)) << count << " of " << m << "x" << n << "x" << k;
}

TEST(Gemm, a_batch_beyond_the_caches_gives_the_bits_of_its_products) {
    for (Sizes s : {Sizes{64, 64, 32}, Sizes{5, 40, 17}, Sizes{30, 3, 9}, Sizes{70, 66, 64}}) {
        check_far_batch<float>(s.m, s.n, s.k);
        check_far_batch<double>(s.m, s.n, s.k);
    }
}

/// 64 lanes, number p in lane p % 64, by fused multiply-adds; then joined by halves.
template <class T>
T inner_product_in_lanes(const T* a, const T* b, std::int64_t k) {
    T lanes[64] = {};
    for (std::int64_t p = 0; p < k; ++p) lanes[p % 64] = std::fma(a[p], b[p], lanes[p % 64]);
    for (int half = 32; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

template <class T>
void check_inner_products() {
    for (std::int64_t m : {1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 64, 70, 130}) {
        for (std::int64_t k :
             {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 24, 25, 33, 48, 49, 57, 63, 64, 65, 100, 128, 131, 700}) {
            Sample<T> a(m, k, Layout::rows, 1), b(k, 1, Layout::rows, 2);
            std::vector<T> rows, vector, c(static_cast<std::size_t>(m)), turned = c;
            for (double value : a.values) rows.push_back(static_cast<T>(value));
            for (double value : b.values) vector.push_back(static_cast<T>(value));
            GemmProblem<T> column{.m = m, .n = 1, .k = k};
            column.a = rows.data(), column.a_row = k, column.a_column = 1;
            column.b = vector.data(), column.b_row = 1, column.b_column = 1;
            column.c = c.data(), column.c_row = 1;
            GemmProblem<T> row{.m = 1, .n = m, .k = k};
            row.a = vector.data(), row.a_row = k, row.a_column = 1;
            row.b = rows.data(), row.b_row = 1, row.b_column = k;
            row.c = turned.data(), row.c_row = m;
            for (Isa isa : usable_isas()) {
                InstructionSet guard(isa);
                std::vector<OperandOf<T>> scratch(static_cast<std::size_t>(own_gemm_scratch<T>(m, m, k)));
                own_gemm(column, scratch.data());
                own_gemm(row, scratch.data());
                for (std::int64_t i = 0; i < m; ++i) {
                    T expected = inner_product_in_lanes(rows.data() + i * k, vector.data(), k);
                    ASSERT_EQ(c[i], expected) << name_of(isa) << ", row " << i << " of " << m << " x " << k;
                    ASSERT_EQ(turned[i], expected) << name_of(isa) << ", column " << i << " of " << m << " x " << k;
                }
            }
        }
    }
}

TEST(Gemm, inner_products_are_joined_in_lanes_on_every_instruction_set) {
    check_inner_products<float>();
    check_inner_products<double>();
}

/// Few columns (and, turned, few rows) are such products too, where k is long enough.
template <class T>
void check_few_columns() {
    for (std::int64_t n : {2, 3, 4}) {
        for (std::int64_t m : {4, 5, 17, 70, 300}) {
            for (std::int64_t k : {31, 32, 64, 65, 96, 100, 127, 128, 129, 700, 3000}) {
                Sample<T> a(m, k, Layout::rows, 1);
                for (Layout layout : {Layout::rows, Layout::columns}) {
                    Sample<T> b(k, n, layout, 2);
                    std::vector<T> c(static_cast<std::size_t>(m * n)), turned = c;
                    GemmProblem<T> columns{.m = m, .n = n, .k = k};
                    columns.a = static_cast<const T*>(a.matrix.data), columns.a_row = k, columns.a_column = 1;
                    columns.b = static_cast<const T*>(b.matrix.data);
                    columns.b_row = b.matrix.row_stride, columns.b_column = b.matrix.column_stride;
                    columns.c = c.data(), columns.c_row = n;
                    GemmProblem<T> rows{.m = n, .n = m, .k = k};
                    rows.a = columns.b, rows.a_row = columns.b_column, rows.a_column = columns.b_row;
                    rows.b = columns.a, rows.b_row = 1, rows.b_column = k;
                    rows.c = turned.data(), rows.c_row = m;
                    for (Isa isa : usable_isas()) {
                        InstructionSet guard(isa);
                        std::vector<OperandOf<T>> scratch(static_cast<std::size_t>(
                            std::max(own_gemm_scratch<T>(m, n, k), own_gemm_scratch<T>(n, m, k))));
                        own_gemm(columns, scratch.data());
                        own_gemm(rows, scratch.data());
                        bool both[] = {own_gemm_by_dots(columns), own_gemm_by_dots(rows)};
                        bool room = layout == Layout::columns || m >= 70;  // to copy the columns
                        ASSERT_EQ(both[0] && room, room && n * sizeof(T) <= 16 && k >= 32 * (n - 1))
                            << m << "x" << n << "x" << k;
                        for (std::int64_t i = 0; i < m * n; ++i) {
                            std::vector<T> row(a.values.begin() + i / n * k, a.values.begin() + (i / n + 1) * k),
                                column;
                            for (std::int64_t p = 0; p < k; ++p)
                                column.push_back(static_cast<T>(b.values[p * n + i % n]));
                            T expected = inner_product_in_lanes(row.data(), column.data(), k);
                            T of_columns = both[0] ? c[i] : expected;
                            T of_rows = both[1] ? turned[i % n * m + i / n] : expected;
                            ASSERT_EQ(of_columns, expected) << name_of(isa) << ", " << m << "x" << n << "x" << k;
                            ASSERT_EQ(of_rows, expected) << name_of(isa) << ", turned, " << m << "x" << n << "x" << k;
                        }
                    }
                }
            }
        }
    }
}

TEST(Gemm, few_columns_or_rows_are_inner_products) {
    check_few_columns<float>();
    check_few_columns<double>();
}

TEST(Gemm, scratch_given_or_not_or_for_fewer_threads_changes_nothing) {
    Threads guard(3);
    for (const Sizes& s : larger_sizes)
        for (Layout of_a : {Layout::rows, Layout::columns})
            for (int threads : {1, 2, 3}) {
                std::size_t bytes = gemm_scratch_bytes(float32, s.m, s.n, s.k, 1, threads);
                std::vector<std::byte> memory(bytes + 64);
                void* aligned =
                    reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
                auto with = product<float>(s, of_a, Layout::columns, {aligned, bytes});
                EXPECT_TRUE(same_bits(with, product<float>(s, of_a, Layout::columns)))
                    << s.m << "x" << s.n << "x" << s.k << ", for " << threads << " threads";
            }
}

// B itself is not there any more: blocks of rows of one product read what was packed, and give the bits of the whole.
template <class T>
void check_packed(const Sizes& s, Layout of_b) {
    if (s.k == 0 || own_gemm_pieces(s.m, s.n, s.k) > 1) return;
    Sample<T> a(s.m, s.k, Layout::rows, 3), b(s.k, s.n, of_b, 4);
    std::vector<T> packed(static_cast<std::size_t>(own_gemm_packed<T>(s.n, s.k)));
    gemm_pack(dtype_of<T>, s.n, s.k, b.matrix, packed.data());
    std::vector<T> whole(static_cast<std::size_t>(s.m * s.n)), blocks = whole;
    bool dots = s.n == 1 || s.m == 1;  // joined in lanes when they are not packed
    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, whole.data(), s.n);
    for (std::int64_t first = 0; first < s.m; first += 7) {
        Matrix rows = a.matrix;
        rows.data = static_cast<const T*>(rows.data) + first * rows.row_stride;
        gemm(dtype_of<T>, std::min<std::int64_t>(7, s.m - first), s.n, s.k, rows,
             {nullptr, b.matrix.row_stride, b.matrix.column_stride, packed.data()}, blocks.data() + first * s.n, s.n);
    }
    for (std::size_t i = 0; i < whole.size(); ++i)
        ASSERT_NEAR(whole[i], blocks[i], dots ? 1e-4 : 0) << s.m << "x" << s.n << "x" << s.k << " at " << i;
}

TEST(Gemm, blocks_of_rows_share_a_packed_matrix) {
    for (Isa isa : usable_isas()) {
        InstructionSet guard(isa);
        for (const Sizes& s : all_sizes)
            for (Layout of_b : all_layouts) check_packed<float>(s, of_b), check_packed<double>(s, of_b);
    }
}

template <class T>
void check_batch(const Sizes& s, std::int64_t count, std::int64_t a_items, std::int64_t b_items) {
    const double half_unit = std::is_same_v<T, BFloat16> ? 0x1p-8 : 0;
    Sample<T> a(a_items * s.m, s.k, Layout::rows, 5), b(b_items * s.k, s.n, Layout::rows, 6);
    std::vector<T> c(static_cast<std::size_t>(count * s.m * s.n)), one(static_cast<std::size_t>(s.m * s.n));
    Batch batch{count, a_items == 1 ? 0 : s.m * s.k, b_items == 1 ? 0 : s.k * s.n, s.m * s.n};
    batched_gemm(dtype_of<T>, batch, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), s.n);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t row = 0; row < s.m; ++row)
            for (std::int64_t column = 0; column < s.n; ++column) {
                double sum = 0;
                for (std::int64_t k = 0; k < s.k; ++k)
                    sum += a.values[((a_items == 1 ? 0 : i) * s.m + row) * s.k + k] *
                           b.values[((b_items == 1 ? 0 : i) * s.k + k) * s.n + column];
                ASSERT_NEAR(static_cast<double>(c[(i * s.m + row) * s.n + column]), sum,
                            std::numeric_limits<Sum<T>>::epsilon() * static_cast<double>(s.k * s.k) +
                                std::abs(sum) * half_unit);
            }
}

TEST(Gemm, a_batch_is_its_items) {
    Threads guard(2);
    for (const Sizes& s : {Sizes{3, 4, 5}, Sizes{1, 7, 9}, Sizes{64, 32, 64}, Sizes{200, 170, 130}})
        for (std::int64_t count : {0, 1, 2, 17}) {
            if (s.m == 200 && count > 2) continue;
            check_batch<float>(s, count, count, count);
            check_batch<float>(s, count, count, 1);
            check_batch<double>(s, count, 1, count);
            check_batch<BFloat16>(Sizes{2, 3, 1}, count, 1, 1);
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
