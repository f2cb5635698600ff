#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

/// x^-s by the type's own power, ten times as fast as the wide one: what x loses as a double is put right to first order.
Wide inverse_power(Wide x, Wide s) {
    double near = static_cast<double>(x);
    return std::pow(near, static_cast<double>(-s)) * (1 - s * (x - near) / near);
}

/// q > 0: ten terms, the rest by Euler and Maclaurin's formula.
Wide zeta_positive(Wide s, Wide q) {
    constexpr int terms = 10;
    constexpr Wide bernoulli[] = {1 / 6.0L,       -1 / 30.0L, 1 / 42.0L,      -1 / 30.0L,     5 / 66.0L,
                                  -691 / 2730.0L, 7 / 6.0L,   -3617 / 510.0L, 43867 / 798.0L, -174611 / 330.0L};
    Wide sum = 0, n = q + terms, power = inverse_power(n, s);
    for (int k = 0; k < terms; ++k) sum += inverse_power(q + k, s);
    sum += power * (n / (s - 1) + 0.5L);
    Wide factor = s * power / n;  // s (s + 1) ... (s + 2k - 2) n^(1 - s - 2k) / (2k)!, less the 2
    int even = 2;
    for (Wide number : bernoulli) {
        Wide term = factor * number / 2;
        sum += term;
        if (!(std::abs(term) > wide_epsilon * sum)) break;
        factor *= (s + even - 1) / (even + 1) * ((s + even) / (even + 2)) / (n * n);
        even += 2;
    }
    return sum;
}

}  // namespace

double zeta(double s, double q) {
    if (std::isnan(s) || std::isnan(q) || s < 1) return nan;
    if (s == 1) return infinity;
    if (std::isinf(s)) return q > 1 ? 0 : q == 1 ? 1 : q > 0 ? infinity : nan;
    if (q > 0) return std::isinf(q) ? 0 : static_cast<double>(zeta_positive(s, q));
    if (q == std::floor(q)) return infinity;
    if (s != std::floor(s)) return nan;
    // The sum over all whole numbers, less the part below q: r is the distance of q to the nearest whole number.
    Wide r = q - std::round(static_cast<Wide>(q)), sign = std::fmod(s, 2) == 0 ? 1 : -1;
    Wide all = inverse_power(r, s) + zeta_positive(s, 1 + r) + sign * zeta_positive(s, 1 - r);
    return static_cast<double>(all - sign * zeta_positive(s, 1 - static_cast<Wide>(q)));
}

}  // namespace weft::iterated
