// The records of arithmetic.inc become operations here.
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

// Of complex numbers: d|z| = Re(conj(z) dz) / |z|, and 0 at 0.
Tensor jvp_modulus(const Tensor& result, std::span<const Tensor> tangents) {
    return real(conj(input_of(result)) * tangents[0]) / where(result == 0, 1, result);
}
Tensor transpose_modulus(const Tensor& result, std::size_t, const Tensor& cotangent) {
    return cotangent / where(result == 0, 1, result) * conj(input_of(result));
}
// With s = z / |z|: ds = (dz - s^2 conj(dz)) / (2 |z|), and 0 at 0.
Tensor jvp_direction(const Tensor& result, std::span<const Tensor> tangents) {
    Tensor size = abs(input_of(result));
    Tensor scale = where(size == 0, 0, 0.5 / where(size == 0, 1, size));
    return (tangents[0] - square(result) * conj(tangents[0])) * scale;
}

}  // namespace

#include "weft/ops/arithmetic.inc"

}  // namespace weft
