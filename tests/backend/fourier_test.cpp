// Transforms of every length against the definition in long double: a few units in the last place times log2 n of the largest.
#include <gtest/gtest.h>

#include <random>

#include "weft/backend/cpu/fourier_transform.h"

namespace weft::cpu {
namespace {

template <class R>
std::vector<std::complex<R>> random_row(std::int64_t n) {
    std::mt19937 engine(static_cast<unsigned>(n));
    std::normal_distribution<double> draw;
    std::vector<std::complex<R>> row(static_cast<std::size_t>(n));
    for (auto& x : row) x = {static_cast<R>(draw(engine)), static_cast<R>(draw(engine))};
    return row;
}

template <class R>
std::vector<std::complex<long double>> by_definition(const std::vector<std::complex<R>>& x, bool inverse) {
    std::size_t n = x.size();
    std::vector<std::complex<long double>> roots, result(n);
    for (std::size_t k = 0; k < n; ++k)
        roots.push_back(std::polar(
            1.0L, (inverse ? 2 : -2) * std::acos(-1.0L) * static_cast<long double>(k) / static_cast<long double>(n)));
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j)
            result[k] += std::complex<long double>(x[j].real(), x[j].imag()) * roots[j * k % n];
    return result;
}

/// The largest error over the largest element, in units of epsilon.
template <class R>
double error_of(std::int64_t n, bool inverse) {
    auto row = random_row<R>(n);
    auto expected = by_definition(row, inverse);
    FourierTransform<R> transform(n, inverse);
    std::vector<std::complex<R>> work(static_cast<std::size_t>(transform.scratch()));
    transform.run(row.data(), work.data());
    long double worst = 0, largest = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
        worst = std::max(worst, std::abs(std::complex<long double>(row[k].real(), row[k].imag()) - expected[k]));
        largest = std::max(largest, std::abs(expected[k]));
    }
    return static_cast<double>(worst / largest / std::numeric_limits<R>::epsilon());
}

template <class F>
void each_set(F f) {
    Isa before = best_isa();
    for (Isa isa : usable_isas()) use_isa(isa), f(isa);
    use_isa(before);
}

TEST(Fourier, every_length_is_exact_to_a_few_units_times_its_logarithm) {
    std::vector<std::int64_t> lengths{128, 200, 243, 256, 625, 997, 1000, 1024, 1031, 2048, 29 * 31, 37 * 37, 2 * 1021};
    for (std::int64_t n = 1; n <= 100; ++n) lengths.push_back(n);
    each_set([&](Isa isa) {
        for (std::int64_t n : lengths) {
            for (bool inverse : {false, true}) {
                double allowed = 1.5 * (1 + std::log2(static_cast<double>(n)));
                EXPECT_LE(error_of<float>(n, inverse), allowed) << n << ' ' << name_of(isa);
                EXPECT_LE(error_of<double>(n, inverse), allowed) << n << ' ' << name_of(isa);
            }
        }
    });
}

/// Rows of one length as they lie in memory: point i of row j at i * point + j * row.
struct Lying {
    std::int64_t point, row;
    FourierOrder order;
    template <class R>
    FourierPlace<R> place(std::complex<R>* data, bool swapped, R factor) const {
        return {reinterpret_cast<R*>(data), 2 * point, 2 * row, order, swapped, nullptr, factor};
    }
};

template <class R>
void check_lanes(std::int64_t n, std::int64_t rows, const Lying& from, const Lying& to) {
    auto& kernels = fourier_kernels<R>();
    FourierLanes<R> lanes(n);
    auto given = random_row<R>(4 * n * rows), made = given;
    std::vector<R> work(static_cast<std::size_t>(fourier_work(n, kernels.lanes)));
    kernels.transform(lanes.passes(), from.place(given.data(), true, R(1)), to.place(made.data(), true, R(2)), rows,
                      work.data());
    for (std::int64_t j = 0; j < rows; ++j) {
        std::vector<std::complex<R>> row;
        for (std::int64_t i = 0; i < n; ++i)
            row.push_back(given[static_cast<std::size_t>(i * from.point + j * from.row)]);
        auto expected = by_definition(row, true);
        for (std::int64_t i = 0; i < n; ++i) {
            auto x = made[static_cast<std::size_t>(i * to.point + j * to.row)];
            auto right = 2.0L * expected[static_cast<std::size_t>(i)];
            long double error = std::abs(std::complex<long double>(x.real(), x.imag()) - right);
            ASSERT_LE(error, 60 * std::sqrt(static_cast<double>(n)) * std::numeric_limits<R>::epsilon())
                << n << ' ' << rows << ' ' << i;
        }
    }
}

