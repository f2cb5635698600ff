// The exponential of a matrix: scaling, the diagonal Pade approximant of degree 13, squaring (Higham, The scaling and squaring method for
// the matrix exponential revisited, 2005, algorithm 2.3). Caller: matrix/own.cpp.
#pragma once

#include "weft/backend/cpu/matrix/basic.h"

namespace weft::cpu::matrix {

inline constexpr int exponential_matrices = 6;  // of working memory

/// to = expm(a). a is written over; `spare` are exponential_matrices others of its size, `exchanged` has room for n numbers.
template <class T>
void exponential(Matrix<T> a, Matrix<T> to, const Matrix<T>* spare, T* exchanged) {
    static constexpr double b[] = {64764752532480000.0,
                                   32382376266240000.0,
                                   7771770303897600.0,
                                   1187353796428800.0,
                                   129060195264000.0,
                                   10559470521600.0,
                                   670442572800.0,
                                   33522128640.0,
                                   1323241920.0,
                                   40840800.0,
                                   960960.0,
                                   16380.0,
                                   182.0,
                                   1.0};
    constexpr double radius = 5.371920351148152;  // up to this norm the approximant is as exact as float64
    std::int64_t n = a.rows;
    double largest = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(std::abs(a(i, j)));
        largest = sum > largest || std::isnan(sum) ? sum : largest;
    }
    if (!std::isfinite(largest)) return to.fill(T(std::numeric_limits<Real<T>>::quiet_NaN()));
    int squarings = largest > radius ? static_cast<int>(std::ceil(std::log2(largest / radius))) : 0;
    for (std::int64_t i = 0; i < a.size(); ++i) a.data[i] *= static_cast<Real<T>>(std::ldexp(1.0, -squarings));
    const Matrix<T>&a2 = spare[0], &a4 = spare[1], &a6 = spare[2], &odd = spare[3], &even = spare[4], &work = spare[5];
    multiply(a, a, a2), multiply(a2, a2, a4), multiply(a4, a2, a6);
    // x = b[k] I + b[k + 2] a2 + b[k + 4] a4 + b[k + 6] a6 + a6 (b[k + 8] a2 + b[k + 10] a4 + b[k + 12] a6)
    auto polynomial = [&](int k, Matrix<T> x) {
        auto factor = [&](int power) { return static_cast<Real<T>>(b[power]); };
        for (std::int64_t i = 0; i < a.size(); ++i)
            work.data[i] = a2.data[i] * factor(k + 8) + a4.data[i] * factor(k + 10) + a6.data[i] * factor(k + 12);
        multiply(a6, work, x);
        for (std::int64_t i = 0; i < a.size(); ++i)
            x.data[i] += a2.data[i] * factor(k + 2) + a4.data[i] * factor(k + 4) + a6.data[i] * factor(k + 6);
        for (std::int64_t i = 0; i < n; ++i) x(i, i) += factor(k);
    };
    polynomial(1, even), multiply(a, even, odd), polynomial(0, even);
    for (std::int64_t i = 0; i < a.size(); ++i) {
        to.data[i] = even.data[i] + odd.data[i];
        work.data[i] = even.data[i] - odd.data[i];
    }
    factor_lu(work, exchanged);
    (void)solve_lu(work, exchanged, false, to);  // has an inverse: its condition is bounded within the radius
    for (int i = 0; i < squarings; ++i) {
        multiply(to, to, work);
        std::copy(work.data, work.data + work.size(), to.data);
    }
}

}  // namespace weft::cpu::matrix
