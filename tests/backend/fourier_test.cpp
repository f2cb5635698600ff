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

TEST(Fourier, every_length_is_exact_to_a_few_units_times_its_logarithm) {
    std::vector<std::int64_t> lengths{128, 200, 243, 256, 625, 997, 1000, 1024, 1031, 2048, 29 * 31, 37 * 37, 2 * 1021};
    for (std::int64_t n = 1; n <= 100; ++n) lengths.push_back(n);
    for (std::int64_t n : lengths) {
        for (bool inverse : {false, true}) {
            double allowed = 1.5 * (1 + std::log2(static_cast<double>(n)));
            EXPECT_LE(error_of<float>(n, inverse), allowed) << n;
            EXPECT_LE(error_of<double>(n, inverse), allowed) << n;
        }
    }
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
