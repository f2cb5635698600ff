// The columns of the matrix that are about derivatives, in float64. Callers: check/check.cpp.
#pragma once

#include "weft/check/check.h"

namespace weft {

bool has_derivative(const Operation& operation);

/// jvp = central differences; <u, J v> = <J' u, v>.
Failures check_derivatives(const Operation& operation);
/// The same of the gradient: its jvp = its differences, and the Hessian is symmetric.
Failures check_second_derivatives(const Operation& operation);
/// Both of complex numbers, where a direction and a cotangent are paired by Re(c dz).
Failures check_complex_derivatives(const Operation& operation);
/// A derivative that does not exist is NotDifferentiable by name; of integers it is 0.
Failures check_missing_derivative(const Operation& operation);

}  // namespace weft
