#include "weft/kernel/special.h"

#include <cmath>
#include <limits>

namespace weft::special {
namespace {

constexpr double pi = 3.14159265358979323846;

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
    return std::log(x) - 0.5 / x - series;
}

/// Near its root x0 = 1.4616... the value is small beside its terms: Newton's identity psi(x) ~ (x - x0) needs a series of its own.
/// Taylor around the root through the polygamma values there.
double digamma_near_root(double x) {
    constexpr double root_high = 1.4616321449683622, root_low = 9.549995429965697e-17;
    constexpr double taylor[] = {
        // (-1)^(k+1) zeta(k + 1, root)
        0.9676722454476212,   -0.4427631689835921,   0.258499760955651,    -0.16394270544240652, 0.10782405069126237,
        -0.07219956125645471, 0.04880428816414311,   -0.03316112647484736, 0.022597648232218104, -0.01542476590494896,
        0.010538791616612175, -0.007204534386356869, 0.004926781395729853, -0.003369801655439328};
    double d = (x - root_high) - root_low, sum = 0;
    for (int i = 13; i >= 0; --i) sum = sum * d + taylor[i];
    return sum * d;
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
        return digamma(1 - x) - pi / std::tan(pi * fraction);
    }
    if (std::fabs(x - 1.4616321449683622) < 0.05) return digamma_near_root(x);
    double below = 0;
    for (; x < 10; x += 1) below += 1 / x;
    return digamma_large(x) - below;
}

double erfinv(double x) {
    if (!(std::fabs(x) < 1)) {
        if (std::fabs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (x == 0) return x;
    double magnitude = std::fabs(x);
    // A start within a few percent (Winitzki, 2008), then Halley's method, which triples the correct digits.
    double logarithm = std::log1p(-magnitude * magnitude), half = 2 / (pi * 0.147) + logarithm / 2;
    double y = std::sqrt(std::sqrt(half * half - logarithm / 0.147) - half);
    if (magnitude < 1e-3) y = magnitude * std::sqrt(pi) / 2;
    for (int i = 0; i < 3; ++i) {
        double error = magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
        double step = error / (2 / std::sqrt(pi) * std::exp(-y * y));
        y -= step / (1 + y * step);
    }
    return std::copysign(y, x);
}

}  // namespace weft::special