TEST(Fourier, rows_in_lanes_are_transformed_however_they_lie_and_however_many) {
    each_set([](Isa) {
        for (std::int64_t n : {1, 2, 7, 8, 15, 31, 49, 60}) {
            for (std::int64_t rows = 1; rows <= fourier_kernels<float>().lanes; rows += 3) {
                Lying ways[] = {
                    {rows, 1, FourierOrder::beside}, {1, n, FourierOrder::along}, {2, 2 * n, FourierOrder::anyhow}};
                for (const Lying& from : ways)
                    for (const Lying& to : ways) {
                        check_lanes<float>(n, rows, from, to);
                        if (rows <= fourier_kernels<double>().lanes) check_lanes<double>(n, rows, from, to);
                    }
            }
        }
    });
}

TEST(Fourier, real_numbers_are_folded_to_half_of_their_transform_and_back) {
    each_set([](Isa) {
        for (std::int64_t m = 1; m <= 70; ++m) {
            auto given = random_row<double>(m);
            std::vector<std::complex<double>> reals, z(given.size() + 1), half(z), back(z);
            for (auto& pair : given) reals.emplace_back(pair.real()), reals.emplace_back(pair.imag());
            FourierTransform<double> forward(m, false), inverse(m, true);
            std::vector<std::complex<double>> work(static_cast<std::size_t>(forward.scratch()));
            std::vector<double> turns;
            for (std::int64_t k = 0; k < m; ++k) {
                auto root = unit_root(k, 2 * m);
                turns.push_back(static_cast<double>(root.imag())), turns.push_back(static_cast<double>(-root.real()));
            }
            auto numbers = [](auto& list) { return reinterpret_cast<double*>(list.data()); };
            for (bool conjugate : {false, true}) {
                auto expected = by_definition(reals, conjugate);
                forward.run(given.data(), z.data(), work.data());
                fourier_kernels<double>().fold(numbers(half), numbers(z), turns.data(), m, 1, false, conjugate);
                for (std::int64_t k = 0; k <= m; ++k) {
                    auto x = half[static_cast<std::size_t>(k)];
                    auto right = expected[static_cast<std::size_t>(k)];
                    ASSERT_LE(std::abs(std::complex<long double>(x.real(), x.imag()) - right), 1e-13L) << m << ' ' << k;
                }
                half.front().imag(5), half.back().imag(7);  // which real numbers know nothing of
                fourier_kernels<double>().fold(numbers(z), numbers(half), turns.data(), m, 0.5 / static_cast<double>(m),
                                               true, conjugate);
                inverse.run(z.data(), back.data(), work.data());
                for (std::int64_t k = 0; k < m; ++k)
                    ASSERT_LE(std::abs(back[static_cast<std::size_t>(k)] - given[static_cast<std::size_t>(k)]), 1e-14)
                        << m;
            }
        }
    });
}

TEST(Fourier, a_wave_is_one_point_of_a_long_transform) {
    std::int64_t n = 1 << 18;
    FourierTransform<double> transform(n, false);
    std::vector<std::complex<double>> row(static_cast<std::size_t>(n)),
        work(static_cast<std::size_t>(transform.scratch()));
    for (std::int64_t j = 0; j < n; ++j)
        row[static_cast<std::size_t>(j)] =
            std::polar(1.0, 2 * M_PI * static_cast<double>(j * 12345 % n) / static_cast<double>(n));
    transform.run(row.data(), work.data());
    for (std::int64_t k = 0; k < n; ++k)
        ASSERT_NEAR(std::abs(row[static_cast<std::size_t>(k)]), k == 12345 ? static_cast<double>(n) : 0, 1e-7) << k;
}

}  // namespace
}  // namespace weft::cpu
