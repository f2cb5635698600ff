#include "weft/data/gaussian.h"

#include <algorithm>
#include <cmath>

namespace weft::data {

GaussianWindow::GaussianWindow(double sigma, std::int64_t reach) {
    double sum = 0;
    for (std::int64_t i = -reach; i <= reach; ++i) {
        weights_.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma)));
        sum += weights_.back();
    }
    for (double& weight : weights_) weight /= sum;
}

std::vector<double> GaussianWindow::smoothed(const std::vector<double>& plane, std::int64_t height,
                                             std::int64_t width) const {
    std::vector<double> lines(plane.size()), both(plane.size());
    along(plane, lines, height, width, width, 1);
    along(lines, both, width, height, 1, width);
    return both;
}

/// `lines` lines of `length` numbers, `line` from one line to the next, `step` from number to number.
void GaussianWindow::along(const std::vector<double>& from, std::vector<double>& to, std::int64_t lines,
                           std::int64_t length, std::int64_t line, std::int64_t step) const {
    auto reach = static_cast<std::int64_t>(weights_.size()) / 2;
    for (std::int64_t i = 0; i < lines * length; ++i) {
        std::int64_t begin = i / length * line, at = i % length;
        double sum = 0;
        for (std::int64_t k = std::max(-reach, -at); k <= std::min(reach, length - 1 - at); ++k)
            sum +=
                weights_[static_cast<std::size_t>(k + reach)] * from[static_cast<std::size_t>(begin + (at + k) * step)];
        to[static_cast<std::size_t>(begin + at * step)] = sum;
    }
}

}  // namespace weft::data
