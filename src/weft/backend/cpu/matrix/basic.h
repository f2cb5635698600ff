// What the textbook algorithms share: views of column-major matrices, products, triangles. Callers: matrix/own_*.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/backend/cpu/matrix/problem.h"

namespace weft::cpu::matrix {

/// A column-major matrix in somebody else's memory.
template <class T>
struct Matrix {
    T* data;
    std::int64_t rows, columns;
    T& operator()(std::int64_t i, std::int64_t j) const { return data[i + j * rows]; }
    T* column(std::int64_t j) const { return data + j * rows; }
    std::int64_t size() const { return rows * columns; }
    void fill(T value) const { std::fill(data, data + size(), value); }
    void identity() const {
        fill(T(0));
        for (std::int64_t i = 0; i < std::min(rows, columns); ++i) (*this)(i, i) = T(1);
    }
};

/// Hands out pieces of a scratch, one behind the other; without a scratch it only counts.
class Pieces {
  public:
    explicit Pieces(std::byte* scratch = nullptr) : first_(scratch) {}
    template <class T>
    T* take(std::int64_t count) {
        std::size_t at = bytes_;
        bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
        return first_ ? reinterpret_cast<T*>(first_ + at) : nullptr;
    }
    template <class T>
    Matrix<T> matrix(std::int64_t rows, std::int64_t columns) {
        return {take<T>(rows * columns), rows, columns};
    }
    std::size_t bytes() const { return bytes_; }

  private:
    std::byte* first_;
    std::size_t bytes_ = 0;
};

template <class T>
T conjugate(T x) {
    if constexpr (is_complex_v<T>)
        return std::conj(x);
    else
        return x;
}
template <class T>
Real<T> real_part(T x) {
    if constexpr (is_complex_v<T>)
        return x.real();
    else
        return x;
}
/// |x| as LAPACK compares it: of complex numbers |re| + |im|.
template <class T>
Real<T> size_of_number(T x) {
    if constexpr (is_complex_v<T>)
        return std::abs(x.real()) + std::abs(x.imag());
    else
        return std::abs(x);
}
template <class T>
Real<T> squared(T x) {
    if constexpr (is_complex_v<T>)
        return x.real() * x.real() + x.imag() * x.imag();
    else
        return x * x;
}
template <class T>
T times(T a, T b) {  // without the care for infinities that operator* of complex numbers takes
    if constexpr (is_complex_v<T>)
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    else
        return a * b;
}
/// The sum of conj(a) b.
template <class T>
T dot(const T* a, const T* b, std::int64_t count) {
    T sum(0);
    for (std::int64_t i = 0; i < count; ++i) sum += times(conjugate(a[i]), b[i]);
    return sum;
}
/// The Euclidean norm, scaled so that no square overflows; NaN of NaN and infinities.
template <class T>
Real<T> norm(const T* a, std::int64_t count) {
    Real<T> largest = 0, sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        Real<T> size = size_of_number(a[i]);
        if (std::isnan(size)) return size;
        largest = std::max(largest, size);
    }
    if (largest == 0) return 0;
    for (std::int64_t i = 0; i < count; ++i) sum += squared(a[i] / largest);
    return largest * std::sqrt(sum);
}
/// y += factor x.
template <class T>
void add_scaled(T* y, T factor, const T* x, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) y[i] += times(factor, x[i]);
}

/// c = a b.
template <class T>
void multiply(Matrix<T> a, Matrix<T> b, Matrix<T> c) {
    c.fill(T(0));
    for (std::int64_t j = 0; j < c.columns; ++j)
        for (std::int64_t k = 0; k < a.columns; ++k) add_scaled(c.column(j), b(k, j), a.column(k), c.rows);
}

/// b = a^-1 b (transposed: a^-T b) for a triangle of a; without conjugation. Whether no element of its diagonal is 0.
template <class T>
bool solve_triangle(Matrix<T> a, bool lower, bool transposed, bool unit, Matrix<T> b) {
    std::int64_t n = a.rows;
    for (std::int64_t i = 0; !unit && i < n; ++i)
        if (a(i, i) == T(0)) return false;
    bool forward = lower != transposed;
    for (std::int64_t c = 0; c < b.columns; ++c) {
        T* x = b.column(c);
        for (std::int64_t step = 0; step < n; ++step) {
            std::int64_t i = forward ? step : n - 1 - step;
            std::int64_t first = lower ? i + 1 : 0, last = lower ? n : i;  // the rest of column i of the triangle
            if (transposed)
                for (std::int64_t j = first; j < last; ++j) x[i] -= times(a(j, i), x[j]);
            if (!unit) x[i] /= a(i, i);
            if (!transposed) add_scaled(x + first, -x[i], a.column(i) + first, last - first);
        }
    }
    return true;
}

/// A = P L U in place (Golub & Van Loan 2013, 3.4): `exchanged[i]` is the row that row i was exchanged with. A column without a pivot is
/// passed over, so that U has a 0 there.
template <class T>
void factor_lu(Matrix<T> a, T* exchanged) {
    std::int64_t n = a.rows;
    for (std::int64_t j = 0; j < n; ++j) {
        std::int64_t pivot = j;
        for (std::int64_t i = j + 1; i < n; ++i)
            if (size_of_number(a(i, j)) > size_of_number(a(pivot, j))) pivot = i;
        exchanged[j] = static_cast<T>(static_cast<Real<T>>(pivot));
        if (a(pivot, j) == T(0)) continue;
        for (std::int64_t c = 0; pivot != j && c < n; ++c) std::swap(a(j, c), a(pivot, c));
        for (std::int64_t i = j + 1; i < n; ++i) a(i, j) /= a(j, j);
        for (std::int64_t c = j + 1; c < n; ++c)
            add_scaled(a.column(c) + j + 1, -a(j, c), a.column(j) + j + 1, n - j - 1);
    }
}

/// b = A^-1 b (transposed: A^-T b). Whether A has an inverse.
template <class T>
bool solve_lu(Matrix<T> lu, const T* exchanged, bool transposed, Matrix<T> b) {
    std::int64_t n = lu.rows;
    auto exchange = [&](std::int64_t i) {
        auto other = static_cast<std::int64_t>(real_part(exchanged[i]));
        for (std::int64_t c = 0; other != i && c < b.columns; ++c) std::swap(b(i, c), b(other, c));
    };
    for (std::int64_t i = 0; !transposed && i < n; ++i) exchange(i);
    bool first = solve_triangle(lu, !transposed, transposed, !transposed, b);
    bool second = first && solve_triangle(lu, transposed, transposed, transposed, b);
    for (std::int64_t i = n; transposed && i-- > 0;) exchange(i);
    return second;
}

}  // namespace weft::cpu::matrix
