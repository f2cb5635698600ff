// Orders below 50 and arguments up to 1000 by the standard library (Temme's and Steed's methods), the rest by expansions.
#include <array>
#include <utility>
#include <vector>

#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

constexpr Wide far_argument = 1000, large_order = 50, most_order = 1e6L;

/// sin(pi v) and cos(pi v), exact at whole and half numbers.
struct Turn {
    Wide sine, cosine;
};
Turn turn_of(Wide v) {
    Wide rest = std::remainder(v, static_cast<Wide>(2));
    Wide sine = std::abs(rest) == 1 || rest == 0 ? 0 : std::sin(wide_pi * rest);
    Wide cosine = std::abs(rest) == 0.5L ? 0 : std::cos(wide_pi * rest);
    return {sine, cosine};
}

/// The sums P and Q of Hankel's expansion (Abramowitz & Stegun 9.2.9); with alternating = false their sum and difference are those of
/// K and I (9.7.1, 9.7.2).
struct Hankel {
    Wide even, odd;
};
Hankel hankel(Wide v, Wide x, bool alternating) {
    Wide even = 1, odd = 0, term = 1, m = 4 * v * v;
    for (int k = 1; k < 400; ++k) {
        Wide factor = (m - (2 * k - 1.0L) * (2 * k - 1.0L)) / (8 * k * x);
        if (k > v && std::abs(factor) >= 1) break;
        term *= factor;
        Wide sign = alternating && (k / 2) % 2 ? -1 : 1;
        (k % 2 ? odd : even) += sign * term;
        if (std::abs(term) < wide_epsilon * std::abs(even) / 4) break;
    }
    return {even, odd};
}

/// J and Y for x far beyond v^2.
struct Pair {
    Wide j, y;
};
Pair far_pair(Wide v, Wide x) {
    auto [p, q] = hankel(v, x, true);
    auto [sine, cosine] = turn_of(v / 2 + 0.25L);
    Wide s = std::sin(x) * cosine - std::cos(x) * sine, c = std::cos(x) * cosine + std::sin(x) * sine;
    Wide size = std::sqrt(2 / (wide_pi * x));
    return {size * (p * c - q * s), size * (p * s + q * c)};
}

/// J(v), Y(v) for large x and v: from orders below 1 by recurrence, J downwards where it shrinks (Miller, 1952).
Pair far_pair_of_large_order(Wide v, Wide x) {
    Wide first = v - std::floor(v);
    auto steps = static_cast<long>(v - first);
    Pair older = far_pair(first, x), newer = far_pair(first + 1, x), start = older, next = newer;
    if (steps == 0) return older;
    for (long k = 1; k < steps; ++k) {
        Wide factor = 2 * (first + static_cast<Wide>(k)) / x;
        older = std::exchange(newer, {factor * newer.j - older.j, factor * newer.y - older.y});
    }
    if (v <= x) return newer;
    Wide above = 1 / continued_fraction(2 * (v + 1) / x, [&](int k) { return Fraction{-1, 2 * (v + 1 + k) / x}; });
    Wide here = 1, scale = 0;  // J(v + 1) / J(v) and 1
    for (long k = steps; k > 0; --k) {
        above = std::exchange(here, 2 * (first + static_cast<Wide>(k)) / x * here - above);
        if (std::abs(here) > 1e2000L) here *= 1e-2000L, above *= 1e-2000L, scale += std::log(1e-2000L);
    }
    bool by_first = std::abs(start.j) > std::abs(next.j);
    Wide ratio = by_first ? start.j / here : next.j / above;
    return {ratio * std::exp(scale), newer.y};
}

/// (x / 2)^v / gamma(v + 1) times the sum of (sign (x / 2)^2)^k / (k! (v + 1) ... (v + k)), v > -1, x > 0.
Wide by_series(Wide v, Wide x, Wide sign) {
    Wide sum = 1, term = 1, square = sign * x * x / 4;
    for (int k = 1; k < most_steps && std::abs(term) > wide_epsilon * std::abs(sum) / 8; ++k)
        sum += term *= square / (k * (v + k));
    return std::exp(v * std::log(x / 2) - lgamma1p(v)) * sum;
}

/// v >= 0, x > 0, both finite. NaN where the order is beyond what recurrences reach.
Pair pair_of(Wide v, Wide x) {
    // Where the series has but one term that counts for size, J may be no number above 0, nor Y one below infinity.
    if (v > x && v * std::log(x / 2) - std::lgamma(v + 1) < -2000 && x * x < 4 * v) return {0, -infinity};
    if (v > most_order) return v > 2 * x ? Pair{0, -infinity} : Pair{nan, nan};
    if (x > far_argument) return v < large_order ? far_pair(v, x) : far_pair_of_large_order(v, x);
    try {
        Wide j = x * x < v + 1 ? by_series(v, x, -1) : std::cyl_bessel_j(v, x);
        return {j, std::cyl_neumann(v, x)};
    } catch (const std::exception&) {  // it did not converge
        return {nan, nan};
    }
}

