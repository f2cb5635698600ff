// Eigenvalues and vectors of any square matrix, in complex arithmetic: Householder's reduction to Hessenberg form, the QR iteration with
// Wilkinson's shift to a triangle (Schur form), back substitution (Golub & Van Loan 2013, 7.4 to 7.6). Caller: matrix/own.cpp.
#pragma once

#include "weft/backend/cpu/matrix/orthogonal.h"

namespace weft::cpu::matrix {

/// h = Z^H h Z becomes a Hessenberg matrix. `column` has room for one.
template <class C>
void reduce_to_hessenberg(Matrix<C> h, Matrix<C> z, C* column) {
    std::int64_t n = h.rows;
    z.identity();
    for (std::int64_t j = 0; j + 2 < n; ++j) {
        std::int64_t count = n - j - 1;
        std::copy(h.column(j) + j + 1, h.column(j) + n, column);
        C tau = reflector(column, count);
        for (std::int64_t c = j; c < n; ++c) reflect(conjugate(tau), column + 1, h.column(c) + j + 1, count);
        std::fill(h.column(j) + j + 2, h.column(j) + n, C(0));
        column[0] = C(1);
        for (Matrix<C> x : {h, z}) {  // x (I - tau v v^H), row by row
            for (std::int64_t i = 0; i < n; ++i) {
                C sum(0);
                for (std::int64_t c = 0; c < count; ++c) sum += times(x(i, j + 1 + c), column[c]);
                sum = times(sum, tau);
                for (std::int64_t c = 0; c < count; ++c) x(i, j + 1 + c) -= times(sum, conjugate(column[c]));
            }
        }
    }
}

/// One QR step on rows and columns low..high, with a shift. `turns` has room for 2 n numbers.
template <class C>
void qr_step(Matrix<C> h, Matrix<C> z, std::int64_t low, std::int64_t high, C shift, C* turns) {
    std::int64_t n = h.rows;
    for (std::int64_t i = low; i <= high; ++i) h(i, i) -= shift;
    for (std::int64_t k = low; k < high; ++k) {
        C a = h(k, k), b = h(k + 1, k);
        Real<C> size = std::hypot(std::abs(a), std::abs(b));
        a = size > 0 ? a / size : C(1), b = size > 0 ? b / size : C(0);
        turns[2 * k] = a, turns[2 * k + 1] = b;
        for (std::int64_t c = k; c < n; ++c) {
            C upper = h(k, c), under = h(k + 1, c);
            h(k, c) = times(conjugate(a), upper) + times(conjugate(b), under);
            h(k + 1, c) = times(a, under) - times(b, upper);
        }
    }
    for (std::int64_t k = low; k < high; ++k) {
        C a = turns[2 * k], b = turns[2 * k + 1];
        auto turn = [&](Matrix<C> x, std::int64_t rows) {
            for (std::int64_t i = 0; i < rows; ++i) {
                C left = x(i, k), right = x(i, k + 1);
                x(i, k) = times(a, left) + times(b, right);
                x(i, k + 1) = times(conjugate(a), right) - times(conjugate(b), left);
            }
        };
        turn(h, std::min(k + 2, high + 1)), turn(z, n);
    }
    for (std::int64_t i = low; i <= high; ++i) h(i, i) += shift;
}

/// The eigenvalue of the last 2 x 2 block that lies nearer to its corner.
template <class C>
C wilkinson_shift(Matrix<C> h, std::int64_t high) {
    C a = h(high - 1, high - 1), d = h(high, high), half = (a - d) / Real<C>(2);
    C root = std::sqrt(times(half, half) + times(h(high - 1, high), h(high, high - 1)));
    if (real_part(times(half, conjugate(root))) > 0) root = -root;
    return d + half + root;
}

/// h becomes upper triangular, z the unitary matrix with h_before = z h z^H. Whether it settled.
template <class C>
bool schur(Matrix<C> h, Matrix<C> z, C* room) {
    constexpr Real<C> epsilon = std::numeric_limits<Real<C>>::epsilon();
    reduce_to_hessenberg(h, z, room);
    Real<C> whole = norm(h.data, h.size());
    if (!std::isfinite(whole)) return false;
    int steps = 0;
    for (std::int64_t high = h.rows - 1; high > 0;) {
        std::int64_t low = high;
        for (; low > 0; --low) {
            Real<C> beside = size_of_number(h(low - 1, low - 1)) + size_of_number(h(low, low));
            if (size_of_number(h(low, low - 1)) <= epsilon * (beside > 0 ? beside : whole)) break;
        }
        if (low > 0) h(low, low - 1) = C(0);
        if (low == high) {
            --high, steps = 0;
            continue;
        }
        if (++steps > 30 * most_sweeps) return false;
        bool stuck = steps % 10 == 0;  // a shift from elsewhere breaks what repeats itself
        qr_step(h, z, low, high, stuck ? h(high, high) + C(std::abs(h(high, high - 1))) : wilkinson_shift(h, high),
                room);
    }
    return true;
}

/// Column k of v: the vector of h(k, k), of length 1, its largest element real (as LAPACK's).
template <class C>
void schur_vectors(Matrix<C> h, Matrix<C> z, Matrix<C> v, C* x) {
    std::int64_t n = h.rows;
    Real<C> whole = norm(h.data, h.size());
    Real<C> least = std::max(std::numeric_limits<Real<C>>::epsilon() * whole, std::numeric_limits<Real<C>>::min());
    for (std::int64_t k = 0; k < n; ++k) {
        x[k] = C(1);
        for (std::int64_t i = k; i-- > 0;) {
            C sum(0), gap = h(k, k) - h(i, i);
            for (std::int64_t j = i + 1; j <= k; ++j) sum += times(h(i, j), x[j]);
            x[i] = sum / (size_of_number(gap) > least ? gap : C(least));
        }
        C* to = v.column(k);
        std::fill(to, to + n, C(0));
        for (std::int64_t j = 0; j <= k; ++j) add_scaled(to, x[j], z.column(j), n);
        C largest(0);
        for (std::int64_t i = 0; i < n; ++i)
            if (std::abs(to[i]) > std::abs(largest)) largest = to[i];
        C factor = conjugate(largest) / (std::abs(largest) * norm(to, n));
        for (std::int64_t i = 0; i < n; ++i) to[i] = times(to[i], factor);
    }
}

}  // namespace weft::cpu::matrix
