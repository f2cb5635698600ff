#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

constexpr Wide euler = std::numbers::egamma_v<Wide>;

/// The sum of x^k / (k k!) over k >= 1: what Ei(x) is beside euler + log|x| (Abramowitz & Stegun 5.1.10, 5.1.11).
Wide entire_part(Wide x) {
    Wide sum = 0, term = 1;
    for (int k = 1; k < most_steps; ++k) {
        term *= x / k;
        sum += term / k;
        if (std::abs(term) < wide_epsilon * std::abs(sum) / 4) break;
    }
    return sum;
}

/// E_n(x), x > 1, by the continued fraction of Abramowitz & Stegun 5.1.22, contracted.
Wide by_fraction(Wide n, Wide x) {
    Wide scale = std::exp(-x);
    if (scale == 0) return 0;
    return scale / continued_fraction(x + n, [&](int k) { return Fraction{-k * (n - 1 + k), x + n + 2 * k}; });
}

/// E_n(x), 0 < x <= 1, whole n >= 1, by Abramowitz & Stegun 5.1.12: the sum of (-x)^k / (k! (n - 1 - k)), but for k = n - 1, in whose place
/// stands a logarithm.
Wide by_series(Wide n, Wide x) {
    Wide sum = 0, power = 1, harmonic = -euler;  // (-x)^k / k!; digamma(k + 1)
    for (int k = 0; k < most_steps; ++k) {
        Wide term = power * (k == n - 1 ? harmonic - std::log(x) : 1 / (n - 1 - k));
        sum += term;
        // n large: the terms have vanished before k gets there.
        if (k >= 2 && std::abs(power) < wide_epsilon * std::abs(sum) / 64) break;
        power *= -x / (k + 1);
        harmonic += 1 / static_cast<Wide>(k + 1);
    }
    return sum;
}

/// Ei(x), x large: e^x / x times the sum of k! / x^k, up to its smallest term.
Wide by_expansion(Wide x) {
    Wide sum = 1, term = 1;
    for (int k = 1; k < x && term > wide_epsilon / 4; ++k) sum += term *= k / x;
    return std::exp(x) / x * sum;
}

}  // namespace

double exp1(double x) { return expn(1, x); }

double expi(double x) {
    if (std::isnan(x)) return nan;
    if (x <= 0) return -expn(1, -x);
    if (std::isinf(x)) return infinity;
    return static_cast<double>(x > 50 ? by_expansion(x) : euler + std::log(static_cast<Wide>(x)) + entire_part(x));
}

double expn(double n, double x) {
    if (!(n >= 0 && x >= 0) || n != std::floor(n) || std::isinf(n)) return nan;
    if (x == 0) return n > 1 ? 1 / (n - 1) : infinity;
    if (std::isinf(x)) return 0;
    Wide at = x;
    if (n == 0) return static_cast<double>(std::exp(-at) / at);
    return static_cast<double>(x > 1 ? by_fraction(n, at) : by_series(n, at));
}

}  // namespace weft::iterated
