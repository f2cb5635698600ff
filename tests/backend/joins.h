// Numbers to be joined, and how two are: for tests of reductions' loops.
// Callers: tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "weft/kernel/reduction.h"

namespace weft::cpu {

template <class T>
T joined(Reduction reduction, T a, T b) {
    if (reduction == Reduction::sum) return a + b;
    if (reduction == Reduction::product) return a * b;
    bool better = reduction == Reduction::maximum ? a > b : a < b;
    return a != a || better ? a : b;
}

/// Numbers with both zeros, infinities and, in some columns, NaN.
template <class T>
std::vector<T> numbers_to_join(std::int64_t rows, std::int64_t stride, bool nan) {
    std::vector<T> all(static_cast<std::size_t>(rows * stride));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<T>(std::sin(0.37 * static_cast<double>(i)));
        if (i % 3 == 0) all[i] = i % 2 ? T(0) : -T(0);
        if (i % 101 == 50) all[i] = std::numeric_limits<T>::infinity();
        if (nan && i % 57 == 20) all[i] = std::numeric_limits<T>::quiet_NaN();
    }
    return all;
}

template <class T>
bool same_sign(T a, T b) {
    return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace weft::cpu
