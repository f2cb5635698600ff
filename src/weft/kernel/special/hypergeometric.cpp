#include <algorithm>
#include <initializer_list>

#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

/// The product of gamma over `over`, divided by that over `under`; 0 where one of these has a pole.
Wide gammas(std::initializer_list<Wide> over, std::initializer_list<Wide> under) {
    Wide sum = 0;
    bool negative = false;
    for (Wide z : under) {
        if (gamma_has_pole(z)) return 0;
        sum -= std::lgamma(z), negative ^= gamma_is_negative(z);
    }
    for (Wide z : over) {
        if (gamma_has_pole(z)) return nan;
        sum += std::lgamma(z), negative ^= gamma_is_negative(z);
    }
    return negative ? -std::exp(sum) : std::exp(sum);
}

/// Abramowitz & Stegun 15.1.1
Wide series(Wide a, Wide b, Wide c, Wide z) {
    Wide sum = 1, term = 1;
    for (int k = 0; k < most_steps; ++k) {
        if (a + k == 0 || b + k == 0) return sum;  // a polynomial, whatever c is
        Wide factor = (a + k) / (c + k) * ((b + k) / (k + 1)) * z;
        term *= factor;
        sum += term;
        bool small = std::abs(term) <= wide_epsilon * std::abs(sum) / 8;
        if (small && std::abs(factor) < 1) return sum;
        if (!std::isfinite(sum)) return sum;
    }
    return nan;
}

/// By two series in 1 - z (15.3.6); s = c - a - b is no whole number.
Wide by_complement(Wide a, Wide b, Wide c, Wide rest) {
    Wide s = c - a - b;
    return gammas({c, s}, {c - a, c - b}) * series(a, b, 1 - s, rest) +
           std::pow(rest, s) * gammas({c, -s}, {a, b}) * series(c - a, c - b, 1 + s, rest);
}

/// 0 <= z < 1, rest = 1 - z.
Wide within(Wide a, Wide b, Wide c, Wide z, Wide rest) {
    if (z <= 0.9L) return series(a, b, c, z);
    Wide s = c - a - b;
    if (std::abs(s - std::round(s)) > 1e-4L) return by_complement(a, b, c, rest);
    // The two parts are infinite and cancel: their sum, even in a step of c, from three steps to none (Richardson, 1911).
    auto around = [&](Wide h) { return (by_complement(a, b, c + h, rest) + by_complement(a, b, c - h, rest)) / 2; };
    constexpr Wide h = 0x1p-11L;
    Wide one = around(h), two = around(2 * h), four = around(4 * h);
    Wide finer = (4 * one - two) / 3, coarser = (4 * two - four) / 3;
    return (16 * finer - coarser) / 15;
}

bool ends(Wide a) { return gamma_has_pole(a); }

}  // namespace

double hyp2f1(double a, double b, double c, double z) {
    if (!(std::isfinite(a) && std::isfinite(b) && std::isfinite(c) && std::isfinite(z))) return nan;
    if (std::abs(a) > std::abs(b)) std::swap(a, b);
    bool polynomial = ends(a) || ends(b);
    if (z == 0) return 1;
    if (ends(c) && !(ends(a) && a >= c) && !(ends(b) && b >= c)) return infinity;
    Wide s = static_cast<Wide>(c) - a - b, rest = 1 - static_cast<Wide>(z);
    if (polynomial && std::min(ends(a) ? -a : infinity, ends(b) ? -b : infinity) <= most_steps)
        return static_cast<double>(series(a, b, c, z));
    if (z > 1) return nan;
    if (z == 1)
        return s > 0 ? static_cast<double>(gammas({c, s}, {static_cast<Wide>(c) - a, static_cast<Wide>(c) - b}))
                     : infinity;
    if (z > 0) return static_cast<double>(within(a, b, c, z, rest));
    return static_cast<double>(std::pow(rest, -static_cast<Wide>(a)) *
                               within(a, static_cast<Wide>(c) - b, c, z / (z - 1.0L), 1 / rest));
}

}  // namespace weft::iterated
