// Householder's QR, Jacobi's eigenvalues and singular values. Callers: matrix/own.cpp.
#pragma once

#include "weft/backend/cpu/matrix/basic.h"

namespace weft::cpu::matrix {

inline constexpr int most_sweeps = 60;

/// Turns x into (beta, v[1:]) with H = I - tau v v^H, v[0] = 1, and H^H x = beta e1, beta real and of the sign that avoids cancelling:
/// LAPACK's choice, so that signs agree. Returns tau.
template <class T>
T reflector(T* x, std::int64_t count) {
    Real<T> rest = norm(x + 1, count - 1);
    if (count == 0 || (rest == 0 && x[0] == conjugate(x[0]))) return T(0);
    Real<T> all = norm(x, count), beta = real_part(x[0]) >= 0 ? -all : all;
    T alpha = x[0], tau = (T(beta) - alpha) / T(beta), scale = T(1) / (alpha - T(beta));
    for (std::int64_t i = 1; i < count; ++i) x[i] = times(x[i], scale);
    x[0] = T(beta);
    return tau;
}

/// y = (I - tau v v^H) y, v = (1, tail).
template <class T>
void reflect(T tau, const T* tail, T* y, std::int64_t count) {
    T sum = times(tau, y[0] + dot(tail, y + 1, count - 1));
    y[0] -= sum;
    add_scaled(y + 1, -sum, tail, count - 1);
}

/// A = Q R (Golub & Van Loan 2013, 5.2.2), Q of as many columns as it has, R of as many rows. A is written over; `taus` has room for
/// min(m, n) numbers.
template <class T>
void factor_qr(Matrix<T> a, Matrix<T> q, Matrix<T> r, T* taus) {
    std::int64_t m = a.rows, count = std::min(m, a.columns);
    for (std::int64_t j = 0; j < count; ++j) {
        taus[j] = reflector(a.column(j) + j, m - j);
        for (std::int64_t c = j + 1; c < a.columns; ++c)
            reflect(conjugate(taus[j]), a.column(j) + j + 1, a.column(c) + j, m - j);
    }
    r.fill(T(0));
    for (std::int64_t c = 0; c < a.columns; ++c)
        for (std::int64_t i = 0; i <= std::min(c, r.rows - 1); ++i) r(i, c) = a(i, c);
    q.identity();
    for (std::int64_t j = count; j-- > 0;)
        for (std::int64_t c = j; c < q.columns; ++c) reflect(taus[j], a.column(j) + j + 1, q.column(c) + j, m - j);
}

/// The turn of two columns that makes g = <x, y> vanish, given their squared lengths (Golub & Van Loan 2013, 8.5.2):
/// x' = c x - s conj(phase) y, y' = s phase x + c y, phase = g / |g|.
template <class T>
struct Turn {
    Real<T> c, s;
    T phase;
    Turn(Real<T> xx, Real<T> yy, T g) {
        Real<T> size = std::abs(g), zeta = (yy - xx) / (2 * size);
        Real<T> t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::hypot(Real<T>(1), zeta));
        c = 1 / std::sqrt(1 + t * t), s = c * t, phase = g / size;
    }
    void apply(T* x, T* y, std::int64_t count) const {
        T forth = s * phase, back = s * conjugate(phase);
        for (std::int64_t i = 0; i < count; ++i) {
            T old = x[i];
            x[i] = c * old - times(back, y[i]);
            y[i] = times(forth, old) + c * y[i];
        }
    }
};

/// Orders columns: best first by `before(a, b)` of their values; the matrices' columns go along.
template <class R, class T, class Before>
void order_columns(R* values, std::int64_t count, Matrix<T> a, Matrix<T> b, Before before) {
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t best = i;
        for (std::int64_t j = i + 1; j < count; ++j)
            if (before(values[j], values[best])) best = j;
        if (best == i) continue;
        std::swap(values[i], values[best]);
        if (a.data) std::swap_ranges(a.column(i), a.column(i) + a.rows, a.column(best));
        if (b.data) std::swap_ranges(b.column(i), b.column(i) + b.rows, b.column(best));
    }
}

/// Eigenvalues (ascending) and vectors of a Hermitian matrix, by Jacobi's rotations until what is off the diagonal is as small as the
/// rounding of what is on it. A, whose lower triangle is read, is written over. Whether it settled.
template <class T>
bool jacobi_eigen(Matrix<T> a, Real<T>* values, Matrix<T> v) {
    std::int64_t n = a.rows;
    for (std::int64_t j = 0; j < n; ++j) {
        a(j, j) = T(real_part(a(j, j)));
        for (std::int64_t i = 0; i < j; ++i) a(i, j) = conjugate(a(j, i));
    }
    v.identity();
    Real<T> whole = norm(a.data, a.size()),
            small = whole * std::numeric_limits<Real<T>>::epsilon() / static_cast<Real<T>>(4 * n + 4);
    bool moved = true;
    for (int sweep = 0; moved && sweep < most_sweeps; ++sweep) {
        moved = false;
        for (std::int64_t p = 0; p < n; ++p) {
            for (std::int64_t q = p + 1; q < n; ++q) {
                T g = a(p, q);
                if (!(std::abs(g) > small)) continue;
                moved = true;
                Turn<T> turn(real_part(a(p, p)), real_part(a(q, q)), g);
                turn.apply(a.column(p), a.column(q), n);
                for (std::int64_t j = 0; j < n; ++j) {  // the same of rows, conjugated
                    T old = a(p, j), other = a(q, j);
                    a(p, j) = turn.c * old - times(turn.s * turn.phase, other);
                    a(q, j) = times(turn.s * conjugate(turn.phase), old) + turn.c * other;
                }
                a(p, q) = a(q, p) = T(0);
                turn.apply(v.column(p), v.column(q), n);
            }
        }
    }
    for (std::int64_t i = 0; i < n; ++i) values[i] = real_part(a(i, i));
    order_columns(values, n, v, Matrix<T>{nullptr, 0, 0}, [](Real<T> x, Real<T> y) { return x < y; });
    return !moved && std::isfinite(whole);
}

