#include "weft/kernel/special.h"

#include <cmath>
#include <iterator>
#include <limits>

#include "weft/kernel/coefficients.h"
#include "weft/kernel/function.h"

namespace weft::special {
namespace {

constexpr double pi = 3.14159265358979323846;

/// weft's own function of one number, so that these have the same bits everywhere too.
double own(const Function& function, double x) { return function.f64(&x); }

/// psi(x) for x >= 10: log x - 1/2x - sum of Bernoulli numbers B(2k) / (2k x^2k).
double digamma_large(double x) {
    double inverse = 1 / (x * x);
    double series =
        inverse *
        (1.0 / 12 -
         inverse * (1.0 / 120 -
                    inverse * (1.0 / 252 -
                               inverse * (1.0 / 240 -
                                          inverse * (1.0 / 132 - inverse * (691.0 / 32760 - inverse * (1.0 / 12)))))));
    return own(log_function, x) - 0.5 / x - series;
}

/// psi(x) for 1 <= x <= 2: the distance from its root 1.46163..., where the value is small beside the terms of any sum, times a
/// polynomial.
double digamma_near_root(double x) {
    double d = x - 1.5, sum = 0;
    for (std::size_t i = std::size(elementary::DigammaNear<double>::c); i-- > 0;) {
        sum = std::fma(sum, d, elementary::DigammaNear<double>::c[i]);
    }
    return ((x - elementary::digamma_root[0]) - elementary::digamma_root[1]) * sum;
}

}  // namespace

double lgamma(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

double digamma(double x) {
    if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
    if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
    if (x < 0) {
        if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
        double fraction = x - std::nearbyint(x);
        return digamma(1 - x) - pi / own(tan_function, pi * fraction);
    }
    if (x >= 10) return digamma_large(x);
    if (x < 1) return digamma_near_root(x + 1) - 1 / x;
    double above = 0;
    for (; x > 2; x -= 1) above += 1 / (x - 1);
    return above + digamma_near_root(x);
}

double erfinv(double x) {
    if (!(std::fabs(x) < 1)) {
        if (std::fabs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (x == 0) return x;
    double magnitude = std::fabs(x);
    // A start within a few percent (Winitzki, 2008), then Halley's method, which triples the correct digits.
    double logarithm = own(log1p_function, -magnitude * magnitude), half = 2 / (pi * 0.147) + logarithm / 2;
    double y = std::sqrt(std::sqrt(half * half - logarithm / 0.147) - half);
    if (magnitude < 1e-3) y = magnitude * std::sqrt(pi) / 2;
    for (int i = 0; i < 3; ++i) {
        double error = magnitude < 0.5 ? own(erf_function, y) - magnitude : (1 - magnitude) - own(erfc_function, y);
        double step = error / (2 / std::sqrt(pi) * own(exp_function, -y * y));
        y -= step / (1 + y * step);
    }
    return std::copysign(y, x);
}

}  // namespace weft::special
