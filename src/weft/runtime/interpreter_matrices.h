// The oracle's matrices: every factorization by a textbook algorithm that fast kernels do not use, in complex long double whatever the
// type, with loops written out. Caller: runtime/interpreter_factorization.cpp.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "weft/base/error.h"

namespace weft::oracle {

using Wide = std::complex<long double>;

class Wides {
  public:
    Wides(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), values_(rows * columns) {}
    static Wides identity(std::size_t n) {
        Wides one(n, n);
        for (std::size_t i = 0; i < n; ++i) one(i, i) = 1;
        return one;
    }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    Wide& operator()(std::size_t i, std::size_t j) { return values_[i * columns_ + j]; }
    const Wide& operator()(std::size_t i, std::size_t j) const { return values_[i * columns_ + j]; }

  private:
    std::size_t rows_, columns_;
    std::vector<Wide> values_;
};

inline Wides operator*(const Wides& a, const Wides& b) {
    Wides c(a.rows(), b.columns());
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < b.columns(); ++j)
            for (std::size_t k = 0; k < a.columns(); ++k) c(i, j) += a(i, k) * b(k, j);
    return c;
}
inline Wides scaled(const Wides& a, Wide factor) {
    Wides c = a;
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.columns(); ++j) c(i, j) *= factor;
    return c;
}
inline Wides sum(const Wides& a, const Wides& b, Wide factor = 1) {
    Wides c = a;
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.columns(); ++j) c(i, j) += factor * b(i, j);
    return c;
}
inline Wides transposed(const Wides& a, bool conjugated) {
    Wides c(a.columns(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.columns(); ++j) c(j, i) = conjugated ? std::conj(a(i, j)) : a(i, j);
    return c;
}
inline long double size_of_all(const Wides& a) {
    long double sum = 0;
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.columns(); ++j) sum += std::norm(a(i, j));
    return std::sqrt(sum);
}

/// x with a x = b by Gauss and Jordan's elimination with the largest pivot; false where there is none.
inline bool eliminate(Wides a, Wides& b) {
    std::size_t n = a.rows();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
        if (a(pivot, k) == Wide(0)) return false;
        for (std::size_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
        for (std::size_t j = 0; j < b.columns(); ++j) std::swap(b(k, j), b(pivot, j));
        for (std::size_t i = 0; i < n; ++i) {
            Wide factor = a(i, k) / a(k, k);
            if (i == k || factor == Wide(0)) continue;
            for (std::size_t j = 0; j < n; ++j) a(i, j) -= factor * a(k, j);
            for (std::size_t j = 0; j < b.columns(); ++j) b(i, j) -= factor * b(k, j);
        }
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < b.columns(); ++j) b(i, j) /= a(i, i);
    return true;
}

/// The determinant, by eliminating below each pivot.
inline Wide determinant(Wides a) {
    Wide product = 1;
    for (std::size_t k = 0; k < a.rows(); ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < a.rows(); ++i)
            if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
        if (a(pivot, k) == Wide(0)) return 0;
        if (pivot != k) product = -product;
        for (std::size_t j = 0; j < a.rows(); ++j) std::swap(a(k, j), a(pivot, j));
        for (std::size_t i = k + 1; i < a.rows(); ++i) {
            Wide factor = a(i, k) / a(k, k);
            for (std::size_t j = k; j < a.rows(); ++j) a(i, j) -= factor * a(k, j);
        }
        product *= a(k, k);
    }
    return product;
}

/// `columns` orthonormal columns: first those of a, which are nearly so, then unit vectors, by Gram and Schmidt twice. Of the unit vectors
/// those are passed over that lie mostly in the space of what is there.
inline Wides orthonormal(const Wides& a, std::size_t columns) {
    Wides q(a.rows(), columns);
    for (std::size_t j = 0, next = 0; j < columns;) {
        bool given = j < a.columns();
        for (std::size_t i = 0; i < a.rows(); ++i) q(i, j) = given ? a(i, j) : Wide(i == next ? 1 : 0);
        if (!given) ++next;
        long double length = 0;
        for (int twice = 0; twice < 2; ++twice) {
            for (std::size_t k = 0; k < j; ++k) {
                Wide along = 0;
                for (std::size_t i = 0; i < a.rows(); ++i) along += std::conj(q(i, k)) * q(i, j);
                for (std::size_t i = 0; i < a.rows(); ++i) q(i, j) -= along * q(i, k);
            }
        }
        for (std::size_t i = 0; i < a.rows(); ++i) length += std::norm(q(i, j));
        if (!given && length < 0.1L / static_cast<long double>(a.rows())) continue;
        for (std::size_t i = 0; i < a.rows(); ++i) q(i, j) /= std::sqrt(length);
        ++j;
    }
    return q;
}

/// a = Q R, with a diagonal of R that has LAPACK's signs: those of Householder's reflections, which make R(j, j) = -sign(re x) |x|
/// of the column x that they meet.
inline void householder(Wides a, std::size_t q_columns, Wides& q, Wides& r) {
    std::size_t m = a.rows();
    Wides whole = Wides::identity(m);
    for (std::size_t j = 0; j < std::min(m, a.columns()); ++j) {
        long double length = 0, rest = 0;
        for (std::size_t i = j; i < m; ++i) length += std::norm(a(i, j)), rest += i > j ? std::norm(a(i, j)) : 0;
        length = std::sqrt(length);
        if (rest == 0 && a(j, j).imag() == 0) continue;
        long double beta = a(j, j).real() >= 0 ? -length : length;
        // H with H^H x = beta e1: I - tau v v^H as a whole matrix.
        std::vector<Wide> v(m);
        v[j] = 1;
        for (std::size_t i = j + 1; i < m; ++i) v[i] = a(i, j) / (a(j, j) - beta);
        Wide tau = (beta - a(j, j)) / beta;
        Wides h = Wides::identity(m);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t k = 0; k < m; ++k) h(i, k) -= tau * v[i] * std::conj(v[k]);
        a = transposed(h, true) * a;
        whole = whole * h;
    }
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < q_columns; ++j) q(i, j) = whole(i, j);
    for (std::size_t i = 0; i < r.rows(); ++i)
        for (std::size_t j = i; j < r.columns(); ++j) r(i, j) = a(i, j);
}

