// A picture's channel smoothed by a Gaussian window. Callers: data/steps_pictures.cpp, data/augmenters.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::data {

/// exp(-i^2 / (2 sigma^2)) for |i| <= reach, of sum 1; in two dimensions the product of two of these.
class GaussianWindow {
  public:
    GaussianWindow(double sigma, std::int64_t reach);
    /// The correlation of (height, width) numbers with the window, zeros around them.
    std::vector<double> smoothed(const std::vector<double>& plane, std::int64_t height, std::int64_t width) const;

  private:
    void along(const std::vector<double>& from, std::vector<double>& to, std::int64_t lines, std::int64_t length,
               std::int64_t line, std::int64_t step) const;
    std::vector<double> weights_;
};

}  // namespace weft::data
