#include <algorithm>

#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

/// x^a y^b / B(a, b), y = 1 - x, by what x differs from a / (a + b), so that nothing large cancels.
Wide prefix(Wide a, Wide b, Wide x, Wide y) {
    Wide sum = a + b, distance = (x * b - y * a) / sum;  // x - a / (a + b)
    Wide exponent =
        a * log1p_less(distance * sum / a, x * (sum / a)) + b * log1p_less(-distance * sum / b, y * (sum / b));
    Wide rests = stirling_rest(sum) - stirling_rest(a) - stirling_rest(b);
    return std::sqrt(a / sum * b / (2 * wide_pi)) * std::exp(exponent + rests);
}

/// The lower function for x below its mean (Abramowitz & Stegun 26.5.8).
Wide by_fraction(Wide a, Wide b, Wide x, Wide y) {
    Wide scale = prefix(a, b, x, y) / a;
    if (scale == 0) return 0;
    Wide fraction = continued_fraction(1, [&](int k) {
        Wide m = k / 2;
        Wide numerator = k % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                    : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        return Fraction{numerator, 1};
    });
    return scale / fraction;
}

Tails tails(Wide a, Wide b, Wide x, Wide y) {
    if (x < (a + 1) / (a + b + 2)) {
        Wide lower = by_fraction(a, b, x, y);
        return {lower, std::max<Wide>(1 - lower, 0)};
    }
    Wide upper = by_fraction(b, a, y, x);
    return {std::max<Wide>(1 - upper, 0), upper};
}

/// log |B(a, b)| in the wide type, for a and b that are no poles.
Wide log_beta(Wide a, Wide b) {
    if (a > 0 && b > 0) {
        // By what Stirling's formula gives, in which large parts cancel by themselves.
        Wide sum = a + b, less = std::min(a, b), more = std::max(a, b);
        Wide large = -less * std::log1p(more / less) - (more - 0.5L) * std::log1p(less / more) +
                     (std::log(2 * wide_pi) - std::log(less)) / 2;
        return large + stirling_rest(a) + stirling_rest(b) - stirling_rest(sum);
    }
    if (b > 0 && a + b > 0) return std::lgamma(a) - log_rising(b, a);
    if (a > 0 && a + b > 0) return std::lgamma(b) - log_rising(a, b);
    return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
}

}  // namespace

double betaln(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return nan;
    if (std::isinf(a) || std::isinf(b)) return a > 0 && b > 0 ? -infinity : nan;
    if (gamma_has_pole(a) || gamma_has_pole(b)) {
        Wide sum = static_cast<Wide>(a) + b, whole = gamma_has_pole(a) ? a : b, other = gamma_has_pole(a) ? b : a;
        // Two poles cancel: B(a, b) = (-1)^b B(1 - a - b, b) for a whole b.
        if (other == std::floor(other) && other > 0 && sum <= 0)
            return betaln(static_cast<double>(1 - whole - other), other);
        return infinity;
    }
    if (gamma_has_pole(static_cast<Wide>(a) + b)) return -infinity;
    return static_cast<double>(log_beta(a, b));
}

double beta(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return nan;
    if (std::isinf(a) || std::isinf(b)) return a > 0 && b > 0 ? 0 : nan;
    Wide sum = static_cast<Wide>(a) + b;
    if (gamma_has_pole(a) || gamma_has_pole(b)) {
        Wide whole = gamma_has_pole(a) ? a : b, other = gamma_has_pole(a) ? b : a;
        if (!(other == std::floor(other) && other > 0 && sum <= 0)) return infinity;
        double value = beta(static_cast<double>(1 - whole - other), static_cast<double>(other));
        return std::fmod(other, 2) == 0 ? value : -value;
    }
    if (gamma_has_pole(sum)) return 0;
    bool negative = gamma_is_negative(a) != gamma_is_negative(b);
    negative = negative != gamma_is_negative(sum);
    Wide size = std::exp(log_beta(a, b));
    return static_cast<double>(negative ? -size : size);
}

