// Functions at each point that are made of elementwise operations, by NumPy's names. Callers: users.
#pragma once

#include <utility>

#include "weft/graph/operation.h"

namespace weft {

struct Closeness {
    double rtol = 1e-5, atol = 1e-8;
    bool equal_nan = false;
};
/// |a - b| <= atol + rtol |b|; infinities are close to themselves alone, NaN to nothing (with equal_nan: to NaN).
Tensor isclose(const Operand& a, const Operand& b, const Closeness& closeness = {});
/// 0 below 0, h at 0, 1 above; NaN of NaN.
Tensor heaviside(const Operand& x, const Operand& h);
/// To this many decimals, halves to the even digit (computed as round(x * 10**decimals) / 10**decimals); negative ones: tens, hundreds...
Tensor round(const Operand& x, std::int64_t decimals);
/// a**b in floating numbers of at least float32 whatever a and b are.
Tensor float_power(const Operand& a, const Operand& b);
/// (floor_divide(a, b), remainder(a, b)), (fraction, whole part) both with the sign of x.
std::pair<Tensor, Tensor> divmod(const Operand& a, const Operand& b);
std::pair<Tensor, Tensor> modf(const Operand& x);
/// x * 2**exponent.
Tensor ldexp(const Operand& x, const Operand& exponent);
/// The angle of a complex number in radians; of a real one 0 or pi.
Tensor angle(const Operand& x);
Tensor isposinf(const Operand& x);
Tensor isneginf(const Operand& x);
/// Whether the imaginary part is 0, or is not.
Tensor isreal(const Operand& x);
Tensor iscomplex(const Operand& x);
/// The greatest common divisor and the least common multiple of |a| and |b|, whole numbers; gcd(0, 0) is 0.
Tensor gcd(const Operand& a, const Operand& b);
Tensor lcm(const Operand& a, const Operand& b);
/// log2(2**a + 2**b), without overflow.
Tensor logaddexp2(const Operand& a, const Operand& b);
/// (m, e) with x = m * 2**e, |m| in [0.5, 1), e int32; of 0, infinities and NaN m is x and e 0.
std::pair<Tensor, Tensor> frexp(const Operand& x);
/// How many bits of |x| are set: uint8.
Tensor bitwise_count(const Operand& x);

}  // namespace weft
