// Products of whole and of complex numbers against their definition: of every layout, on every instruction set, for any number of threads.
#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "threads.h"
#include "weft/backend/cpu/gemm.h"
#include "weft/backend/cpu/isa.h"

namespace weft::cpu {
namespace {

struct Shape3 {
    std::int64_t m, n, k;
};
const Shape3 shapes[] = {{0, 3, 4},     {3, 0, 4},   {3, 4, 0},    {1, 1, 1},     {1, 1, 300},  {1, 17, 33},
                         {29, 1, 40},   {8, 4, 8},   {7, 9, 300},  {1, 300, 91},  {2, 70, 65},  {5, 130, 64},
                         {9, 3, 33},    {33, 70, 9}, {64, 64, 64}, {70, 67, 130}, {1, 9000, 9}, {130, 2, 257},
                         {100, 90, 80}, {12, 4, 5},  {300, 5, 17}, {2, 3, 17000}, {3, 2, 70000}};

/// rows x columns numbers: in rows, in columns, with gaps or backwards.
template <class T>
struct Numbers {
    template <class Draw>
    Numbers(std::int64_t rows, std::int64_t columns, int layout, Draw draw)
        : memory(static_cast<std::size_t>((rows + 1) * (2 * columns + 5)), T(77)) {
        if (layout == 0) row = columns, column = 1;
        if (layout == 1) row = 1, column = rows;
        if (layout == 2) row = 2 * columns + 3, column = 2;
        if (layout == 3) row = -columns, column = 1, origin = std::max<std::int64_t>(0, rows - 1) * columns;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) (*this)(i, j) = draw();
    }
    T& operator()(std::int64_t i, std::int64_t j) {
        return memory[static_cast<std::size_t>(origin + i * row + j * column)];
    }
    Matrix matrix() const { return {memory.data() + origin, row, column}; }
    std::vector<T> memory;
    std::int64_t row = 0, column = 0, origin = 0;
};

/// check(i, j, found, before) for each element of C, whose rows are 3 longer than they need to be.
template <class T, class Draw, class Check>
void each_product(Draw draw, Check check) {
    Isa best = best_isa();
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        for (const Shape3& s : shapes)
            for (int layouts = 0; layouts<16; layouts += s.k> 1000 ? 5 : 1) {
                Numbers<T> a(s.m, s.k, layouts / 4, draw), b(s.k, s.n, layouts % 4, draw);
                std::vector<T> before(static_cast<std::size_t>(s.m * (s.n + 3)));
                for (T& x : before) x = draw();
                for (bool accumulate : {false, true}) {
                    std::vector<T> one = before, three = before;
                    auto run = [&](std::vector<T>& c, int threads) {
                        Threads guard(threads);
                        gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix(), b.matrix(), c.data(), s.n + 3, accumulate);
                    };
                    run(one, 1), run(three, 3);
                    ASSERT_EQ(one, three) << s.m << ' ' << s.n << ' ' << s.k;
                    for (std::int64_t i = 0; i < s.m; ++i)
                        for (std::int64_t j = 0; j < s.n + 3; ++j) {
                            auto at = static_cast<std::size_t>(i * (s.n + 3) + j);
                            if (j >= s.n)
                                ASSERT_EQ(one[at], before[at]) << "beside row " << i;
                            else
                                check(a, b, s.k, i, j, one[at], accumulate ? before[at] : T(0));
                        }
                }
            }
    }
    use_isa(best);
}

template <class T>
class WholeGemm : public testing::Test {};
using WholeTypes = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(WholeGemm, WholeTypes);

TYPED_TEST(WholeGemm, wraps_as_the_definition_does) {
    using T = TypeParam;
    std::mt19937_64 engine(5);
    each_product<T>([&] { return static_cast<T>(engine()); },
                    [](auto& a, auto& b, std::int64_t k, std::int64_t i, std::int64_t j, T found, T before) {
                        auto sum = static_cast<std::uint64_t>(before);
                        for (std::int64_t p = 0; p < k; ++p)
                            sum += static_cast<std::uint64_t>(a(i, p)) * static_cast<std::uint64_t>(b(p, j));
                        ASSERT_EQ(found, static_cast<T>(sum)) << i << ' ' << j << ' ' << k;
                    });
}

template <class R>
void check_complex() {
    using C = std::complex<R>;
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    each_product<C>([&] { return C(static_cast<R>(uniform(engine)), static_cast<R>(uniform(engine))); },
                    [](auto& a, auto& b, std::int64_t k, std::int64_t i, std::int64_t j, C found, C before) {
                        long double re = before.real(), im = before.imag();
                        for (std::int64_t p = 0; p < k; ++p) {
                            long double x = a(i, p).real(), y = a(i, p).imag(), u = b(p, j).real(), v = b(p, j).imag();
                            re += x * u - y * v, im += x * v + y * u;
                        }
                        // Each part is a sum of 2 k products of at most 1, each rounded.
                        ASSERT_LE(std::max(std::abs(found.real() - re), std::abs(found.imag() - im)),
                                  std::numeric_limits<R>::epsilon() * static_cast<R>(4 * k + 4))
                            << i << ' ' << j << ' ' << k;
                    });
}
TEST(ComplexGemm, is_the_definition_of_any_layout) {
    check_complex<float>();
    check_complex<double>();
}

TEST(ComplexGemm, what_is_not_finite_stays_in_its_row) {
    using C = std::complex<double>;
    std::int64_t n = 20;
    std::vector<C> a(static_cast<std::size_t>(n * n), C(1, 1)), b = a, c(a.size());
    a[3] = C(NAN, 0), a[25] = C(0, INFINITY);
    gemm(complex128, n, n, n, {a.data(), n, 1}, {b.data(), n, 1}, c.data(), n);
    for (std::int64_t i = 0; i < n * n; ++i) {
        C x = c[static_cast<std::size_t>(i)];
        EXPECT_EQ(std::isfinite(x.real()) && std::isfinite(x.imag()), i >= 2 * n) << i;
    }
}

}  // namespace
}  // namespace weft::cpu