/// Francis' idea without any of its economies: a - s I = Q R, a = R Q + s I, until the last row has nothing left of its diagonal, then
/// the same of what stands above. Returns z with a_before = z a z^H, a an upper triangle.
/// Of Hermitian matrices shifts are real, so that real ones stay real.
inline Wides schur(Wides& a, bool hermitian = false) {
    std::size_t n = a.rows();
    Wides z = Wides::identity(n);
    long double whole = size_of_all(a);
    if (!std::isfinite(whole)) throw ValueError("NaN or infinity");
    for (std::size_t active = n; active > 1;) {
        int steps = 0;
        auto left = [&] {
            long double size = 0;
            for (std::size_t j = 0; j + 1 < active; ++j) size += std::abs(a(active - 1, j));
            return size;
        };
        while (left() > 1e-19L * whole) {
            if (++steps > 3000) throw ValueError("no triangle");
            Wide corner = a(active - 1, active - 1), half = (a(active - 2, active - 2) - corner) / 2.0L;
            Wide root = std::sqrt(half * half + a(active - 2, active - 1) * a(active - 1, active - 2));
            if (std::abs(half + root) > std::abs(half - root)) root = -root;
            Wide shift = corner + half + root;
            if (steps % 11 == 0) shift += whole * Wide(0.3L, 0.1L);
            if (hermitian) shift = shift.real();
            Wides block(active, active), q(active, active), r(active, active), turn = Wides::identity(n);
            for (std::size_t i = 0; i < active; ++i)
                for (std::size_t j = 0; j < active; ++j) block(i, j) = a(i, j) - (i == j ? shift : Wide(0));
            householder(block, active, q, r);
            for (std::size_t i = 0; i < active; ++i)
                for (std::size_t j = 0; j < active; ++j) turn(i, j) = q(i, j);
            a = transposed(turn, true) * a * turn;
            z = z * turn;
        }
        for (std::size_t j = 0; j + 1 < active; ++j) a(active - 1, j) = 0;
        --active;
    }
    return z;
}

/// Eigenvalues of a Hermitian matrix, ascending, and vectors (columns).
inline void hermitian(const Wides& a, std::vector<long double>& values, Wides& vectors) {
    std::size_t n = a.rows();
    Wides lower = a;
    for (std::size_t i = 0; i < n; ++i) {
        lower(i, i) = a(i, i).real();
        for (std::size_t j = i + 1; j < n; ++j) lower(i, j) = std::conj(a(j, i));
    }
    vectors = schur(lower, true);
    for (std::size_t i = 0; i < n; ++i) values.push_back(lower(i, i).real());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) {
            if (values[j] >= values[i]) continue;
            std::swap(values[i], values[j]);
            for (std::size_t k = 0; k < n; ++k) std::swap(vectors(k, i), vectors(k, j));
        }
    }
}

/// Singular values and vectors, from the eigenvalues +-s of [[0, A], [A^H, 0]], whose vectors are (u, v) / sqrt(2) (Golub & Van Loan
/// 2013, 8.6.1).
inline void singular(const Wides& a, bool complete, Wides& u, std::vector<long double>& s, Wides& vh) {
    std::size_t m = a.rows(), n = a.columns(), k = std::min(m, n);
    Wides both(m + n, m + n), vectors(0, 0);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) both(i, m + j) = a(i, j), both(m + j, i) = std::conj(a(i, j));
    std::vector<long double> values;
    hermitian(both, values, vectors);
    std::size_t rank = 0;
    for (std::size_t i = 0; i < k; ++i) {
        long double value = values[m + n - 1 - i];
        s.push_back(std::max(value, 0.0L));
        if (i == rank && value > 1e-17L * values[m + n - 1]) ++rank;
    }
    Wides found_u(m, rank), found_v(n, rank);
    for (std::size_t j = 0; j < rank; ++j) {
        for (std::size_t i = 0; i < m; ++i) found_u(i, j) = vectors(i, m + n - 1 - j) * std::sqrt(2.0L);
        for (std::size_t i = 0; i < n; ++i) found_v(i, j) = vectors(m + i, m + n - 1 - j) * std::sqrt(2.0L);
    }
    u = orthonormal(found_u, complete ? m : k);
    vh = transposed(orthonormal(found_v, complete ? n : k), true);
}

/// The exponential, as its series of a 2^-s-th part, squared s times.
inline Wides exponential(const Wides& a) {
    int squarings = 0;
    for (long double size = size_of_all(a); size > 0.5L; size /= 2) ++squarings;
    Wides part = scaled(a, std::ldexp(1.0L, -squarings)), term = Wides::identity(a.rows()), result = term;
    for (int k = 1; k < 40; ++k) {
        term = scaled(term * part, 1.0L / static_cast<long double>(k));
        result = sum(result, term);
    }
    for (int i = 0; i < squarings; ++i) result = result * result;
    return result;
}

}  // namespace weft::oracle
