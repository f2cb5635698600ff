// Fourier transforms, with the names and arguments of the array API's fft extension (2024.12) and NumPy's fft2 family. float32 becomes
// complex64, float64 complex128; bool and integers are taken as float32, half types are a DTypeError. `n` (`s`): the number of points,
// to which the input is cropped or padded with zeros at its end; without it, the size of the axis. Sizes along transformed axes must be
// known. A primitive transforms one axis, two others take real numbers to half of their transform and back; everything is made of these and
// of views, so derivatives follow, where weft has derivatives of complex values.
// Callers: everyone.
#pragma once

#include <optional>

#include "weft/graph/operation.h"

namespace weft::fft {

/// Where the factor 1 / n stands: at the inverse, as 1 / sqrt(n) at both, or at the forward transform.
enum class Norm : std::uint8_t { backward, ortho, forward };
/// "backward", "ortho", "forward"; ValueError for others.
Norm norm_named(std::string_view name);

using Points = std::optional<std::int64_t>;
using Sizes = std::optional<Dims>;

/// X_k = sum over j of x_j exp(-2 pi i j k / n); ifft with the other sign, over n.
Tensor fft(const Operand& x, Points n = {}, std::int64_t axis = -1, Norm norm = Norm::backward);
Tensor ifft(const Operand& x, Points n = {}, std::int64_t axis = -1, Norm norm = Norm::backward);
/// Along axes one after another (default: the last ones, as many as `s` has, or all). A size of -1 is the axis' own.
Tensor fftn(const Operand& x, const Sizes& s = {}, const std::optional<Axes>& axes = {}, Norm norm = Norm::backward);
Tensor ifftn(const Operand& x, const Sizes& s = {}, const std::optional<Axes>& axes = {}, Norm norm = Norm::backward);
/// Of real x: the first n/2 + 1 points, of which the others are conjugates; n-d: the last of the axes is halved. irfft takes them back
/// to n (default: 2 (m - 1) of m) real points.
Tensor rfft(const Operand& x, Points n = {}, std::int64_t axis = -1, Norm norm = Norm::backward);
Tensor irfft(const Operand& x, Points n = {}, std::int64_t axis = -1, Norm norm = Norm::backward);
Tensor rfftn(const Operand& x, const Sizes& s = {}, const std::optional<Axes>& axes = {}, Norm norm = Norm::backward);
Tensor irfftn(const Operand& x, const Sizes& s = {}, const std::optional<Axes>& axes = {}, Norm norm = Norm::backward);
/// Of what is Hermitian in time, so real in frequency: half of the time points to n frequencies, and back.
Tensor hfft(const Operand& x, Points n = {}, std::int64_t axis = -1, Norm norm = Norm::backward);
Tensor ihfft(const Operand& x, Points n = {}, std::int64_t axis = -1, Norm norm = Norm::backward);
/// NumPy's: the n-d ones over the last two axes.
Tensor fft2(const Operand& x, const Sizes& s = {}, const Axes& axes = {-2, -1}, Norm norm = Norm::backward);
Tensor ifft2(const Operand& x, const Sizes& s = {}, const Axes& axes = {-2, -1}, Norm norm = Norm::backward);
Tensor rfft2(const Operand& x, const Sizes& s = {}, const Axes& axes = {-2, -1}, Norm norm = Norm::backward);
Tensor irfft2(const Operand& x, const Sizes& s = {}, const Axes& axes = {-2, -1}, Norm norm = Norm::backward);

/// The frequencies of fft's (rfft's) points, in cycles by the unit of the spacing d: 0, 1, ..., -2, -1 over n d.
Tensor fftfreq(std::int64_t n, double d = 1, DType dtype = DType::float32);
Tensor rfftfreq(std::int64_t n, double d = 1, DType dtype = DType::float32);
/// Frequency 0 into the middle of the axes (default: all), and back.
Tensor fftshift(const Operand& x, const std::optional<Axes>& axes = {});
Tensor ifftshift(const Operand& x, const std::optional<Axes>& axes = {});

}  // namespace weft::fft

namespace weft {

/// A transform along one axis, times a factor.
struct FourierAttributes {
    std::int64_t axis = 0;
    bool inverse = false;  // the sign of the exponent: +
    double factor = 1;
    std::int64_t points = 0;  // of the real numbers, where they are real
    template <class V>
    void members(V& visit) {
        visit("axis", axis), visit("inverse", inverse), visit("factor", factor), visit("points", points);
    }
};
/// Complex numbers to as many; n real ones to n/2 + 1; and back, the other points being conjugates of these, with either sign.
extern const Operation fourier_operation, real_fourier_operation, fourier_real_operation;

}  // namespace weft