/// Columns `have`.. of u become orthonormal to those before and to each other: of the unit vectors the one that lies least in their
/// space, made orthogonal twice.
template <class T>
void complete_basis(Matrix<T> u, std::int64_t have) {
    for (std::int64_t c = have; c < u.columns; ++c) {
        std::int64_t best = 0;
        Real<T> least = std::numeric_limits<Real<T>>::infinity();
        for (std::int64_t i = 0; i < u.rows; ++i) {
            Real<T> inside = 0;
            for (std::int64_t j = 0; j < c; ++j) inside += squared(u(i, j));
            if (inside < least) least = inside, best = i;
        }
        std::fill(u.column(c), u.column(c) + u.rows, T(0));
        u(best, c) = T(1);
        for (int twice = 0; twice < 2; ++twice)
            for (std::int64_t j = 0; j < c; ++j)
                add_scaled(u.column(c), -dot(u.column(j), u.column(c), u.rows), u.column(j), u.rows);
        Real<T> length = norm(u.column(c), u.rows);
        for (std::int64_t i = 0; i < u.rows; ++i) u(i, c) /= length;
    }
}

/// Singular values (descending) of A, m >= n, by rotations of its columns until they are orthogonal (Hestenes 1958). A's columns become
/// U diag(s), v the right vectors (v.data may be null); what is no longer than negligible() is not turned any further, so its direction is
/// noise. Whether it settled.
template <class R>
R negligible(R whole) {
    return std::numeric_limits<R>::epsilon() * whole;
}
template <class T>
bool jacobi_svd(Matrix<T> a, Real<T>* values, Matrix<T> v) {
    constexpr Real<T> epsilon = std::numeric_limits<Real<T>>::epsilon();
    std::int64_t n = a.columns;
    if (v.data) v.identity();
    Real<T> whole = norm(a.data, a.size()), scale = whole > 0 ? 1 / whole : 1;
    if (!std::isfinite(whole)) return false;
    bool scaled =
        std::isfinite(scale) && (whole < Real<T>(1e-6) || whole > Real<T>(1e6));  // so that squares stay in range
    for (std::int64_t i = 0; scaled && i < a.size(); ++i) a.data[i] *= scale;
    Real<T> least = negligible(scaled ? Real<T>(1) : whole);
    bool moved = true;
    for (int sweep = 0; moved && sweep < most_sweeps; ++sweep) {
        moved = false;
        for (std::int64_t p = 0; p < n; ++p) {
            for (std::int64_t q = p + 1; q < n; ++q) {
                Real<T> xx = real_part(dot(a.column(p), a.column(p), a.rows)),
                        yy = real_part(dot(a.column(q), a.column(q), a.rows));
                T g = dot(a.column(p), a.column(q), a.rows);
                if (std::sqrt(std::min(xx, yy)) <= least) continue;
                if (!(std::abs(g) > epsilon * std::sqrt(xx) * std::sqrt(yy) * 4)) continue;
                moved = true;
                Turn<T> turn(xx, yy, g);
                turn.apply(a.column(p), a.column(q), a.rows);
                if (v.data) turn.apply(v.column(p), v.column(q), n);
            }
        }
    }
    for (std::int64_t j = 0; j < n; ++j) values[j] = norm(a.column(j), a.rows);
    order_columns(values, n, a, v, [](Real<T> x, Real<T> y) { return x > y; });
    for (std::int64_t j = 0; scaled && j < n; ++j) {
        values[j] /= scale;
        for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) /= scale;
    }
    return !moved;
}

/// The pseudo-inverse of U diag(values) Vh, where values up to `cut` times the first count as 0. `v` and `uh` are written over.
template <class T>
void pseudo_inverse(Matrix<T> u, const Real<T>* values, Matrix<T> vh, Real<T> cut, Matrix<T> v, Matrix<T> uh,
                    Matrix<T> to) {
    for (std::int64_t k = 0; k < u.columns; ++k) {
        Real<T> factor = values[k] > cut * values[0] ? 1 / values[k] : 0;
        for (std::int64_t i = 0; i < v.rows; ++i) v(i, k) = conjugate(vh(k, i)) * factor;
        for (std::int64_t i = 0; i < u.rows; ++i) uh(k, i) = conjugate(u(i, k));
    }
    multiply(v, uh, to);
}

}  // namespace weft::cpu::matrix
