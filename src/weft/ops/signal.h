// Sampled functions: sums of shifted products, interpolation, integrals and derivatives of what is known at points, windows.
// Callers: users.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// How much of a convolution is kept: all places where the two overlap, as many as the longer has, those of whole overlap.
enum class Overlap : std::uint8_t { full, same, valid };
Overlap overlap_named(std::string_view name);  ///< "full", "same", "valid"

/// sum_m a[m] v[n - m] of two vectors.
Tensor convolve(const Operand& a, const Operand& v, Overlap mode = Overlap::full);
/// sum_m a[m + n] conj(v[m]) of two vectors.
Tensor correlate(const Operand& a, const Operand& v, Overlap mode = Overlap::valid);

struct InterpOptions {
    std::optional<double> left = {}, right = {};  ///< outside of xp: where not said fp's first and last number
    std::optional<double> period = {};            ///< of the function, instead
};
/// The broken line through the points (xp, fp) at x; xp rises (with a period it is sorted first). Differentiable in x and fp.
Tensor interp(const Operand& x, const Operand& xp, const Operand& fp, const InterpOptions& options = {});

/// The integral of y along an axis by the trapezoidal rule, for points dx apart or at x (x of y's shape, or one axis of its size).
Tensor trapezoid(const Operand& y, double dx = 1, std::int64_t axis = -1);
Tensor trapezoid(const Operand& y, const Operand& x, std::int64_t axis = -1);

/// d f / d coordinate along an axis, of second order inside (unequal steps: Quarteroni, Sacco & Saleri, "Numerical Mathematics", 10.10) and
/// of edge_order 1 or 2 at the ends, for points `spacing` apart (no axes) or at `spacing` (one axis of f's size).
Tensor differences(const Operand& f, const Operand& spacing, std::int64_t axis, int edge_order = 1);

/// Jumps of more than half a period between neighbours are made up by whole periods. Whole numbers stay whole where the period is whole.
Tensor unwrap(const Operand& x, std::int64_t axis = -1, double period = 6.283185307179586,
              std::optional<double> discont = {});

/// Windows of `count` points, symmetric: Bartlett's triangle, Blackman's, Hann's, Hamming's, Kaiser's (Bessel function of beta).
Tensor bartlett(std::int64_t count, DType dtype = DType::float32);
Tensor blackman(std::int64_t count, DType dtype = DType::float32);
Tensor hanning(std::int64_t count, DType dtype = DType::float32);
Tensor hamming(std::int64_t count, DType dtype = DType::float32);
Tensor kaiser(std::int64_t count, double beta, DType dtype = DType::float32);

}  // namespace weft