double poch(double x, double n) {
    if (std::isnan(x) || std::isnan(n)) return nan;
    if (n == 0) return 1;
    if (std::isinf(n) || std::isinf(x)) return std::isinf(n) || x < 0 ? nan : n > 0 ? infinity : 0;
    if (n == std::floor(n) && std::abs(n) <= 200) {  // a product, right at the poles too
        Wide value = 1;
        for (int k = 0; k < n; ++k) value *= static_cast<Wide>(x) + k;
        for (int k = -1; k >= n; --k) value /= static_cast<Wide>(x) + k;
        return static_cast<double>(value);
    }
    Wide sum = static_cast<Wide>(x) + n;
    if (gamma_has_pole(sum)) return gamma_has_pole(x) ? nan : infinity;
    if (gamma_has_pole(x)) return 0;
    Wide size = 0;
    if (x > 0 && sum > 0)
        size = std::exp(log_rising(x, n));
    else
        size = std::exp(std::lgamma(sum) - std::lgamma(static_cast<Wide>(x)));
    return static_cast<double>(gamma_is_negative(sum) != gamma_is_negative(x) ? -size : size);
}

double binom(double n, double k) {
    if (!(std::isfinite(n) && std::isfinite(k))) return nan;
    if (n < 0 && n == std::floor(n)) return nan;
    if (k == std::floor(k) && n == std::floor(n) && n >= 0 && n < 1e15 && k > n / 2 && k <= n) k = n - k;
    if (k == std::floor(k) && k >= 0 && k <= 60) {  // a product of few factors
        Wide value = 1;
        for (int i = 1; i <= k; ++i) value *= (static_cast<Wide>(n) - (k - i)) / i;
        return static_cast<double>(value);
    }
    Wide rest = static_cast<Wide>(n) - k;
    if (gamma_has_pole(k + 1.0L) || gamma_has_pole(rest + 1)) return 0;
    // 1 / ((n + 1) B(n - k + 1, k + 1)), with the sign of its gammas.
    bool negative = gamma_is_negative(n + 1.0L) != gamma_is_negative(k + 1.0L);
    negative = negative != gamma_is_negative(rest + 1);
    Wide size = std::exp(-log_beta(rest + 1, k + 1.0L)) / std::abs(n + 1.0L);
    return static_cast<double>(negative ? -size : size);
}

double betainc(double a, double b, double x) {
    if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return nan;
    if ((a == 0 && b == 0) || (std::isinf(a) && std::isinf(b))) return nan;
    if (a == 0 || std::isinf(b)) return x > 0 ? 1 : 0;
    if (b == 0 || std::isinf(a)) return x < 1 ? 0 : 1;
    if (x == 0 || x == 1) return x;
    return static_cast<double>(tails(a, b, x, 1 - static_cast<Wide>(x)).lower);
}

double betaincinv(double a, double b, double p) {
    if (!(a > 0 && b > 0 && p >= 0 && p <= 1) || std::isinf(a) || std::isinf(b)) return nan;
    if (p == 0 || p == 1) return p;
    Wide q = 1 - static_cast<Wide>(p);
    bool lower = p <= q;
    Wide least = lower ? static_cast<Wide>(p) : q;
    // In s = log(x / (1 - x)), of the logarithm of the smaller tail.
    auto at = [&](Wide s) {
        Wide x = 1 / (1 + std::exp(-s)), y = 1 / (1 + std::exp(s));
        auto [below, above] = tails(a, b, x, y);
        Wide part = lower ? below : above, ratio = std::log(part / least);
        return ValueAndSlope{lower ? ratio : -ratio, prefix(a, b, x, y) / part};
    };
    Wide s = root_of_growing(at, -11000, 11000, std::log(static_cast<Wide>(a) / b));
    return static_cast<double>(1 / (1 + std::exp(-s)));
}

}  // namespace weft::iterated
