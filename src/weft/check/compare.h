// Where two arrays differ, in words. Callers: check/, tests.
#pragma once

#include <string>

#include "weft/core/array.h"

namespace weft {

/// Dtype, shape and every bit; NaN equals NaN whatever its sign and payload. Empty if nothing differs, else the first difference.
std::string difference(const Array& expected, const Array& found);
/// Dtype and shape exactly, each inexact number within `absolute` + `relative` * |expected| (infinities and NaN exactly),
/// others exactly.
std::string difference(const Array& expected, const Array& found, double absolute, double relative);

/// The distance from 1 to the next number of the type (of its real type); 0 for types that are exact.
double epsilon_of(DType dtype);
/// The numbers as double, row-major (of complex numbers: real and imaginary parts in turn).
std::vector<double> as_doubles(const Array& array);

}  // namespace weft
