// The discrete Fourier transform of rows of n complex numbers: Stockham's algorithm with factors 8, 4, 2, 3, 5 and other small primes, several
// rows at once (isa/fourier.h), and Bluestein's convolution (1970) where a larger prime divides n (Van Loan, Computational Frameworks for the
// Fast Fourier Transform, 1992, 1.7 and 4.2). A row alone is a matrix of n = columns x rows, its columns transformed at once, then turned by
// exp(-2 pi i j k / n), then its rows (Bailey, FFTs in external or hierarchical memory, 1990). Factors are made in long double, once. Errors
// grow as log n. Callers: backend/cpu/fourier.cpp, tests/backend.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/backend/cpu/isa/fourier.h"

namespace weft::cpu {

/// The table of the instruction set in use.
template <class R>
const FourierKernels<R>& fourier_kernels();

/// exp(-2 pi i k / n), symmetric ones equal.
std::complex<long double> unit_root(std::int64_t k, std::int64_t n);

/// Of n points, as many rows as there are lanes.
template <class R>
class FourierLanes {
  public:
    explicit FourierLanes(std::int64_t n);
    /// Whether n has small primes only.
    static bool takes(std::int64_t n);
    /// How many times points pass through working memory.
    static std::int64_t passes_of(std::int64_t n);
    FourierPasses<R> passes() const {
        return {n_, radices_.data(), static_cast<std::int64_t>(radices_.size()), factors_.data(), roots_.data()};
    }

  private:
    std::int64_t n_;
    std::vector<std::int64_t> radices_;
    std::vector<R> factors_, roots_;
};

template <class R>
class FourierTransform {
  public:
    using C = std::complex<R>;
    FourierTransform(std::int64_t n, bool inverse, R factor = 1);

    /// Working memory of run(), in numbers.
    std::int64_t scratch() const;
    /// From a row to another one or itself, times `factor`. `work` has scratch() numbers.
    void run(const C* from, C* to, C* work) const;
    void run(C* x, C* work) const { run(x, x, work); }

    /// The same in parts, which threads may share: any column_groups() first, of what `middle` (middle_numbers()) holds row_groups() then.
    /// Each has work_numbers() of its own. There is but one group, of rows, where n has no two factors, and none where it has large ones.
    bool parted() const { return !convolution_ && columns_; }
    std::int64_t column_groups() const { return (row_points_ + kernels_.lanes - 1) / kernels_.lanes; }
    std::int64_t row_groups() const { return (column_points_ + kernels_.lanes - 1) / kernels_.lanes; }
    std::int64_t middle_numbers() const { return parted() ? column_points_ * middle_row() / 2 : 0; }
    std::int64_t work_numbers() const;
    void run_columns(std::int64_t group, const C* from, R* middle, R* work) const;
    void run_rows(std::int64_t group, const R* middle, C* to, R* work) const;

  private:
    void make_matrix();
    void make_convolution();
    void convolve(const C* from, C* to, C* work) const;
    /// Real numbers of a row of the middle: whole vectors, and one more, so that rows do not fall upon the same lines of a cache.
    std::int64_t middle_row() const { return 2 * (column_groups() + 1) * kernels_.lanes; }

    std::int64_t n_, column_points_ = 1, row_points_;
    bool inverse_;
    R factor_;
    const FourierKernels<R>& kernels_;
    std::unique_ptr<FourierLanes<R>> columns_, rows_;
    std::vector<R> turns_;
    std::vector<C> chirp_, kernel_;
    std::unique_ptr<FourierTransform> convolution_;
};

}  // namespace weft::cpu
