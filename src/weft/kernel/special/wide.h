// What several of the iterated functions need, in the widest floating type. Callers: the sources of this folder.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

namespace weft::iterated {

using Wide = long double;
inline constexpr Wide wide_pi = std::numbers::pi_v<Wide>;
inline constexpr Wide wide_epsilon = std::numeric_limits<Wide>::epsilon();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Steps of a series or a continued fraction after which it is given up: its value is then NaN.
inline constexpr int most_steps = 200'000;

/// log(1 + u) - u, accurate near 0; `whole` is 1 + u, which may be all that is left of u near -1.
Wide log1p_less(Wide u, Wide whole);
/// log(gamma(1 + a)) for a > -1/2, accurate near 0.
Wide lgamma1p(Wide a);
/// What Stirling's formula lacks: log(gamma(z)) - (z - 1/2) log(z) + z - log(2 pi) / 2, z > 0.
Wide stirling_rest(Wide z);
/// log(gamma(x + n) / gamma(x)) for x > 0 and x + n > 0: large parts cancel in Stirling's formula.
Wide log_rising(Wide x, Wide n);
/// Whether gamma(z) is negative; z is no pole.
bool gamma_is_negative(Wide z);
/// Whether z is 0, -1, -2, ...
bool gamma_has_pole(Wide z);

/// The continued fraction b0 + a1 / (b1 + a2 / (b2 + ...)) by Lentz's method; next(k) gives {ak, bk}.
struct Fraction {
    Wide a, b;
};
template <class Next>
Wide continued_fraction(Wide b0, Next next) {
    constexpr Wide tiny = 1e-4000L;
    Wide value = b0 == 0 ? tiny : b0, c = value, d = 0;
    for (int k = 1; k < most_steps; ++k) {
        auto [a, b] = next(k);
        d = b + a * d;
        c = b + a / c;
        if (d == 0) d = tiny;
        if (c == 0) c = tiny;
        d = 1 / d;
        Wide factor = c * d;
        value *= factor;
        if (std::abs(factor - 1) <= 2 * wide_epsilon) return value;
        if (!(std::abs(value) <= std::numeric_limits<Wide>::max())) break;
    }
    return nan;
}

/// Two functions that add up to 1: each accurate, also where it is small.
struct Tails {
    Wide lower, upper;
};

/// Where a growing function of t is 0: Newton's method, and halving where that leaves [low, high]. f(t) gives the value and the slope.
struct ValueAndSlope {
    Wide value, slope;
};
template <class F>
Wide root_of_growing(F f, Wide low, Wide high, Wide t) {
    for (int i = 0; i < 300; ++i) {
        auto [value, slope] = f(t);
        if (value == 0) return t;
        (value < 0 ? low : high) = t;
        Wide next = t - value / slope;
        if (!(next > low && next < high)) next = low + (high - low) / 2;
        if (std::abs(next - t) <= 4 * wide_epsilon * (1 + std::abs(t))) return next;
        t = next;
    }
    return t;
}

}  // namespace weft::iterated
