// What kernels that walk memory by hand keep running values in, and how extremes are found. Callers: backend/cpu/scatter.cpp, scan.cpp.
#pragma once

#include "weft/backend/cpu/arithmetic.h"
#include "weft/core/dtype.h"

namespace weft::cpu {

/// The larger (smaller); NaN if either is. Not for complex numbers.
template <bool largest, class T>
T joined_extreme(T a, T b) {
    if (a != a) return a;
    if constexpr (largest)
        return b > a || b != b ? b : a;
    else
        return b < a || b != b ? b : a;
}

}  // namespace weft::cpu
