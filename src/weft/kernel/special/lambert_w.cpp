#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

/// w of p = sqrt(2 (e x + 1)), small: the series about the branch point (Corless et al., On the Lambert W function, 1996, 4.22).
Wide near_branch_point(Wide p) {
    constexpr Wide coefficients[] = {-1,
                                     1,
                                     -1 / 3.0L,
                                     11 / 72.0L,
                                     -43 / 540.0L,
                                     769 / 17280.0L,
                                     -221 / 8505.0L,
                                     680863 / 43545600.0L,
                                     -1963 / 204120.0L,
                                     226287557 / 37623398400.0L};
    Wide sum = 0;
    for (int k = 9; k >= 0; --k) sum = sum * p + coefficients[k];
    return sum;
}

/// Halley's method on w - x exp(-w), from a first value.
Wide refined(Wide w, Wide x) {
    for (int i = 0; i < 50; ++i) {
        Wide rest = w - x * std::exp(-w), step = rest / (w + 1 - (w + 2) * rest / (2 * w + 2));
        w -= step;
        if (std::abs(step) <= 2 * wide_epsilon * std::abs(w)) break;
    }
    return w;
}

}  // namespace

double lambertw(double x) {
    // 1/e in two parts, so that x + 1/e keeps all that x is apart from -1/e.
    constexpr Wide inverse_e = 0.367879441171442321595523770161460867L, rest = 1.2466256482800212514e-20L;
    Wide above = (x + inverse_e) + rest;
    if (!(above >= 0)) return nan;
    if (x == 0 || std::isinf(x)) return x;
    Wide p = std::sqrt(2 * std::numbers::e_v<Wide> * above);
    if (p < 0.01L) return static_cast<double>(near_branch_point(p));
    Wide logarithm = std::log1p(static_cast<Wide>(x));
    Wide first = x < 0 ? near_branch_point(p) : logarithm * (1 - std::log1p(logarithm) / (2 + logarithm));
    return static_cast<double>(refined(first, x));
}

}  // namespace weft::iterated
