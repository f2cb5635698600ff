// Windows: computed in double precision and rounded once.
#include <cmath>
#include <numbers>

#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/signal.h"

namespace weft {
namespace {

template <class F>
Tensor window(std::string_view name, std::int64_t count, DType dtype, F&& f) {
    if (count > (std::int64_t{1} << 40)) throw OutOfMemory(text(name, ": a window of ", count, " points"));
    std::vector<double> values;
    auto reach = static_cast<double>(count - 1);
    for (std::int64_t i = 0; i < count; ++i) values.push_back(count == 1 ? 1 : f(static_cast<double>(i), reach));
    return astype(Tensor::of(values, {std::max<std::int64_t>(count, 0)}), dtype);
}

/// The modified Bessel function of order 0, by its power series: all terms are positive.
double bessel_i0(double x) {
    double term = 1, total = 1, quarter = x * x / 4;
    for (int k = 1; term > total * 1e-17; ++k) total += term *= quarter / (static_cast<double>(k) * k);
    return total;
}

double cosine(double i, double reach, double times) { return std::cos(2 * std::numbers::pi * times * i / reach); }

}  // namespace

Tensor bartlett(std::int64_t count, DType dtype) {
    return window("bartlett", count, dtype, [](double i, double reach) { return 1 - std::abs(2 * i / reach - 1); });
}

Tensor blackman(std::int64_t count, DType dtype) {
    return window("blackman", count, dtype,
                  [](double i, double reach) { return 0.42 - 0.5 * cosine(i, reach, 1) + 0.08 * cosine(i, reach, 2); });
}

Tensor hanning(std::int64_t count, DType dtype) {
    return window("hanning", count, dtype, [](double i, double reach) { return 0.5 - 0.5 * cosine(i, reach, 1); });
}

Tensor hamming(std::int64_t count, DType dtype) {
    return window("hamming", count, dtype, [](double i, double reach) { return 0.54 - 0.46 * cosine(i, reach, 1); });
}

Tensor kaiser(std::int64_t count, double beta, DType dtype) {
    if (!(std::abs(beta) < 700)) throw ValueError(text("kaiser: beta is ", beta, "; its Bessel function is no double"));
    return window("kaiser", count, dtype, [beta](double i, double reach) {
        double from_middle = 2 * i / reach - 1;
        return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - from_middle * from_middle))) / bessel_i0(beta);
    });
}

}  // namespace weft
