#include "weft/ops/pointwise.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

Tensor inexactly(const Operand& x) { return astype(x, inexact(x.as_tensor().dtype())); }

// The same beside y: a plain number is of y's type, if it can be.
Tensor inexactly(const Operand& x, const Operand& y) {
    bool beside = x.weak() && !y.weak() && x.literal.kind != Kind::complex;
    return beside ? astype(x, inexact(y.tensor.dtype())) : inexactly(x);
}

Tensor no_complex(const Operand& x, std::string_view name) {
    Tensor tensor = x.as_tensor();
    if (is_complex(tensor.dtype()))
        throw DTypeError(text(name, ": complex numbers have no order; x is ", tensor.dtype(), place(x.where)));
    return tensor;
}

}  // namespace

Tensor isclose(const Operand& a, const Operand& b, const Closeness& closeness) {
    LineScope line(a.where);
    Tensor x = inexactly(a, b), y = inexactly(b, a);
    Tensor near = less_equal(abs(x - y), closeness.atol + closeness.rtol * abs(y));
    near = logical_or(logical_and(near, isfinite(y)), equal(x, y));
    return closeness.equal_nan ? logical_or(near, logical_and(isnan(x), isnan(y))) : near;
}

Tensor heaviside(const Operand& x, const Operand& h) {
    LineScope line(x.where);
    Tensor at = no_complex(inexactly(x), "heaviside");
    Tensor step = where(greater(at, 0), ones_like(at), where(less(at, 0), zeros_like(at), at));
    return where(equal(at, 0), h, step);
}

Tensor round(const Operand& x, std::int64_t decimals) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (decimals == 0 || (!is_inexact(tensor.dtype()) && decimals > 0)) return round(x);
    if (is_complex(tensor.dtype()))
        return round(real(tensor), decimals) + round(imag(tensor), decimals) * Operand(std::complex<double>(0, 1));
    double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
    if (!is_inexact(tensor.dtype()))  // to tens: in double precision, exact below 2**53
        return astype(round(astype(tensor, DType::float64) / scale) * scale, tensor.dtype());
    return decimals > 0 ? round(tensor * scale) / scale : round(tensor / scale) * scale;
}

Tensor float_power(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    return pow(Operand(inexactly(a, b), a.where), Operand(inexactly(b, a), b.where));
}

std::pair<Tensor, Tensor> divmod(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    return {floor_divide(a, b), remainder(a, b)};
}

std::pair<Tensor, Tensor> modf(const Operand& x) {
    LineScope line(x.where);
    Tensor tensor = no_complex(inexactly(x), "modf"), whole = trunc(tensor);
    return {where(isinf(tensor), copysign(zeros_like(tensor), tensor), copysign(tensor - whole, tensor)), whole};
}

Tensor ldexp(const Operand& x, const Operand& exponent) {
    LineScope line(x.where);
    Tensor tensor = inexactly(x), power = exponent.as_tensor();
    if (!is_integer(power.dtype()))
        throw DTypeError(text("ldexp: exponents are whole numbers, not ", power.dtype(), place(exponent.where)));
    // In two steps, so that a power beyond the type's range can lead back into it.
    Tensor half = astype(floor_divide(power, 2), tensor.dtype()), rest = astype(power, tensor.dtype()) - half;
    return tensor * exp2(half) * exp2(rest);
}

Tensor angle(const Operand& x) {
    LineScope line(x.where);
    Tensor tensor = inexactly(x);
    if (is_complex(tensor.dtype())) return atan2(imag(tensor), real(tensor));
    return where(isnan(tensor), tensor, where(less(tensor, 0), std::numbers::pi, zeros_like(tensor)));
}

Tensor isposinf(const Operand& x) {
    LineScope line(x.where);
    return equal(no_complex(inexactly(x), "isposinf"), unbounded);
}

Tensor isneginf(const Operand& x) {
    LineScope line(x.where);
    return equal(no_complex(inexactly(x), "isneginf"), -unbounded);
}

Tensor isreal(const Operand& x) {
    LineScope line(x.where);
    return equal(imag(x), 0);
}

Tensor iscomplex(const Operand& x) {
    LineScope line(x.where);
    return not_equal(imag(x), 0);
}

namespace {

Tensor beside(DType other, const Operand& number, std::string_view name) {
    DType dtype = promote_weak(other, number.literal.kind);
    refuse_number(name, number, dtype);
    return number.as(dtype);
}

std::pair<Tensor, Tensor> whole_pair(const Operand& a, const Operand& b, std::string_view name) {
    Tensor x = a.weak() && !b.weak() ? beside(b.tensor.dtype(), a, name) : a.as_tensor();
    Tensor y = b.weak() ? beside(x.dtype(), b, name) : b.tensor;
    DType meet = promote(x.dtype(), y.dtype());
    if (!is_integer(meet)) throw DTypeError(text(name, ": takes whole numbers, not ", meet, place(a.where)));
    return {abs(astype(x, meet)), abs(astype(y, meet))};
}

}  // namespace

Tensor gcd(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    auto [x, y] = whole_pair(a, b, "gcd");
    // Euclid's algorithm, of the remainder nearest to 0: neighbouring Pell numbers need the most steps, 0.7865 a bit. What has no magnitude of its own
    // (the least number, negative still) comes first: what is left of it by the other is a magnitude.
    Tensor least = minimum(x, y);
    y = maximum(x, y), x = least;
    auto steps = static_cast<int>(0.7865 * 8 * static_cast<double>(size_of(x.dtype()))) + 3;
    for (int i = 0; i < steps; ++i) {
        Tensor rest = remainder(x, maximum(y, 1)), next = where(equal(y, 0), x, y);
        y = minimum(rest, y - rest), x = next;
    }
    return x;
}

