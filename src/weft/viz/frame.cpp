#include "weft/viz/frame.h"

#include <algorithm>
#include <limits>

namespace weft::viz {
namespace {

/// 1, 2 and 5 times powers of ten within the frame; fewer where they would crowd.
std::vector<double> logarithmic_marks(const Frame& frame) {
    std::vector<double> marks;
    double decades = std::log10(frame.y_high / frame.y_low);
    for (int power = static_cast<int>(std::floor(std::log10(frame.y_low))); std::pow(10, power) <= frame.y_high;
         ++power) {
        for (double digit : {1.0, 2.0, 5.0}) {
            if (digit != 1 && decades > 3) continue;
            double mark = digit * std::pow(10, power);
            if (mark >= frame.y_low && mark <= frame.y_high) marks.push_back(mark);
        }
    }
    return marks;
}

}  // namespace

bool drawable(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

Frame frame_of(const Chart& chart) {
    const double infinite = std::numeric_limits<double>::infinity();
    Frame frame{infinite, -infinite, infinite, -infinite, chart.logarithmic};
    for (const Curve& curve : chart.curves) {
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!drawable(curve.y[i], chart.logarithmic)) continue;
            frame.x_low = std::min(frame.x_low, curve.x[i]), frame.x_high = std::max(frame.x_high, curve.x[i]);
            frame.y_low = std::min(frame.y_low, curve.y[i]), frame.y_high = std::max(frame.y_high, curve.y[i]);
        }
    }
    if (frame.x_low > frame.x_high)
        frame.x_low = 0, frame.x_high = 1, frame.y_low = chart.logarithmic ? 0.1 : 0, frame.y_high = 1;
    if (!chart.places.empty()) frame.x_low = -0.5, frame.x_high = static_cast<double>(chart.places.size()) - 0.5;
    if (frame.x_low == frame.x_high) frame.x_low -= 0.5, frame.x_high += 0.5;
    if (chart.logarithmic) {
        frame.y_low /= 1.15, frame.y_high *= 1.15;
    } else {
        frame.y_low = std::min(frame.y_low, 0.0);
        frame.y_high += (frame.y_high > frame.y_low ? 0.05 * (frame.y_high - frame.y_low) : 1);
    }
    return frame;
}

std::vector<double> marks_of(const Chart& chart, const Frame& frame) {
    std::vector<double> marks;
    if (chart.logarithmic) marks = logarithmic_marks(frame);
    // Within less than a power of ten there are too few of these to read a figure by.
    return marks.size() >= 3 ? marks : round_numbers(frame.y_low, frame.y_high, 5);
}

std::vector<std::pair<double, std::string>> marks_below(const Chart& chart, const Frame& frame) {
    std::vector<std::pair<double, std::string>> marks;
    constexpr double letter = 7;
    auto room = static_cast<std::size_t>((frame.x(1) - frame.x(0)) / letter);
    for (std::size_t i = 0; i < chart.places.size(); ++i) {
        const std::string& name = chart.places[i];
        std::size_t cut = std::max<std::size_t>(room, 4) - 3;
        while (cut > 0 && cut < name.size() && (name[cut] & 0xc0) == 0x80) --cut;  // UTF-8: no half letter
        marks.emplace_back(i, name.size() <= room ? name : name.substr(0, cut) + "..");
    }
    if (!marks.empty()) return marks;
    for (double mark : round_numbers(frame.x_low, frame.x_high, 8))
        if (chart.points || mark == std::floor(mark)) marks.emplace_back(mark, shown(mark));
    return marks;
}

std::string shown_x(const Chart& chart, double x) {
    return x >= 0 && x < static_cast<double>(chart.places.size()) ? chart.places[static_cast<std::size_t>(x)]
                                                                  : shown(x);
}

}  // namespace weft::viz
