#include "weft/viz/scatter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "weft/base/error.h"
#include "weft/viz/chart.h"

namespace weft::viz {
namespace {

constexpr double plane_width = 720, plane_height = 480, plane_edge = 16;

/// Hues around the circle, neither light nor dark: seen on both grounds.
std::string hue(std::size_t index, std::size_t count) {
    return text("hsl(", 360 * index / std::max<std::size_t>(1, count), " 62% 52%)");
}

std::string tenths(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.1f", value);
    return digits;
}

double middle(std::vector<double> values) {
    auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), half, values.end());
    return *half;
}

/// One scale for both axes: distances are what is looked at.
struct Plane {
    explicit Plane(const Scatter& scatter) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (std::size_t i = 0; i < scatter.x.size(); ++i) {
            double point[2] = {scatter.x[i], scatter.y[i]};
            if (!std::isfinite(point[0] + point[1])) continue;
            for (int axis : {0, 1})
                low[axis] = std::min(low[axis], point[axis]), high[axis] = std::max(high[axis], point[axis]);
        }
        scale = std::min((plane_width - 2 * plane_edge) / std::max(1e-30, high[0] - low[0]),
                         (plane_height - 2 * plane_edge) / std::max(1e-30, high[1] - low[1]));
        centre[0] = (low[0] + high[0]) / 2, centre[1] = (low[1] + high[1]) / 2;
    }
    double x(double value) const { return plane_width / 2 + scale * (value - centre[0]); }
    double y(double value) const { return plane_height / 2 - scale * (value - centre[1]); }
    double scale = 1, centre[2] = {0, 0};
};

}  // namespace

std::string svg(const Scatter& scatter) {
    Plane plane(scatter);
    std::size_t count = scatter.names.size();
    std::string dots, words;
    for (std::size_t one = 0; one < count; ++one) {
        std::vector<double> xs, ys;
        dots += text("<g fill='", hue(one, count), "' fill-opacity='.7'>");
        for (std::size_t i = 0; i < scatter.x.size(); ++i) {
            double x = plane.x(scatter.x[i]), y = plane.y(scatter.y[i]);
            if (scatter.classes[i] != one || !std::isfinite(x + y)) continue;
            dots += text("<circle cx='", tenths(x), "' cy='", tenths(y), "' r='2.5'/>");
            xs.push_back(x), ys.push_back(y);
        }
        dots += "</g>";
        if (!xs.empty())
            words += text("<text class=place x='", tenths(middle(xs)), "' y='", tenths(middle(ys)), "'>",
                          escaped(scatter.names[one]), "</text>");
    }
    return scatter.x.empty() ? ""
                             : text("<svg class=plane viewBox='0 0 ", plane_width, " ", plane_height,
                                    "' role='img' aria-label='examples in the plane'>", dots, words, "</svg>");
}

}  // namespace weft::viz
