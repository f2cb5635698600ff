#include <array>

#include "weft/kernel/special/iterated.h"
#include "weft/kernel/special/wide.h"

namespace weft::iterated {
namespace {

constexpr std::size_t points = 48;

/// Nodes and weights of Gauss's quadrature on [-1, 1]: the roots of Legendre's polynomial, by Newton's method.
struct Quadrature {
    std::array<Wide, points> node, weight;
};
const Quadrature& quadrature() {
    static const Quadrature made = [] {
        Quadrature q{};
        for (std::size_t i = 0; i < points; ++i) {
            Wide x = std::cos(wide_pi * (static_cast<Wide>(i) + 0.75L) / (points + 0.5L)), slope = 0;
            for (int step = 0; step < 60; ++step) {
                Wide older = 1, newer = x;
                for (std::size_t n = 2; n <= points; ++n) {
                    Wide k = static_cast<Wide>(n), next = ((2 * k - 1) * x * newer - (k - 1) * older) / k;
                    older = newer, newer = next;
                }
                slope = points * (x * newer - older) / (x * x - 1);
                Wide move = newer / slope;
                x -= move;
                if (std::abs(move) < wide_epsilon) break;
            }
            q.node[i] = x, q.weight[i] = 2 / ((1 - x * x) * slope * slope);
        }
        return q;
    }();
    return made;
}

/// The integral of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) / (2 pi) over t from 0 to a <= 1, cut where nothing is left.
Wide by_quadrature(Wide h, Wide a) {
    Wide top = std::min(a, 10 / std::max(h, Wide(1))), sum = 0;
    for (std::size_t i = 0; i < points; ++i) {
        Wide t = top * (1 + quadrature().node[i]) / 2, u = 1 + t * t;
        sum += quadrature().weight[i] * std::exp(-h * h * u / 2) / u;
    }
    return sum * top / (4 * wide_pi);
}

Wide upper_tail(Wide x) { return std::erfc(x / std::numbers::sqrt2_v<Wide>) / 2; }

}  // namespace

double owens_t(double h, double a) {
    if (std::isnan(h) || std::isnan(a)) return nan;
    Wide x = std::abs(static_cast<Wide>(h)), b = std::abs(static_cast<Wide>(a)), value = 0;
    if (std::isinf(b))
        value = upper_tail(x) / 2;
    else if (b <= 1)
        value = by_quadrature(x, b);
    else if (!std::isinf(x))  // the probabilities beside each other: a quadrant's part
        value =
            (upper_tail(x) + upper_tail(b * x)) / 2 - upper_tail(x) * upper_tail(b * x) - by_quadrature(b * x, 1 / b);
    return static_cast<double>(a < 0 ? -value : value);
}

}  // namespace weft::iterated
