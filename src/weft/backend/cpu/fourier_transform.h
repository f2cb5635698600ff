// The discrete Fourier transform of one row of n complex numbers: Stockham's algorithm with factors 4, 2, 3, 5 and other small primes
// (Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, 1.7), and Bluestein's convolution (1970) where a larger prime
// divides n. Factors exp(2 pi i k / n) are made in long double, once. Errors grow as log n.
// Callers: backend/cpu/fourier.cpp, tests/backend.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::cpu {

template <class R>
class FourierTransform {
  public:
    using C = std::complex<R>;
    FourierTransform(std::int64_t n, bool inverse) : n_(n), sign_(inverse ? 1 : -1) {
        if (!factorize()) make_convolution();
        std::int64_t rest = n;
        for (std::int64_t radix : radices_) {
            rest /= radix;
            for (std::int64_t p = 0; p < rest; ++p)
                for (std::int64_t k = 1; k < radix; ++k) factors_.push_back(unit(p * k, rest * radix));
        }
    }

    /// Working memory of run(), in numbers.
    std::int64_t scratch() const { return convolution_ ? 2 * convolution_->n_ : n_; }

    /// `x` is transformed in place. `work` has scratch() numbers.
    void run(C* x, C* work) const {
        if (convolution_) return convolve(x, work);
        C *from = x, *to = work;
        const C* factors = factors_.data();
        std::int64_t rest = n_, done = 1;
        for (std::int64_t radix : radices_) {
            rest /= radix;
            pass(radix, from, to, factors, rest, done);
            factors += rest * (radix - 1), done *= radix;
            std::swap(from, to);
        }
        if (from != x) std::copy(from, from + n_, x);
    }

  private:
    static constexpr std::int64_t largest_radix = 31;

    /// exp(sign 2 pi i k / n), reduced to an eighth of the circle so that symmetric ones are equal.
    C unit(std::int64_t k, std::int64_t n) const {
        constexpr long double pi = 3.141592653589793238462643383279502884L;
        k %= n;
        bool lower = 2 * k > n;  // k / n in (1/2, 1): the conjugate of n - k
        if (lower) k = n - k;
        bool left = 4 * k > n;  // in (1/4, 1/2]: mirrored at the imaginary axis
        long double place = left ? static_cast<long double>(n - 2 * k) / 2 : static_cast<long double>(k);
        bool steep = 8 * place > static_cast<long double>(n);
        long double angle =
            2 * pi * (steep ? static_cast<long double>(n) / 4 - place : place) / static_cast<long double>(n);
        long double c = steep ? std::sin(angle) : std::cos(angle), s = steep ? std::cos(angle) : std::sin(angle);
        return {static_cast<R>(left ? -c : c), static_cast<R>(static_cast<long double>(sign_) * (lower ? -s : s))};
    }

    bool factorize() {
        std::int64_t rest = n_;
        for (std::int64_t radix : {4, 2, 3, 5})
            for (; rest % radix == 0; rest /= radix) radices_.push_back(radix);
        for (std::int64_t radix = 7; radix <= largest_radix && rest > 1; radix += 2)
            for (; rest % radix == 0; rest /= radix) radices_.push_back(radix);
        for (std::int64_t radix : radices_)
            if (radix > 5)
                for (std::int64_t k = 0; k < radix; ++k) roots_.push_back(unit(k, radix));
        return rest == 1;
    }

    static C times(C a, C b) {
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }
    C turned(C a) const {  // times i, with the sign of the transform
        return {-static_cast<R>(sign_) * a.imag(), static_cast<R>(sign_) * a.real()};
    }

    // to[q + done (radix p + k)] = factor(p, k) sum over j of from[q + done (p + rest j)] exp(2 pi i j k / radix)
    void pass(std::int64_t radix, const C* from, C* to, const C* factors, std::int64_t rest, std::int64_t done) const {
        for (std::int64_t p = 0; p < rest; ++p, factors += radix - 1) {
            const C* x = from + done * p;
            C* y = to + done * radix * p;
            std::int64_t step = done * rest;
            switch (radix) {
                case 2:
                    for (std::int64_t q = 0; q < done; ++q) {
                        C a = x[q], b = x[q + step];
                        y[q] = a + b, y[q + done] = times(factors[0], a - b);
                    }
                    break;
                case 3:
                    pass_of_three(x, y, factors, step, done);
                    break;
                case 4:
                    for (std::int64_t q = 0; q < done; ++q) {
                        C a = x[q] + x[q + 2 * step], b = x[q] - x[q + 2 * step];
                        C c = x[q + step] + x[q + 3 * step], d = turned(x[q + step] - x[q + 3 * step]);
                        y[q] = a + c, y[q + done] = times(factors[0], b + d);
                        y[q + 2 * done] = times(factors[1], a - c), y[q + 3 * done] = times(factors[2], b - d);
                    }
                    break;
                case 5:
                    pass_of_five(x, y, factors, step, done);
                    break;
                default:
                    pass_of_any(radix, x, y, factors, step, done);
            }
        }
    }

