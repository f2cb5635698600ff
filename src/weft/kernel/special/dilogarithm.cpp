#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

/// The sum of z^k / k^2 over k >= 1, 0 <= z <= 1/2.
Wide dilogarithm(Wide z) {
    Wide sum = 0, power = z;
    for (int k = 1; power > wide_epsilon * sum / 4; ++k, power *= z) sum += power / (static_cast<Wide>(k) * k);
    return sum;
}

/// x > 0; what is summed is brought to 0 <= z <= 1/2 by the reflections of Abramowitz & Stegun 27.7.3 and 27.7.5.
Wide positive(Wide x) {
    if (x > 1) return -std::log(x) * std::log(x) / 2 - positive(1 / x);
    if (x < 0.5L) return wide_pi * wide_pi / 6 - std::log(x) * std::log1p(-x) - dilogarithm(x);
    return dilogarithm(1 - x);
}

/// x near 1: 1 - 1/x would have lost what x is apart from 1.
Wide beyond_one(Wide x) {
    Wide logarithm = std::log1p(x - 1);
    return -logarithm * logarithm / 2 - dilogarithm((x - 1) / x);
}

}  // namespace

double spence(double x) {
    if (!(x >= 0) || std::isinf(x)) return nan;
    if (x == 0) return static_cast<double>(wide_pi * wide_pi / 6);
    return static_cast<double>(x > 1 && x <= 2 ? beyond_one(x) : positive(x));
}

}  // namespace weft::iterated
