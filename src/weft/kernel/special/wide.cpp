#include "weft/kernel/special/wide.h"

#include <array>

namespace weft::iterated {
namespace {

/// zeta(k) - 1 for k from 2 on, summed from the small terms: the rest after n terms is n^(1 - k) / (k - 1) - n^-k / 2 + ...
Wide zeta_less_1(int k) {
    constexpr int terms = 60;
    Wide n = terms, power = std::pow(n, -static_cast<Wide>(k));
    Wide sum = power * (n / (k - 1) + 0.5L + k / (12 * n) - k * (k + 1.0L) * (k + 2.0L) / (720 * n * n * n) +
                        k * (k + 1.0L) * (k + 2.0L) * (k + 3.0L) * (k + 4.0L) / (30240 * n * n * n * n * n));
    for (int i = terms - 1; i > 1; --i) sum += std::pow(static_cast<Wide>(i), -static_cast<Wide>(k));
    return sum;
}

}  // namespace

Wide log1p_less(Wide u, Wide whole) {
    if (!(std::abs(u) < 0.5L)) return std::log(whole) - u;
    // 2 atanh(y) - u with y = u / (2 + u), whose first two terms together are -u^2 / (2 + u).
    Wide y = u / (2 + u), square = y * y, power = y * square, sum = 0;
    for (int k = 3; k < 100 && std::abs(power) > wide_epsilon * std::abs(sum) / 4; k += 2, power *= square)
        sum += power / k;
    return 2 * sum - u * u / (2 + u);
}

Wide lgamma1p(Wide a) {
    if (std::abs(a) >= 0.5L) return std::lgamma(1 + a);
    // -log(1 + a) + (1 - gamma) a + sum of (-a)^k (zeta(k) - 1) / k (Abramowitz & Stegun 6.1.33).
    static const auto zetas = [] {
        std::array<Wide, 50> values{};
        for (std::size_t k = 2; k < values.size(); ++k) values[k] = zeta_less_1(static_cast<int>(k));
        return values;
    }();
    Wide sum = 0;
    for (std::size_t k = zetas.size(); k-- > 2;) sum = -a * sum + zetas[k] / static_cast<Wide>(k);
    return a * a * sum + a * (1 - std::numbers::egamma_v<Wide>)-std::log1p(a);
}

Wide stirling_rest(Wide z) {
    const Wide half_log_two_pi = std::log(2 * wide_pi) / 2;
    if (z < 15) return std::lgamma(z) - (z - 0.5L) * std::log(z) + z - half_log_two_pi;
    // Abramowitz & Stegun 6.1.40
    Wide w = 1 / (z * z);
    Wide sum = -3617 / 122400.0L;
    for (Wide term : {1 / 156.0L, -691 / 360360.0L, 1 / 1188.0L, -1 / 1680.0L, 1 / 1260.0L, -1 / 360.0L, 1 / 12.0L})
        sum = sum * w + term;
    return sum / z;
}

Wide log_rising(Wide x, Wide n) {
    Wide sum = x + n;
    return n * (std::log(sum) - 1) + (x - 0.5L) * std::log1p(n / x) + stirling_rest(sum) - stirling_rest(x);
}

bool gamma_has_pole(Wide z) { return z <= 0 && z == std::floor(z); }
bool gamma_is_negative(Wide z) { return z < 0 && std::fmod(std::floor(z), 2) != 0; }

}  // namespace weft::iterated
