// Where a chart's numbers lie in its picture, whoever draws it: 640 x 300 points, axes within margins. Callers: viz/chart.cpp (SVG),
// viz/plot.cpp (pixels).
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "weft/viz/chart.h"

namespace weft::viz {

/// Of curves on white, as the page's style sheet has them on light ground.
inline constexpr std::array<const char*, 6> colours{"#2a78d6", "#eb6834", "#1baf7a", "#9a5fc9", "#c99400", "#d6457b"};

struct Frame {
    static constexpr double width = 640, height = 300, left = 58, right = 14, top = 12, bottom = 40;
    double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
    bool logarithmic = false;

    double x(double value) const { return left + (value - x_low) / (x_high - x_low) * (width - left - right); }
    double y(double value) const {
        double share =
            logarithmic ? std::log(value / y_low) / std::log(y_high / y_low) : (value - y_low) / (y_high - y_low);
        return height - bottom - share * (height - top - bottom);
    }
};

bool drawable(double value, bool logarithmic);
Frame frame_of(const Chart& chart);
/// Where lines go across: round numbers, or 1, 2 and 5 times powers of ten.
std::vector<double> marks_of(const Chart& chart, const Frame& frame);
/// What stands below the x axis, and where: whole numbers (any round ones below points), or the names of places, cut where they would touch.
std::vector<std::pair<double, std::string>> marks_below(const Chart& chart, const Frame& frame);
/// A number of the x axis, or what it stands for.
std::string shown_x(const Chart& chart, double x);

}  // namespace weft::viz
