#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

/// x^a e^-x / gamma(a + 1), by what x differs from a, so that nothing large cancels.
Wide prefix(Wide a, Wide x) {
    return std::exp(a * log1p_less((x - a) / a, x / a) - stirling_rest(a)) / std::sqrt(2 * wide_pi * a);
}

/// a < 1, x small: x^a / gamma(a + 1) is near 1, so its distance from 1 is what is computed.
Tails near_zero(Wide a, Wide x) {
    Wide sum = 0, term = 1;
    for (int n = 1; n < 100; ++n) {
        term *= -x / n;
        sum += term / (a + n);
        if (std::abs(term) < wide_epsilon * std::abs(sum) / 4) break;
    }
    Wide exponent = a * std::log(x) - lgamma1p(a), power = std::exp(exponent);
    return {power * (1 + a * sum), -(std::expm1(exponent) + power * a * sum)};
}

Tails incomplete_by_series(Wide a, Wide x) {
    Wide scale = prefix(a, x), sum = 1, term = 1;
    for (int n = 1; scale > 0 && n < most_steps && term > wide_epsilon * sum / 4; ++n) sum += term *= x / (a + n);
    Wide lower = scale * sum;
    return {lower, 1 - lower};
}

Tails incomplete_by_fraction(Wide a, Wide x) {
    Wide scale = prefix(a, x) * a;
    if (scale == 0) return {1, 0};
    Wide fraction = continued_fraction(x + 1 - a, [&](int k) { return Fraction{-k * (k - a), x + 2 * k + 1 - a}; });
    Wide upper = scale / fraction;
    return {1 - upper, upper};
}

/// a large: erfc and the first two terms of what it lacks (Temme, 1979), of a variable that is small where neither tail is 0.
Tails by_expansion(Wide a, Wide x) {
    Wide u = (x - a) / a, half_square = -log1p_less(u, x / a);  // eta^2 / 2
    if (half_square * a > 12000) return u < 0 ? Tails{0, 1} : Tails{1, 0};
    Wide eta = std::copysign(std::sqrt(2 * half_square), u);
    Wide first = -1 / 3.0L +
                 eta * (1 / 12.0L +
                        eta * (-2 / 135.0L +
                               eta * (1 / 864.0L + eta * (1 / 2835.0L + eta * (-139 / 777600.0L + eta / 25515.0L)))));
    Wide second = -1 / 540.0L + eta * (-1 / 288.0L + eta * (1 / 378.0L - eta * 77 / 77760.0L));
    Wide rest = std::exp(-half_square * a) / std::sqrt(2 * wide_pi * a) * (first + second / a);
    Wide t = eta * std::sqrt(a / 2);
    return {std::erfc(-t) / 2 - rest, std::erfc(t) / 2 + rest};
}

/// 0 < a, 0 < x, both finite.
Tails tails(Wide a, Wide x) {
    if (a > 1e6L) return by_expansion(a, x);
    if (a < 1 && x < 1.1L) return near_zero(a, x);
    return x < a + (a < 1 ? 0 : 1) ? incomplete_by_series(a, x) : incomplete_by_fraction(a, x);
}

/// The value where a tail is 0 or 1, or none is defined; false where there is something to compute.
bool at_the_edge(double a, double x, Tails& value) {
    bool undefined = !(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x));
    if (undefined)
        value = {nan, nan};
    else if (x == 0 || std::isinf(a))
        value = {0, 1};
    else if (a == 0 || std::isinf(x))
        value = {1, 0};
    else
        return false;
    return true;
}

/// The x whose tail is p or q, of which the smaller one is given to full accuracy: solved in log(x), of the tail's logarithm.
double inverse(Wide a, Wide p, Wide q) {
    bool lower = p <= q;
    Wide low = (std::log(p) + lgamma1p(a)) / a;  // for P(a, x) <= x^a / gamma(a + 1)
    if (low < -11000) return 0;
    Wide high = std::log(a + 60 * std::sqrt(a) + 1500), least = lower ? p : q;
    Wide t = root_of_growing(
        [&](Wide t) {
            Wide x = std::exp(t);
            auto [below, above] = tails(a, x);
            Wide part = lower ? below : above, ratio = std::log(part / least);
            return ValueAndSlope{lower ? ratio : -ratio, prefix(a, x) * a / part};
        },
        low - 1e-15L * (1 + std::abs(low)), high,
        lower   ? low
        : a > 1 ? std::log(a)
                : (low + high) / 2);
    return static_cast<double>(std::exp(t));
}

}  // namespace

double gammainc(double a, double x) {
    Tails value;
    if (!at_the_edge(a, x, value)) value = tails(a, x);
    return static_cast<double>(value.lower);
}

double gammaincc(double a, double x) {
    Tails value;
    if (!at_the_edge(a, x, value)) value = tails(a, x);
    return static_cast<double>(value.upper);
}

double gammaincinv(double a, double p) {
    if (!(a >= 0 && p >= 0 && p <= 1) || std::isinf(a)) return nan;
    if (p == 0 || p == 1) return p == 0 ? 0 : infinity;
    return a == 0 ? nan : inverse(a, p, 1 - static_cast<Wide>(p));
}

double gammainccinv(double a, double q) {
    if (!(a >= 0 && q >= 0 && q <= 1) || std::isinf(a)) return nan;
    if (q == 0 || q == 1) return q == 1 ? 0 : infinity;
    return a == 0 ? nan : inverse(a, 1 - static_cast<Wide>(q), q);
}

}  // namespace weft::iterated
