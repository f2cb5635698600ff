// The records of special.inc, and what several of them share.
#include "weft/ops/special.h"

#include "weft/kernel/special.h"
#include "weft/ops/creation.h"

namespace weft::special {
namespace {

constexpr double normal_density = 0.3989422804014327;  // 1 / sqrt(2 pi)

[[noreturn]] Scalar unknown(std::string_view operation, std::string_view parameter) {
    throw NotDifferentiable(
        text(operation, ": its derivative in ", parameter, " is not known; hold that constant with stop_gradient"));
}

/// The probability of more than x: erfc(x / sqrt(2)) / 2, with what the quotient loses added by erfc's slope.
Scalar normal_tail(Scalar x) {
    bool wide = x.dtype() == DType::float64;
    double root = wide ? 0x1.6a09e667f3bcdp-1 : 0x1.6a09e6p-1, rest = wide ? -0x1.bdd3413b26456p-55 : 0x1.9fcef4p-27;
    Scalar t = x * root, lost = fma(x, root, -t) + x * rest;
    Scalar slope = 2 * std::numbers::inv_sqrtpi * exp(-t * t), correction = select(slope == 0, 0, slope * lost);
    return 0.5 * (erfc(t) - correction);
}

/// log(ndtr(x)): of the tail where x is large, of erfcx where it is small.
Scalar log_normal(Scalar x) {
    Scalar near = log1p(-normal_tail(max(x, -1)));
    Scalar low = min(x, 0), far = log(0.5 * functions::erfcx(-std::numbers::sqrt2 / 2 * low)) - 0.5 * low * low;
    return select(x < -1, far, near);
}

/// The x with log_normal(x) = y: ndtri(exp(y)), and Newton's steps on the logarithm where exp(y) is small.
Scalar inverse_log_normal(Scalar y) {
    Scalar near = std::numbers::sqrt2 * functions::erfcinv(-2 * expm1(max(y, -1)));
    Scalar low = min(y, -1), square = -2 * low, x = -sqrt(max(square - log(max(square, 2) * std::numbers::pi * 2), 0));
    x = select(low > -4, -std::numbers::sqrt2 * functions::erfcinv(2 * exp(max(low, -5))), x);
    for (int step = 0; step < 3; ++step) {
        Scalar scaled = functions::erfcx(-std::numbers::sqrt2 / 2 * x);
        Scalar excess = log(0.5 * scaled) - 0.5 * x * x - low;
        Scalar next = x - excess * scaled / (2 * normal_density);
        x = select(low == -std::numeric_limits<double>::infinity(), low, next);
    }
    Scalar value = select(y < -1, x, near);
    return select(y == y, value, y);
}

/// log(a / b), without loss where a is near b.
Scalar log_ratio(Scalar a, Scalar b) {
    Scalar ratio = a / b, within = (0.5 < ratio) & (ratio < 2);
    Scalar extreme = (ratio == 0) | (ratio == std::numeric_limits<double>::infinity());
    return select(within, log1p((a - b) / b), select(extreme, log(a) - log(b), log(ratio)));
}

/// `value` where a and b are positive, `at_zero` where a is 0 and b is not negative, else infinity; NaN of NaN.
Scalar relative_entropy(Scalar a, Scalar b, Scalar value, Scalar at_zero) {
    Scalar other = select((a == a) & (b == b), std::numeric_limits<double>::infinity(), a + b);
    other = select((a == 0) & (0 <= b), at_zero, other);
    return select((0 < a) & (0 < b), value, other);
}

/// a log(a / b) - a + b = a (u - log(1 + u)) with u = (b - a) / a; for a small u without the loss of u itself, as
/// u^2 / (2 + u) less the rest of the series of 2 atanh(y), y = u / (2 + u).
Scalar divergence(Scalar a, Scalar b) {
    Scalar u = (b - a) / a, near = max(min(u, 1), -0.5), y = near / (2 + near), z = y * y, rest = 2.0 / 35;
    for (int k = 33; k >= 3; k -= 2) rest = rest * z + 2.0 / k;
    Scalar small = near * near / (2 + near) - rest * z * y;
    Scalar excess = select(abs(u) < 0.5, small, log_ratio(a, b) + u);  // where b is far smaller, 1 + u has lost it
    return select(abs(u) == std::numeric_limits<double>::infinity(), a * log_ratio(a, b) - a + b, a * excess);
}

/// (exp(x) - 1) / x; far out in two factors, for exp(x) may be no number where this is one.
Scalar relative_exponential(Scalar x) {
    Scalar half = exp(0.5 * x), near = expm1(x) / x, far = half / x * half;
    Scalar itself = (x == 0) | (x == std::numeric_limits<double>::infinity());
    return select(itself, 1 + x, select(50 < x, far, near));
}

/// The derivative of gammainc(a, x) in x.
Scalar gamma_density(Scalar a, Scalar x) { return exp((a - 1) * log(x) - x - lgamma(a)); }
/// The derivative of betainc(a, b, x) in x.
Scalar beta_density(Scalar a, Scalar b, Scalar x) {
    return exp((a - 1) * log(x) + (b - 1) * log1p(-x) - functions::betaln(a, b));
}

/// polygamma(n, x) = (-1)^(n + 1) n! zeta(n + 1, x) for n >= 1 (Abramowitz & Stegun 6.4.10).
Scalar derivative_of_digamma(Scalar n, Scalar x) {
    Scalar size = functions::gamma(n + 1) * functions::zeta(n + 1, x), half = 0.5 * n;
    Scalar value = select(floor(half) == half, -size, size);
    value = select(floor(n) == n, value, std::numeric_limits<double>::quiet_NaN());
    return select(n == 0, digamma(x), value);
}

/// The derivative of spence, log(x) / (1 - x); near 1 by log(x) = 2 atanh(u / (2 + u)), u = x - 1.
Scalar slope_of_spence(Scalar x) {
    Scalar u = x - 1, y = u / (2 + u), z = y * y, series = 1.0 / 19;
    for (int k = 17; k >= 1; k -= 2) series = series * z + 1.0 / k;
    return select(abs(u) < 0.25, -2 / (2 + u) * series, -log(x) / u);
}

/// sin(pi x), exact at whole numbers.
Scalar sine_of_half_turns(Scalar x) {
    Scalar nearest = round(x), half = 0.5 * nearest, value = sin(std::numbers::pi * (x - nearest));
    Scalar endless = abs(x) == std::numeric_limits<double>::infinity();
    return select(x == 0, 1, select(endless, 0, select(floor(half) == half, value, -value)));
}

/// The derivative of sin(pi x) / (pi x), whose value is y; near 0 by the series.
Scalar slope_of_sinc(Scalar x, Scalar y) {
    Scalar u = std::numbers::pi * x, z = u * u;
    Scalar series =
        u * (-1.0 / 3 +
             z * (1.0 / 30 + z * (-1.0 / 840 + z * (1.0 / 45360 + z * (-1.0 / 3991680 + z * (1.0 / 518918400))))));
    Scalar far = (cos(u) - y) / select(x == 0, 1, x);
    return select(abs(x) < 0.1, std::numbers::pi * series, far);
}

/// The derivative of (exp(x) - 1) / x, whose value is y; near 0 by the series of x^k (k + 1) / (k + 2)!.
Scalar slope_of_exprel(Scalar x, Scalar y) {
    double factorial = 1;
    for (int k = 2; k <= 16; ++k) factorial *= k;
    Scalar series = 15 / factorial;
    for (int k = 13; k >= 0; --k) {
        factorial /= k + 3;
        series = series * x + (k + 1) / factorial;
    }
    return select(abs(x) < 0.5, series, (exp(x) - y) / select(x == 0, 1, x));
}

}  // namespace

#include "weft/ops/special.inc"

Tensor multigammaln(const Operand& a, std::int64_t d) {
    if (d < 1) throw ValueError(text("multigammaln: the dimension must be 1 or more, not ", d, place(a.where)));
    Tensor sum = lgamma(a);
    for (std::int64_t j = 1; j < d; ++j) sum = sum + lgamma(subtract(a, 0.5 * static_cast<double>(j)));
    double dimension = static_cast<double>(d);
    return sum + std::log(std::numbers::pi) * dimension * (dimension - 1) / 4;
}

}  // namespace weft::special