Tensor lcm(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    auto [x, y] = whole_pair(a, b, "lcm");
    Tensor divisor = gcd(Operand(x, a.where), Operand(y, b.where));
    return floor_divide(x, where(equal(divisor, 0), 1, divisor)) * y;
}

Tensor logaddexp2(const Operand& a, const Operand& b) {
    LineScope line(a.where);
    Tensor x = inexactly(a), y = inexactly(b), larger = maximum(x, y);
    Tensor apart = where(equal(x, y), zeros_like(larger), -abs(x - y));  // of equal infinities, too
    return larger + log1p(exp2(apart)) / std::numbers::ln2;
}

std::pair<Tensor, Tensor> frexp(const Operand& x) {
    LineScope line(x.where);
    Tensor given = no_complex(inexactly(x), "frexp");
    DType dtype = given.dtype(), wide = is_half(dtype) ? DType::float32 : dtype;
    Tensor tensor = astype(given, wide);
    Tensor plain = logical_and(isfinite(tensor), not_equal(tensor, 0));
    // Among the tiny are those without full digits: scaled up first, exactly.
    Tensor tiny = less(abs(tensor), wide == DType::float64 ? 1e-290 : 1e-30);
    Tensor held = where(plain, where(tiny, tensor * 0x1p100, tensor), ones_like(tensor));
    Tensor exponent = floor(log2(abs(held))) + 1;  // a logarithm next to a power of 2 may be rounded to its side
    Tensor half = floor(exponent / 2);
    Tensor part = held * exp2(-half) * exp2(half - exponent);
    Tensor large = greater_equal(abs(part), 1), small = less(abs(part), 0.5);
    part = where(large, part * 0.5, where(small, part * 2, part));
    exponent = exponent + astype(large, wide) - astype(small, wide) - 100 * astype(tiny, wide);
    return {astype(where(plain, part, tensor), dtype),
            astype(where(plain, exponent, zeros_like(exponent)), DType::int32)};
}

Tensor bitwise_count(const Operand& x) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.dtype() == DType::bool_) return astype(tensor, DType::uint8);
    if (!is_integer(tensor.dtype()))
        throw DTypeError(text("bitwise_count: counts the bits of whole numbers, not ", tensor.dtype(), place(x.where)));
    bool is_signed = kind_of(tensor.dtype()) == Kind::signed_integer;
    Tensor bits = astype(is_signed ? abs(tensor) : tensor, DType::uint64);
    if (is_signed && size_of(tensor.dtype()) < 8)  // |the lowest number| is not one of its type: its own bits then
        bits = bitwise_and(bits, (std::int64_t{1} << (8 * size_of(tensor.dtype()))) - 1);
    // Neighbouring counts of 1, 2 and 4 bits are added, then all bytes at once (Warren, "Hacker's Delight", 5-1).
    auto mask = [](std::uint64_t value) { return Tensor(value, DType::uint64); };
    auto shifted = [](const Tensor& value, int by) { return bitwise_right_shift(value, by); };
    bits = bits - bitwise_and(shifted(bits, 1), mask(0x5555555555555555));
    bits = bitwise_and(bits, mask(0x3333333333333333)) + bitwise_and(shifted(bits, 2), mask(0x3333333333333333));
    bits = bitwise_and(bits + shifted(bits, 4), mask(0x0F0F0F0F0F0F0F0F));
    return astype(shifted(bits * mask(0x0101010101010101), 56), DType::uint8);
}

WEFT_RECORD(heaviside, "A step at 0.", "heaviside", "heaviside",
            {{{{3, 4}, {4}}, [](auto x) { return heaviside(floor(x[0]), x[1]); }, "np.heaviside(np.floor(x0), x1)"}})
WEFT_RECORD(
    isclose, "Whether two numbers are nearly the same.", "isclose", "isclose",
    {{{{3, 4}, {4}}, [](auto x) { return isclose(x[0], x[1], {.rtol = 0.5}); }, "np.isclose(x0, x1, rtol=0.5)"}})
WEFT_RECORD(gcd, "The greatest common divisor.", "gcd", "gcd",
            {{{{3, 4}, {4}}, [](auto x) { return gcd(x[0], x[1]); }, "np.gcd(x0, x1)", {DType::int32, DType::int32}}})
WEFT_RECORD(lcm, "The least common multiple.", "lcm", "lcm",
            {{{{3, 4}, {4}},
              [](auto x) { return lcm(remainder(x[0], 97), remainder(x[1], 89)); },
              "np.lcm(x0 % 97, x1 % 89)",
              {DType::int64, DType::int64}}})
WEFT_RECORD(logaddexp2, "log2(2**a + 2**b), without overflow.", "logaddexp2", "logaddexp2",
            {{{{3, 4}, {4}}, [](auto x) { return logaddexp2(x[0], x[1]); }, "np.logaddexp2(x0 * 1.0, x1 * 1.0)"}})
WEFT_RECORD(frexp, "The fraction of a number that is one by a power of 2.", "frexp", "frexp",
            {{{{3, 4}}, [](auto x) { return frexp(x[0]).first; }, "np.frexp(x0)[0]"}})
WEFT_RECORD(modf, "The fraction of a number.", "modf", "",
            {{{{3, 4}}, [](auto x) { return modf(x[0]).first; }, "np.modf(x0)[0]"}})

}  // namespace weft