    void pass_of_three(const C* x, C* y, const C* factors, std::int64_t step, std::int64_t done) const {
        const R half = R(-0.5), root = static_cast<R>(0.866025403784438646763723170752936183L);
        for (std::int64_t q = 0; q < done; ++q) {
            C a = x[q], sum = x[q + step] + x[q + 2 * step], b = a + half * sum,
              d = root * turned(x[q + step] - x[q + 2 * step]);
            y[q] = a + sum, y[q + done] = times(factors[0], b + d), y[q + 2 * done] = times(factors[1], b - d);
        }
    }

    void pass_of_five(const C* x, C* y, const C* factors, std::int64_t step, std::int64_t done) const {
        const R c1 = static_cast<R>(0.309016994374947424102293417182819059L),
                s1 = static_cast<R>(0.951056516295153572116439333379382143L),
                c2 = static_cast<R>(-0.809016994374947424102293417182819059L),
                s2 = static_cast<R>(0.587785252292473129168705954639072769L);
        for (std::int64_t q = 0; q < done; ++q) {
            C a = x[q], b = x[q + step] + x[q + 4 * step], c = x[q + 2 * step] + x[q + 3 * step];
            C d = turned(x[q + step] - x[q + 4 * step]), e = turned(x[q + 2 * step] - x[q + 3 * step]);
            C near = a + c1 * b + c2 * c, far = a + c2 * b + c1 * c, turn = s1 * d + s2 * e, other = s2 * d - s1 * e;
            y[q] = a + b + c;
            y[q + done] = times(factors[0], near + turn), y[q + 2 * done] = times(factors[1], far + other);
            y[q + 3 * done] = times(factors[2], far - other), y[q + 4 * done] = times(factors[3], near - turn);
        }
    }

    void pass_of_any(std::int64_t radix, const C* x, C* y, const C* factors, std::int64_t step,
                     std::int64_t done) const {
        const C* roots = roots_.data();
        for (std::size_t i = 0; radices_[i] != radix; ++i) roots += radices_[i] > 5 ? radices_[i] : 0;
        for (std::int64_t k = 0; k < radix; ++k) {
            for (std::int64_t q = 0; q < done; ++q) {
                C sum = x[q];
                for (std::int64_t j = 1, at = k; j < radix; ++j, at = at + k >= radix ? at + k - radix : at + k)
                    sum += times(x[q + j * step], roots[at]);
                y[q + k * done] = k == 0 ? sum : times(factors[k - 1], sum);
            }
        }
    }

    // X_k = c_k sum over j of (x_j c_j) conj(c_(k - j)), c_k = exp(sign pi i k^2 / n): a convolution, of a power of two numbers.
    void make_convolution() {
        radices_.clear(), roots_.clear();
        std::int64_t size = 1;
        while (size < 2 * n_ - 1) size *= 2;
        convolution_ = std::make_unique<FourierTransform>(size, false);
        std::vector<C> work(static_cast<std::size_t>(2 * size));
        kernel_.assign(static_cast<std::size_t>(size), C(0));
        for (std::int64_t k = 0, square = 0; k < n_; square = (square + 2 * k + 1) % (2 * n_), ++k) {
            chirp_.push_back(unit(square, 2 * n_));
            C conjugate = std::conj(chirp_.back()) / static_cast<R>(size);
            kernel_[static_cast<std::size_t>(k)] = kernel_[static_cast<std::size_t>((size - k) % size)] = conjugate;
        }
        convolution_->run(kernel_.data(), work.data());
    }
    void convolve(C* x, C* work) const {
        std::int64_t size = convolution_->n_;
        for (std::int64_t k = 0; k < n_; ++k) work[k] = times(x[k], chirp_[static_cast<std::size_t>(k)]);
        std::fill(work + n_, work + size, C(0));
        convolution_->run(work, work + size);
        for (std::int64_t k = 0; k < size;
             ++k)  // conjugated, so that another forward transform is the inverse's conjugate
            work[k] = std::conj(times(work[k], kernel_[static_cast<std::size_t>(k)]));
        convolution_->run(work, work + size);
        for (std::int64_t k = 0; k < n_; ++k) x[k] = times(std::conj(work[k]), chirp_[static_cast<std::size_t>(k)]);
    }

    std::int64_t n_;
    int sign_;
    std::vector<std::int64_t> radices_;
    std::vector<C> factors_, roots_, chirp_, kernel_;
    std::unique_ptr<FourierTransform> convolution_;
};

}  // namespace weft::cpu