/// The polynomials of Olver's expansions of I and K for large orders (Abramowitz & Stegun 9.3.9), by their recurrence.
constexpr std::size_t olver_terms = 14;
const auto& olver_polynomials() {
    static const auto all = [] {
        std::array<std::vector<Wide>, olver_terms> u;
        u[0] = {1};
        for (std::size_t k = 0; k + 1 < olver_terms; ++k) {
            std::vector<Wide> next(u[k].size() + 3, 0);
            for (std::size_t i = 0; i < u[k].size(); ++i) {
                Wide n = static_cast<Wide>(i),
                     c = u[k][i];  // of t^n: (t^2 - t^4) n t^(n - 1) / 2 + integral of (1 - 5 t^2) t^n / 8
                next[i + 1] += c * (n / 2 + 1 / (8 * (n + 1)));
                next[i + 3] -= c * (n / 2 + 5 / (8 * (n + 3)));
            }
            u[k + 1] = std::move(next);
        }
        return u;
    }();
    return all;
}

/// e^-x I and e^x K.
struct Scaled {
    Wide i, k;
};
Scaled olver(Wide v, Wide x) {
    Wide z = x / v, root = std::hypot(static_cast<Wide>(1), z), t = 1 / root, even = 0, odd = 0, power = 1;
    for (std::size_t n = 0; n < olver_terms; ++n, power /= v) {
        Wide value = 0;
        const auto& u = olver_polynomials()[n];
        for (std::size_t i = u.size(); i-- > 0;) value = value * t + u[i];
        (n % 2 ? odd : even) += value * power;
    }
    Wide exponent = v * (1 / (root + z) - std::asinh(1 / z)), size = std::sqrt(t);
    return {std::exp(exponent) * size / std::sqrt(2 * wide_pi * v) * (even + odd),
            std::exp(-exponent) * size * std::sqrt(wide_pi / (2 * v)) * (even - odd)};
}

/// v >= 0, x > 0, both finite.
Scaled scaled_of(Wide v, Wide x) {
    if (v >= large_order) return olver(v, x);
    if (x > far_argument) {
        auto [even, odd] = hankel(v, x, false);
        return {(even - odd) / std::sqrt(2 * wide_pi * x), (even + odd) * std::sqrt(wide_pi / (2 * x))};
    }
    try {
        return {by_series(v, x, 1) * std::exp(-x), std::cyl_bessel_k(v, x) * std::exp(x)};
    } catch (const std::exception&) {
        return {nan, nan};
    }
}

bool whole(double v) { return v == std::floor(v); }
bool odd(double v) { return std::fmod(v, 2) != 0; }

/// I of any order and argument, e^-|x| times it if `scaled`.
double i_of(double v, double x, bool scaled) {
    if (std::isnan(v) || std::isnan(x)) return nan;
    if (std::isinf(v)) return 0;
    if (whole(v)) v = std::abs(v);
    if (x < 0) {
        if (!whole(v)) return nan;
        double value = i_of(v, -x, scaled);
        return odd(v) ? -value : value;
    }
    if (x == 0) return v == 0 ? 1 : v > 0 ? 0 : gamma_is_negative(v + 1.0L) ? -infinity : infinity;
    if (std::isinf(x)) return scaled ? 0 : infinity;
    auto [i, k] = scaled_of(std::abs(static_cast<Wide>(v)), x);
    Wide value = scaled ? i : i * std::exp(static_cast<Wide>(x));
    if (v < 0) {
        Wide decay = std::exp(-static_cast<Wide>(x));
        value += 2 / wide_pi * turn_of(-static_cast<Wide>(v)).sine * k * (scaled ? decay * decay : decay);
    }
    return static_cast<double>(value);
}

double k_of(double v, double x, bool scaled) {
    if (std::isnan(v) || std::isnan(x) || x < 0) return nan;
    if (x == 0 || std::isinf(v)) return std::isinf(x) ? nan : infinity;
    if (std::isinf(x)) return 0;
    Wide value = scaled_of(std::abs(static_cast<Wide>(v)), x).k;
    return static_cast<double>(scaled ? value : value * std::exp(-static_cast<Wide>(x)));
}

}  // namespace

double jv(double v, double x) {
    if (std::isnan(v) || std::isnan(x)) return nan;
    if (std::isinf(v)) return 0;
    if (whole(v) && (x < 0 || v < 0)) {
        double value = jv(std::abs(v), std::abs(x));
        return odd(v) && (x < 0) != (v < 0) ? -value : value;
    }
    if (x < 0) return nan;
    if (x == 0) return v == 0 ? 1 : v > 0 ? 0 : gamma_is_negative(v + 1.0L) ? -infinity : infinity;
    if (std::isinf(x)) return 0;
    Pair pair = pair_of(std::abs(static_cast<Wide>(v)), x);
    if (v >= 0) return static_cast<double>(pair.j);
    auto [sine, cosine] = turn_of(-static_cast<Wide>(v));
    return static_cast<double>(cosine * pair.j - (sine == 0 ? 0 : sine * pair.y));
}

double yv(double v, double x) {
    if (std::isnan(v) || std::isnan(x) || std::isinf(v) || x < 0) return nan;
    if (x == 0) return -infinity;
    if (std::isinf(x)) return 0;
    Pair pair = pair_of(std::abs(static_cast<Wide>(v)), x);
    if (v >= 0) return static_cast<double>(pair.y);
    auto [sine, cosine] = turn_of(-static_cast<Wide>(v));
    return static_cast<double>(sine * pair.j + (cosine == 0 ? 0 : cosine * pair.y));
}

double iv(double v, double x) { return i_of(v, x, false); }
double ive(double v, double x) { return i_of(v, x, true); }
double kv(double v, double x) { return k_of(v, x, false); }
double kve(double v, double x) { return k_of(v, x, true); }

}  // namespace weft::iterated
